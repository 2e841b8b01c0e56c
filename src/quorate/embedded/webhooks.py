"""Calls admission webhooks: mutating ones in order, validating ones at once, over TLS with the configured bundle.

1. A refusal by a webhook ends the request with its words; a call that fails does so only under failurePolicy Fail.
2. A webhook that asked for it is called once more if a later one changed the object.
3. A dry run never reaches a webhook with side effects.
"""

import asyncio
import base64
import binascii
import logging
import ssl
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import aiohttp
import msgspec
from yarl import URL

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.admissionrequest import Request
from quorate.embedded.causes import quoted
from quorate.embedded.errors import ApiError
from quorate.embedded.registry import Registry
from quorate.embedded.serviceaddress import service_address
from quorate.embedded.store import Store
from quorate.embedded.webhookmatch import Hook, Hooks, Match
from quorate.embedded.webhookreview import Answer, CallError, answer, patched, review

_log = logging.getLogger(__name__)
_HARMLESS = frozenset(("None", "NoneOnDryRun"))


class Webhooks:
    def __init__(self, store: Store, registry: Registry) -> None:
        self._mutating = Hooks(store, registry, "mutating")
        self._validating = Hooks(store, registry, "validating")
        self._store = store
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def mutate(self, request: Request, plug_ins: Callable[[Request], None]) -> Json | None:
        """The object after all mutating webhooks; the plug-ins see again what webhooks changed."""
        matches = self._mutating.matching(request)
        if not matches:
            return request.obj
        current, again = await self._round(matches, request)
        if current is not request:
            plug_ins(current)
        if again:
            current, _ = await self._round(again, current)
        return current.obj

    async def _round(self, matches: Sequence[Match], request: Request) -> tuple[Request, list[Match]]:
        """Ask each in turn; also those to be asked again, since a later one changed the object."""
        asked: list[Match] = []
        again: list[Match] = []
        for match in matches:
            found = await self._ask(self._mutating, match, request)
            if found is None:
                continue
            if found.patch:
                changed = request.complete(patched(request.obj, found.patch, match.hook.name))
                if changed != request.obj:
                    request = replace(request, obj=changed)
                    again = list(asked)
            if match.hook.reinvoked:
                asked.append(match)
        return request, again

    async def validate(self, request: Request) -> None:
        matches = self._validating.matching(request)
        if not matches:
            return
        asks = (self._ask(self._validating, match, request) for match in matches)
        for found in await asyncio.gather(*asks, return_exceptions=True):
            if isinstance(found, BaseException):
                raise found

    async def _ask(self, hooks: Hooks, match: Match, request: Request) -> Answer | None:
        """The webhook's answer; None if it was not asked, or failed and may."""
        hook = match.hook
        body = review(request, match)
        if not hooks.wants(hook, request, body["request"]):
            return None
        if request.dry_run and hook.side_effects not in _HARMLESS:
            raise errors.bad_request(f"admission webhook {quoted(hook.name)} does not support dry run")
        try:
            raw = await self._post(hook, body)
            found = answer(raw, body["request"]["uid"], hook.name, mutating=hooks is self._mutating)
        except CallError as error:
            if hook.fails_open:
                _log.warning("webhook %s failed, going on without it: %s", hook.name, error)
                return None
            raise _failed(hook, error) from None
        request.warnings.extend(found.warnings)
        return found

    async def _post(self, hook: Hook, body: Json) -> bytes:
        shown, target, server_name = self._address(hook)
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        try:
            async with self._session.post(
                target,
                data=msgspec.json.encode(body),
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                ssl=_tls(hook.client.get("caBundle") or ""),
                server_hostname=server_name,
                timeout=aiohttp.ClientTimeout(total=hook.timeout_seconds),
                allow_redirects=False,
            ) as response:
                raw = await response.read()
                if response.status != 200:
                    raise CallError(f"failed to call webhook: {_status_text(response.status, raw)}")
                return raw
        except TimeoutError:
            raise CallError(f'failed to call webhook: Post "{shown}": context deadline exceeded') from None
        except (aiohttp.ClientError, OSError) as error:
            raise CallError(f'failed to call webhook: Post "{shown}": {_plain(error)}') from None

    def _address(self, hook: Hook) -> tuple[str, URL, str | None]:
        """The URL as errors show it, the one to call, and the name the certificate must have."""
        query = f"timeout={hook.timeout_seconds}s"
        if hook.client.get("url"):
            url = f"{hook.client['url']}?{query}"
            return url, URL(url), None
        service = hook.client["service"]
        name, namespace, port = service["name"], service["namespace"], service.get("port") or 443
        host = f"{name}.{namespace}.svc"
        path = service.get("path") or "/"
        shown = f"https://{host}:{port}{path}?{query}"
        reached = service_address(self._store, namespace, name, port)
        if reached is None:
            why = f"no endpoints available for service {quoted(name)}"
            raise CallError(f'failed to call webhook: Post "{shown}": {why}')
        target = URL.build(scheme="https", host=reached[0], port=reached[1])
        return shown, target.join(URL(f"{path}?{query}")), host


def _failed(hook: Hook, error: CallError) -> ApiError:
    return errors.internal(f"failed calling webhook {quoted(hook.name)}: {error}")


@lru_cache(maxsize=256)
def _tls(bundle: str) -> ssl.SSLContext:
    """Trusts the bundle only, or the machine's authorities if there is none."""
    if not bundle:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cadata=base64.b64decode(bundle).decode())
    except (binascii.Error, UnicodeDecodeError, ssl.SSLError) as error:
        raise CallError(f"could not get REST client: caBundle holds no PEM certificates: {error}") from None


def _status_text(status: int, body: bytes) -> str:
    if status == 404:
        return "the server could not find the requested resource"
    text = body[:2048].decode(errors="replace").strip()
    return f'an error on the server ("{text}") has prevented the request from succeeding'


def _plain(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or str(error.certificate_error)
        return f"tls: failed to verify certificate: {reason}"
    if isinstance(error, aiohttp.ClientConnectorError):
        refused = isinstance(error.os_error, ConnectionRefusedError)
        reason = "connection refused" if refused else str(error.os_error)
        return f"dial tcp {error.host}:{error.port}: connect: {reason}"
    return str(error) or type(error).__name__
