"""Who a request comes from: a bearer token, a client certificate, or nobody.

1. Static tokens are given by whoever starts the cluster.
2. Service account tokens are JWTs signed with the cluster's key; they name the account, its UID and an end,
   and die with the account.
3. A wrong token is refused; only a request without any credential is anonymous.

The HTTP layer asks `Authenticator.user` once per request; TokenRequest and TokenReview are answered here too.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from quorate.api.meta import Json
from quorate.embedded import pki
from quorate.embedded.causes import invalid
from quorate.embedded.errors import ApiError, bad_request, unauthorized
from quorate.embedded.errors import invalid as invalid_object
from quorate.embedded.objectmeta import new_uid
from quorate.embedded.options import User

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
AUDIENCE = "https://kubernetes.default.svc.cluster.local"
AUTHENTICATED = "system:authenticated"
_ACCOUNT = "system:serviceaccount"
_HEADER = {"alg": "ES256", "typ": "JWT"}
_HALF = 32
_SHORTEST, _LONGEST, _USUAL = 600, 2**32, 3600


class _TokenRequest:
    """Names the kind in refusals."""

    group, kind, plural = "authentication.k8s.io", "TokenRequest", "tokenrequests"


_REQUEST = _TokenRequest()

# The stored service account of a namespace and name, or None.
Accounts = Callable[[str, str], Json | None]


class Authenticator:
    """Tokens and certificates of one cluster."""

    def __init__(
        self,
        key_pem: bytes,
        accounts: Accounts,
        *,
        now: Callable[[], float],
        static: Mapping[str, User] | None = None,
    ) -> None:
        key = serialization.load_pem_private_key(key_pem, password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey), "the cluster signs with the key that pki.py made"
        self._key = key
        self._accounts = accounts
        self._now = now
        self._static = dict(static or {})
        # Signatures already checked; expiry and account are checked each time.
        self._checked: dict[str, Json] = {}

    def user(self, authorization: str, certificate: bytes | None) -> User:
        """The user of a request, from its Authorization header and the certificate of its connection."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            return self.bearer(token.strip())
        if certificate is not None:
            name, groups = pki.identity(certificate)
            if name:
                return User(name, (*groups, AUTHENTICATED))
        if authorization:
            raise unauthorized()
        return ANONYMOUS

    def bearer(self, token: str) -> User:
        known = self._static.get(token)
        if known is not None:
            return User(
                known.name, tuple(dict.fromkeys((*known.groups, AUTHENTICATED))), known.uid, known.extra
            )
        claims = self._claims(token)
        if claims is None:
            raise unauthorized()
        return self._account_user(claims)

    def issue(self, account: Json, *, seconds: int, audiences: list[str], bound: Json | None = None) -> str:
        """A signed token for a stored service account."""
        now, metadata = int(self._now()), account["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        about: Json = {"namespace": namespace, "serviceaccount": {"name": name, "uid": metadata["uid"]}}
        if bound is not None:
            about[bound["kind"].lower()] = {"name": bound["name"], "uid": bound.get("uid", "")}
        return self._signed(
            {
                "aud": audiences or [AUDIENCE],
                "exp": now + seconds,
                "iat": now,
                "iss": AUDIENCE,
                "kubernetes.io": about,
                "nbf": now,
                "sub": f"{_ACCOUNT}:{namespace}:{name}",
            }
        )

    def token_request(self, account: Json, body: Json, timestamp: Callable[[float], str]) -> Json:
        """Answer a TokenRequest, posted to the account's `token` subresource."""
        spec = body.get("spec") or {}
        seconds = spec.get("expirationSeconds") or _USUAL
        if not isinstance(seconds, int):
            raise bad_request("spec.expirationSeconds must be a whole number of seconds")
        if seconds < _SHORTEST:
            detail = "may not specify a duration less than 10 minutes"
            raise invalid_object(_REQUEST, "", [invalid("spec.expirationSeconds", seconds, detail)])
        if seconds > _LONGEST:
            detail = "may not specify a duration larger than 2^32 seconds"
            raise invalid_object(_REQUEST, "", [invalid("spec.expirationSeconds", seconds, detail)])
        audiences = list(spec.get("audiences") or [AUDIENCE])
        token = self.issue(account, seconds=seconds, audiences=audiences, bound=spec.get("boundObjectRef"))
        metadata = account["metadata"]
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": new_uid(),
                "creationTimestamp": timestamp(int(self._now())),
            },
            "spec": {"boundObjectRef": None, **spec, "audiences": audiences, "expirationSeconds": seconds},
            "status": {"token": token, "expirationTimestamp": timestamp(int(self._now()) + seconds)},
        }

    def token_review(self, body: Json) -> Json:
        """Answer a TokenReview: whose token is it."""
        token = (body.get("spec") or {}).get("token") or ""
        try:
            user = self.bearer(token)
        except ApiError:
            status: Json = {"user": {}, "error": "invalid bearer token"}
        else:
            status = {"authenticated": True, "user": user_info(user), "audiences": [AUDIENCE]}
        return {**body, "metadata": body.get("metadata") or {}, "status": status}

    def _signed(self, claims: Json) -> str:
        head = f"{_encoded(msgspec.json.encode(_HEADER))}.{_encoded(msgspec.json.encode(claims))}"
        r, s = decode_dss_signature(self._key.sign(head.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{head}.{_encoded(r.to_bytes(_HALF, 'big') + s.to_bytes(_HALF, 'big'))}"

    def _claims(self, token: str) -> Json | None:
        claims = self._checked.get(token)
        if claims is None:
            claims = self._verified(token)
            if claims is None:
                return None
            if len(self._checked) > 1024:
                self._checked.clear()
            self._checked[token] = claims
        alive = claims["nbf"] - 60 <= self._now() < claims["exp"]
        return claims if alive and AUDIENCE in claims["aud"] else None

    def _verified(self, token: str) -> Json | None:
        head, _, signature = token.rpartition(".")
        try:
            raw = _decoded(signature)
            both = (int.from_bytes(raw[:_HALF], "big"), int.from_bytes(raw[_HALF:], "big"))
            self._key.public_key().verify(
                encode_dss_signature(*both), head.encode(), ec.ECDSA(hashes.SHA256())
            )
            claims: Json = msgspec.json.decode(_decoded(head.partition(".")[2]), type=dict[str, Any])
        except (InvalidSignature, ValueError, binascii.Error, msgspec.MsgspecError):
            return None
        return claims

    def _account_user(self, claims: Json) -> User:
        about = claims["kubernetes.io"]
        namespace, name = about["namespace"], about["serviceaccount"]["name"]
        account = self._accounts(namespace, name)
        if account is None or account["metadata"]["uid"] != about["serviceaccount"]["uid"]:
            raise unauthorized()
        extra = {
            f"authentication.kubernetes.io/{kind}-{field}": [about[kind][field]]
            for kind in ("pod", "node")
            if kind in about
            for field in ("name", "uid")
        }
        return account_user(namespace, name, account["metadata"]["uid"], extra)


def account_user(namespace: str, name: str, uid: str = "", extra: dict[str, list[str]] | None = None) -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return User(f"{_ACCOUNT}:{namespace}:{name}", groups, uid, extra or {})


def user_info(user: User) -> Json:
    """The user as reviews and admission requests show it."""
    info: Json = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = user.extra
    return info


def self_subject_review(user: User, timestamp: str) -> Json:
    """What `kubectl auth whoami` shows."""
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": timestamp},
        "status": {"userInfo": user_info(user)},
    }


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
