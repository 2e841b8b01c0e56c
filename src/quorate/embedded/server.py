"""HTTP in front of the verbs: finds the resource in the path, reads options and body, sends bytes or Status.

Discovery, health and the other paths that name no resource are answered by `nonresource.py`.
"""

import logging
import ssl
from collections.abc import Awaitable, Callable

import msgspec
from aiohttp import web

from quorate.api.meta import Json
from quorate.embedded import body, errors, nonresource, query, requestpath
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.errors import ApiError
from quorate.embedded.options import SYSTEM, User
from quorate.embedded.registry import Resource
from quorate.embedded.representation import list_raw, served, served_raw
from quorate.embedded.requestpath import ResourcePath

_log = logging.getLogger(__name__)
encode = msgspec.json.Encoder().encode

# The real server's limit for one request.
LARGEST_BODY = 3 * 1024 * 1024
_JSON = "application/json"


class Call:
    """One request about one resource."""

    __slots__ = ("path", "request", "resource", "user")

    def __init__(self, request: web.BaseRequest, path: ResourcePath, resource: Resource, user: User) -> None:
        self.request = request
        self.path = path
        self.resource = resource
        self.user = user

    @property
    def name(self) -> str:
        return self.path.name


Verb = Callable[[ApiServer, Call], Awaitable[web.StreamResponse]]


class HttpServer:
    """Serves one ApiServer on one address."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self._runner: web.ServerRunner | None = None
        self.port = 0

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        runner = web.ServerRunner(web.Server(self._serve), access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, host, port, ssl_context=tls)
        await site.start()
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        self.api.store.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._route(request)
        except ApiError as error:
            return refusal(error)
        except Exception:  # noqa: BLE001 the client gets a 500 and the log the cause; the server goes on
            _log.exception("request failed: %s %s", request.method, request.path)
            return refusal(errors.internal("the server failed to serve the request; its log has the cause"))

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        path = requestpath.parse(request.rel_url.raw_path)
        if path is None:
            return nonresource.answer(self.api, request)
        resource = self.api.registry.find(path.group, path.version, path.plural)
        if resource is None:
            return nonresource.no_such_path()
        verb = _verb(request, path)
        self.api.counts[verb, path.plural + (f"/{path.subresource}" if path.subresource else "")] += 1
        serve = VERBS.get((verb, path.subresource))
        if serve is None or verb not in resource.verbs:
            raise errors.method_unknown()
        return await serve(self.api, Call(request, path, resource, SYSTEM))


def _verb(request: web.BaseRequest, path: ResourcePath) -> str:
    match request.method:
        case "GET" if path.name:
            return "get"
        case "GET":
            return "watch" if query.flag(request.query, "watch") else "list"
        case "POST":
            return "create"
        case "PUT":
            return "update"
        case "PATCH":
            return "patch"
        case "DELETE":
            return "delete" if path.name else "deletecollection"
    raise errors.method_unknown()


async def _create(api: ApiServer, call: Call) -> web.StreamResponse:
    request = call.request
    obj = body.typed(
        body.decoded(await read(request), request.headers.get("Content-Type", "")), call.resource
    )
    options = query.write_options(request.query, call.user, request.headers.get("User-Agent", ""))
    stored = await api.create(call.resource, call.path.namespace, obj, options)
    return reply(call, stored, status=201, warnings=options.warnings)


async def _get(api: ApiServer, call: Call) -> web.StreamResponse:
    entry = api.entry(call.resource, call.path.namespace, call.name)
    return raw_reply(served_raw(call.resource, entry))


async def _list(api: ApiServer, call: Call) -> web.StreamResponse:
    page = api.list(call.resource, call.path.namespace, query.list_options(call.request.query, call.resource))
    return raw_reply(list_raw(call.resource, page))


async def _watch(api: ApiServer, call: Call) -> web.StreamResponse:
    options = query.watch_options(call.request.query, call.resource)
    watch = api.watch(call.resource, call.path.namespace, options)
    response = web.StreamResponse(headers={"Content-Type": _JSON, "Cache-Control": "no-cache, private"})
    response.enable_chunked_encoding()
    try:
        await response.prepare(call.request)
        async for chunk in watch.lines():
            await response.write(chunk)
    except ConnectionResetError:
        pass
    finally:
        watch.close()
    return response


VERBS: dict[tuple[str, str], Verb] = {
    ("create", ""): _create,
    ("get", ""): _get,
    ("list", ""): _list,
    ("watch", ""): _watch,
}


async def read(request: web.BaseRequest) -> bytes:
    """The body, refused as soon as it is known to be too large."""
    if (request.content_length or 0) > LARGEST_BODY:
        raise errors.too_large(f"limit is {LARGEST_BODY}")
    data = await request.content.read(LARGEST_BODY + 1)
    while not request.content.at_eof():
        data += await request.content.read(LARGEST_BODY + 1)
        if len(data) > LARGEST_BODY:
            raise errors.too_large(f"limit is {LARGEST_BODY}")
    return data


def reply(call: Call, obj: Json, *, status: int = 200, warnings: list[str] | None = None) -> web.Response:
    response = raw_reply(encode(served(call.resource, obj)), status)
    for warning in warnings or ():
        response.headers.add("Warning", f'299 - "{warning}"')
    return response


def raw_reply(data: bytes, status: int = 200) -> web.Response:
    return web.Response(body=data, status=status, headers=_HEADERS)


def refusal(error: ApiError) -> web.Response:
    response = raw_reply(encode(error.status), error.code)
    seconds = (error.status.get("details") or {}).get("retryAfterSeconds")
    if seconds:
        response.headers["Retry-After"] = str(seconds)
    return response


_HEADERS = {"Content-Type": _JSON, "Cache-Control": "no-cache, private"}
