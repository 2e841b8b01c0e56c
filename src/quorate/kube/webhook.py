"""The admission webhook server: an AdmissionReview comes in, a pure function judges it, an answer goes out.

A function takes an `AdmissionRequest` and returns a `Verdict`; `admission/` has them, a controller registers
them by path. Certificates are read again when their files change, without a restart.
"""

import asyncio
import base64
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import msgspec
from aiohttp import web

from quorate.api.meta import Json, Wire
from quorate.kube import metrics
from quorate.kube.certificates import Files, reload, server_context
from quorate.kube.errors import ConfigError
from quorate.plan import Patch, Plan, Ref

log = logging.getLogger(__name__)

API_VERSION = "admission.k8s.io/v1"
LONGEST_BODY = 16 << 20
DEADLINE_SECONDS = 8.0
LOOK_SECONDS = 10.0


class GroupVersionKind(Wire):
    group: str = ""
    version: str = ""
    kind: str = ""


class GroupVersionResource(Wire):
    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(Wire):
    username: str = ""
    groups: list[str] | None = None


class AdmissionRequest(Wire):
    """What the API server asks about; `object` is null on DELETE, `old_object` on CREATE."""

    uid: str
    kind: GroupVersionKind
    operation: str
    resource: GroupVersionResource = msgspec.field(default_factory=GroupVersionResource)
    name: str = ""
    namespace: str = ""
    sub_resource: str = ""
    dry_run: bool | None = None
    user_info: UserInfo = msgspec.field(default_factory=UserInfo)
    object: Json | None = None
    old_object: Json | None = None


class AdmissionReview(Wire):
    api_version: str
    kind: str
    request: AdmissionRequest


class FieldError(msgspec.Struct, frozen=True):
    """One thing that is wrong, at a path such as `spec.subGroups[1].parent`."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


class Verdict(msgspec.Struct, frozen=True):
    """Allowed if there are no errors; `patch` is a JSON patch (RFC 6902)."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()
    patch: tuple[Json, ...] = ()


Judge = Callable[[AdmissionRequest], Verdict]
READ = msgspec.json.Decoder(AdmissionReview)


class WebhookServer:
    """Serves `judges` by path over TLS, and /healthz."""

    def __init__(self, judges: Mapping[str, Judge], files: Files) -> None:
        self._judges = judges
        self._files = files

    async def run(self, host: str, port: int, *, ready: Callable[[int], None] | None = None) -> None:
        """Serve until cancelled; `ready` hears the port."""
        context = server_context(self._files)
        runner = web.AppRunner(self._app(), access_log=None, handle_signals=False)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port, ssl_context=context)
            await start(site, host, port)
            if ready:
                ready(runner.addresses[0][1])
            seen = self._files.stamp()
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                # a half-written pair fails to load; the old one stays until the next look
                with suppress(ConfigError, OSError):
                    if (now := self._files.stamp()) != seen:
                        reload(context, self._files)
                        seen = now
                        log.info("serving certificate renewed from %s", self._files.folder)
        finally:
            await runner.cleanup()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=LONGEST_BODY)
        app.router.add_get("/healthz", alive)
        for path, judge in self._judges.items():
            app.router.add_post(path, answering(path, judge))
        return app


async def start(site: web.TCPSite, host: str, port: int) -> None:
    try:
        await site.start()
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}; choose another port"
        ) from error


async def alive(_: web.Request) -> web.Response:
    return web.Response(text="ok")


def answering(path: str, judge: Judge) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        try:
            review = READ.decode(await request.read())
        except (msgspec.DecodeError, web.HTTPRequestEntityTooLarge) as error:
            return web.Response(status=400, text=f"not an AdmissionReview: {error}")
        if review.api_version != API_VERSION:
            return web.Response(
                status=400, text=f"AdmissionReview must be {API_VERSION}, not {review.api_version}"
            )
        async with asyncio.timeout(DEADLINE_SECONDS):
            # a thread, because a large gang must not delay leases and watches
            verdict = await asyncio.to_thread(judge, review.request)
        metrics.ADMISSIONS.labels(path, "denied" if verdict.errors else "allowed").inc()
        return web.Response(
            body=msgspec.json.encode(response_of(review.request, verdict)), content_type="application/json"
        )

    return answer


def response_of(request: AdmissionRequest, verdict: Verdict) -> Json:
    response: Json = {"uid": request.uid, "allowed": not verdict.errors}
    if verdict.warnings:
        response["warnings"] = list(verdict.warnings)
    if verdict.errors:
        response["status"] = refusal(request, verdict)
    elif verdict.patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(msgspec.json.encode(verdict.patch)).decode()
    return {"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response}


def refusal(request: AdmissionRequest, verdict: Verdict) -> Json:
    """The Status as the API server itself words an invalid object."""
    texts = [f"{error.field}: {error.message}" for error in verdict.errors]
    shown = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return {
        "status": "Failure",
        "code": 422,
        "reason": "Invalid",
        "message": f'{request.kind.kind} "{request.name}" is invalid: {shown}',
        "details": {
            "name": request.name,
            "group": request.kind.group,
            "kind": request.kind.kind,
            "causes": [
                {"reason": error.reason, "field": error.field, "message": error.message}
                for error in verdict.errors
            ],
        },
    }


def trust(configuration: Json, target: Ref, ca_pem: bytes) -> Plan:
    """Make the API server trust `ca_pem` at every webhook of a configuration; empty if it does already.

    A merge patch replaces a list whole, so the list goes back as it was read, guarded by its revision.
    """
    bundle = base64.b64encode(ca_pem).decode()
    webhooks: list[Json] = configuration.get("webhooks") or []
    if all(one["clientConfig"].get("caBundle") == bundle for one in webhooks):
        return Plan()
    trusting = [{**one, "clientConfig": {**one["clientConfig"], "caBundle": bundle}} for one in webhooks]
    held = msgspec.structs.replace(target, resource_version=configuration["metadata"]["resourceVersion"])
    return Plan(changes=(Patch(held, {"webhooks": trusting}),))
