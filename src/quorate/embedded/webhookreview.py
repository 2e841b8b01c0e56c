"""The AdmissionReview in both directions: what a webhook is asked, and what its answer means."""

import base64
import binascii
from typing import NamedTuple
from uuid import uuid4

import msgspec

from quorate.api.meta import Json
from quorate.embedded import errors, patch
from quorate.embedded.admissionrequest import Request
from quorate.embedded.causes import quoted
from quorate.embedded.errors import ApiError
from quorate.embedded.tokens import user_info
from quorate.embedded.webhookmatch import Match

_API_VERSION = "admission.k8s.io/v1"
_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


class CallError(Exception):
    """A webhook that could not be asked or whose answer cannot be read; failurePolicy decides what follows."""


class Answer(NamedTuple):
    warnings: list[str]
    patch: list[Json]


def review(request: Request, match: Match) -> Json:
    """The body of the call."""
    return {
        "kind": "AdmissionReview",
        "apiVersion": _API_VERSION,
        "request": _request(request, match.version),
    }


def _request(request: Request, version: str) -> Json:
    resource, kind = request.resource, request.kind
    same_kind = kind.kind == resource.kind
    asked_kind = kind._replace(version=version) if same_kind else kind
    asked: Json = {
        "uid": str(uuid4()),
        "kind": asked_kind._asdict(),
        "resource": {"group": resource.group, "version": version, "resource": resource.plural},
        "requestKind": kind._asdict(),
        "requestResource": {
            "group": resource.group,
            "version": resource.version,
            "resource": resource.plural,
        },
        "operation": request.operation,
        "userInfo": user_info(request.user),
        "object": _converted(request.obj, version, same_kind=same_kind),
        "oldObject": _converted(request.old, version, same_kind=same_kind),
        "dryRun": request.dry_run,
        "options": _options(request),
    }
    if request.subresource:
        asked |= {"subResource": request.subresource, "requestSubResource": request.subresource}
    if request.name:
        asked["name"] = request.name
    if request.namespace:
        asked["namespace"] = request.namespace
    return asked


def _converted(obj: Json | None, version: str, *, same_kind: bool) -> Json | None:
    """All served versions of a kind have the same fields, so converting is naming another version."""
    if obj is None or not same_kind:
        return obj
    group = obj["apiVersion"].rpartition("/")[0]
    api_version = f"{group}/{version}" if group else version
    return obj if obj["apiVersion"] == api_version else {**obj, "apiVersion": api_version}


def _options(request: Request) -> Json | None:
    kind = _OPTIONS.get(request.operation)
    if kind is None:
        return None
    options: Json = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    if request.dry_run:
        options["dryRun"] = ["All"]
    if request.field_manager and request.operation != "DELETE":
        options["fieldManager"] = request.field_manager
    return options


def answer(body: bytes, uid: str, name: str, *, mutating: bool) -> Answer:
    """What the webhook said; raises the refusal it gave, or CallError for what is no answer."""
    response = _response(body, uid)
    if not response.get("allowed"):
        raise _denied(name, response.get("status") or {})
    return Answer(list(response.get("warnings") or ()), _patch(response, mutating=mutating))


def _response(body: bytes, uid: str) -> Json:
    try:
        tree = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        response = msgspec.json.decode(tree.get("response", b"null"), type=Json | None)
        kind = msgspec.json.decode(tree.get("kind", b'""'), type=str)
        api_version = msgspec.json.decode(tree.get("apiVersion", b'""'), type=str)
    except msgspec.MsgspecError as error:
        raise CallError(
            f"failed to call webhook: couldn't get version/kind; json parse error: {error}"
        ) from None
    if (api_version, kind) != (_API_VERSION, "AdmissionReview"):
        group, _, version = api_version.rpartition("/")
        seen = f"{group}/{version}, Kind={kind}"
        wanted = "admission.k8s.io/v1, Kind=AdmissionReview"
        raise CallError(
            f"received invalid webhook response: expected webhook response of {wanted}, got {seen}"
        )
    if response is None:
        raise CallError("received invalid webhook response: webhook response was absent")
    if response.get("uid") != uid:
        seen = quoted(str(response.get("uid") or ""))
        why = f'expected response.uid="{uid}", got {seen}'
        raise CallError(f"received invalid webhook response: {why}")
    return response


def _patch(response: Json, *, mutating: bool) -> list[Json]:
    encoded, kind = response.get("patch"), response.get("patchType")
    if not mutating and (encoded or kind):
        field = "patch" if encoded else "patchType"
        raise CallError(
            f"received invalid webhook response: validating webhook may not return response.{field}"
        )
    if not encoded and not kind:
        return []
    if not kind or not encoded:
        present, absent = ("patch", "patchType") if encoded else ("patchType", "patch")
        why = f"webhook returned response.{present} but not response.{absent}"
        raise CallError(f"received invalid webhook response: {why}")
    if kind != "JSONPatch":
        why = f"webhook returned invalid response.patchType of {quoted(str(kind))}"
        raise CallError(f"received invalid webhook response: {why}")
    try:
        operations: list[Json] = msgspec.json.decode(base64.b64decode(encoded), type=list[Json])
    except (binascii.Error, ValueError) as error:
        raise CallError(f"received undecodable patch in webhook response: {error}") from None
    return operations


def _denied(name: str, status: Json) -> ApiError:
    denied = f"admission webhook {quoted(name)} denied the request"
    why = status.get("message") or status.get("reason")
    code = status.get("code") or 0
    message = f"{denied}: {why}" if why else f"{denied} without explanation"
    return errors.failure(max(code, 400), status.get("reason") or "", message, status.get("details"))


def patched(obj: Json | None, operations: list[Json], name: str) -> Json:
    """The object after the webhook's patch."""
    if obj is None:
        why = "attempted to modify the object, which is not supported for this operation"
        raise errors.internal(f"admission webhook {quoted(name)} {why}")
    try:
        changed: Json = patch.json_patch(obj, operations)
    except patch.PatchError as error:
        raise errors.internal(str(error)) from None
    return changed
