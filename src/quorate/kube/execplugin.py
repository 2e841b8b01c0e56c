"""Credentials from an exec plugin (`client.authentication.k8s.io`), run when missing or about to expire.

`auth.py` builds one from the `exec` section of a kubeconfig user; the client asks it for headers.
"""

import asyncio
import os
import ssl
import time
from datetime import datetime

import msgspec

from quorate.api.meta import Wire
from quorate.kube.errors import CredentialError
from quorate.kube.tls import load_certificate

SERVED = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
EXPIRES_SOON_SECONDS = 30.0
PATIENCE_SECONDS = 60.0


class EnvironmentEntry(Wire):
    name: str
    value: str = ""


class ExecSection(Wire):
    """The `exec` section of a user in a kubeconfig."""

    command: str
    api_version: str = ""
    args: tuple[str, ...] | None = None
    env: tuple[EnvironmentEntry, ...] | None = None
    install_hint: str = ""
    provide_cluster_info: bool = False


class ExecStatus(Wire):
    token: str = ""
    expiration_timestamp: str | None = None
    client_certificate_data: str = ""
    client_key_data: str = ""


class ExecCredential(Wire):
    api_version: str = ""
    status: ExecStatus | None = None


class ExecCredentials:
    """Runs the plugin at most once at a time and keeps what it said until shortly before it expires."""

    def __init__(
        self, section: ExecSection, cluster: dict[str, str | bool], tls: ssl.SSLContext | None
    ) -> None:
        if section.api_version not in SERVED:
            raise CredentialError(
                f"exec plugin {section.command}: apiVersion {section.api_version!r} is not one of {SERVED}"
            )
        self._section = section
        self._cluster = cluster
        self._tls = tls
        self._lock = asyncio.Lock()
        self._token = ""
        self._valid_until = 0.0

    async def headers(self) -> dict[str, str]:
        async with self._lock:
            if time.time() >= self._valid_until:
                await self._renew()
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    def invalidate(self) -> None:
        self._valid_until = 0.0

    async def _renew(self) -> None:
        status = read_credential(self._section, await self._run())
        if status.client_certificate_data and self._tls is not None:
            load_certificate(self._tls, status.client_certificate_data, status.client_key_data)
        self._token = status.token
        self._valid_until = valid_until(status.expiration_timestamp)

    async def _run(self) -> bytes:
        section = self._section
        try:
            process = await asyncio.create_subprocess_exec(
                section.command,
                *(section.args or ()),
                env=os.environ | plugin_environment(section, self._cluster),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = f" ({section.install_hint.strip()})" if section.install_hint else ""
            raise CredentialError(f"exec plugin {section.command} cannot be run: {error}{hint}") from error
        try:
            out, complaint = await asyncio.wait_for(process.communicate(), PATIENCE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise CredentialError(
                f"exec plugin {section.command} gave no answer in {PATIENCE_SECONDS:.0f} s"
            ) from None
        if process.returncode:
            text = complaint.decode("utf-8", "replace").strip()
            raise CredentialError(f"exec plugin {section.command} failed ({process.returncode}): {text}")
        return out


def plugin_environment(section: ExecSection, cluster: dict[str, str | bool]) -> dict[str, str]:
    """The user's variables and the KUBERNETES_EXEC_INFO that the protocol asks for."""
    spec: dict[str, object] = {"interactive": False}
    if section.provide_cluster_info:
        spec["cluster"] = cluster
    info = {"apiVersion": section.api_version, "kind": "ExecCredential", "spec": spec}
    given = {entry.name: entry.value for entry in section.env or ()}
    return given | {"KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}


def read_credential(section: ExecSection, out: bytes) -> ExecStatus:
    try:
        credential = msgspec.json.decode(out, type=ExecCredential)
    except msgspec.DecodeError as error:
        raise CredentialError(f"exec plugin {section.command} printed no ExecCredential: {error}") from error
    status = credential.status
    if credential.api_version != section.api_version or status is None:
        raise CredentialError(
            f"exec plugin {section.command} answered apiVersion {credential.api_version!r} "
            f"{'without' if status is None else 'with'} a status; {section.api_version!r} with one is needed"
        )
    if not status.token and not status.client_certificate_data:
        raise CredentialError(f"exec plugin {section.command} gave neither a token nor a client certificate")
    return status


def valid_until(expiration: str | None) -> float:
    if not expiration:
        return float("inf")
    try:
        return datetime.fromisoformat(expiration).timestamp() - EXPIRES_SOON_SECONDS
    except ValueError as error:
        raise CredentialError(f"exec plugin: expirationTimestamp {expiration!r} is not a time") from error
