"""How to reach an API server and who we are there.

`kubeconfig.py` or a pod's own service account yields a `Connection`; the client asks its credentials for the
headers of each request.
"""

import base64
import os
import ssl
import time
from pathlib import Path
from typing import NamedTuple, Protocol

from quorate.kube.errors import ConfigError, CredentialError
from quorate.kube.tls import client_context

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
# client-go re-reads rotated tokens each minute; the kubelet renews them at 80 % of an hour
TOKEN_AGE_SECONDS = 60.0


class Credentials(Protocol):
    """What the client asks before each request; `invalidate` follows a 401."""

    async def headers(self) -> dict[str, str]: ...

    def invalidate(self) -> None: ...


class FixedCredentials:
    """A token or user and password that stand in the kubeconfig, or nothing at all."""

    def __init__(self, authorization: str = "") -> None:
        self._headers = {"Authorization": authorization} if authorization else {}

    async def headers(self) -> dict[str, str]:
        return self._headers

    def invalidate(self) -> None:
        """A fixed credential has no fresher form."""


class TokenFile:
    """A bearer token that someone rotates on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._headers: dict[str, str] = {}
        self._stale_at = 0.0

    async def headers(self) -> dict[str, str]:
        if time.monotonic() >= self._stale_at:
            self._headers = {"Authorization": f"Bearer {self._read()}"}
            self._stale_at = time.monotonic() + TOKEN_AGE_SECONDS
        return self._headers

    def invalidate(self) -> None:
        self._stale_at = 0.0

    def _read(self) -> str:
        try:
            token = self._path.read_text().strip()
        except OSError as error:
            raise CredentialError(f"token file {self._path}: {error.strerror}") from error
        if not token:
            raise CredentialError(f"token file {self._path} is empty")
        return token


class Connection(NamedTuple):
    """Everything the client needs to know about the other side."""

    server: str
    credentials: Credentials
    tls: ssl.SSLContext | None = None
    server_name: str = ""
    proxy: str = ""
    namespace: str = "default"


def basic(user: str, password: str) -> FixedCredentials:
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    return FixedCredentials(f"Basic {pair}")


def in_cluster(folder: Path = SERVICE_ACCOUNT) -> Connection:
    """The connection of a pod through its own service account."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise ConfigError(
            "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; "
            "outside a cluster give a kubeconfig (--kubeconfig or KUBECONFIG)"
        )
    try:
        tls = client_context((folder / "ca.crt").read_text())
        namespace = (folder / "namespace").read_text().strip()
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"service account files in {folder}: {error}") from error
    address = f"[{host}]" if ":" in host else host
    credentials = TokenFile(folder / "token")
    return Connection(f"https://{address}:{port}", credentials, tls, namespace=namespace or "default")
