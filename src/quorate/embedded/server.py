"""HTTP in front of the verbs: finds the resource in the path and the verb in the method, and answers.

`verbs.py` has the function of each verb; paths that name no resource are answered by `nonresource.py`.
"""

import asyncio
import errno
import logging
import ssl

from aiohttp import web

from quorate.embedded import errors, nonresource, query, requestpath
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.call import Call, refusal, warn
from quorate.embedded.errors import ApiError
from quorate.embedded.impersonation import impersonated
from quorate.embedded.options import SYSTEM, User
from quorate.embedded.rbac import Attributes
from quorate.embedded.registry import Resource
from quorate.embedded.requestpath import ResourcePath
from quorate.embedded.verbs import VERBS

_log = logging.getLogger(__name__)
_LONGEST_REQUEST_SECONDS = 60.0
_READS = frozenset({"get", "list", "watch"})
_METHODS = {"POST": "create", "PUT": "update", "PATCH": "patch"}


class HttpServer:
    """Serves one ApiServer on one address."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api
        self._runner: web.ServerRunner | None = None
        self.port = 0
        # Users by client certificate, as reading one takes longer than serving a request.
        self._certified: dict[bytes, User] = {}

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        """Listen; port 0 takes a free one, which `port` then tells."""
        # A watch whose client has gone must end even if nothing happens that it could fail to send.
        server = web.Server(self._serve, handler_cancellation=True)
        runner = web.ServerRunner(server, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port, ssl_context=tls).start()
        except OSError as error:
            await runner.cleanup()
            raise AddressError(host, port, error) from error
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        self.api.store.close()
        if self._runner is not None:
            await self._runner.cleanup()
        await self.api.admission.close()

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._route(request)
        except ApiError as error:
            return refusal(error)
        except TimeoutError:
            return refusal(errors.timeout("request did not complete within the allotted timeout"))
        except Exception:  # noqa: BLE001 the client gets a 500 and the log the cause; the server goes on
            _log.exception("request failed: %s %s", request.method, request.path)
            return refusal(errors.internal("the server failed to serve the request; its log has the cause"))

    async def _route(self, request: web.BaseRequest) -> web.StreamResponse:
        api, path = self.api, requestpath.parse(request.rel_url.raw_path)
        user = impersonated(request.headers, self._user(request), api.authorizer)
        if path is None:
            api.authorizer.check(Attributes(user, request.method.lower(), path=request.path))
            return nonresource.answer(api, request)
        verb = _verb(request, path)
        counted = f"{path.plural}/{path.subresource}" if path.subresource else path.plural
        api.counts[verb, counted] += 1
        api.authorizer.check(_attributes(user, verb, path))
        resource = api.registry.find(path.group, path.version, path.plural)
        if resource is None or (path.subresource and resource.subresource(path.subresource) is None):
            if any(known.group == path.group for known in api.registry.resources()):
                raise errors.no_such_resource()
            return nonresource.no_such_path()
        serve = VERBS.get((verb, path.subresource))
        if serve is None or not _allows(resource, path, verb):
            raise errors.method_unknown()
        if verb not in _READS:
            api.check_writable()
        call = Call(request, path, resource, user)
        if verb == "watch":
            return await serve(api, call)
        async with asyncio.timeout(_LONGEST_REQUEST_SECONDS):
            response = await serve(api, call)
        if resource.warning:
            warn(response, resource.warning)
        return response

    def _user(self, request: web.BaseRequest) -> User:
        authenticator = self.api.authenticator
        if authenticator is None:
            return SYSTEM
        tls = request.transport.get_extra_info("ssl_object") if request.transport is not None else None
        certificate = tls.getpeercert(binary_form=True) if tls is not None else None
        authorization = request.headers.get("Authorization", "")
        if authorization or certificate is None:
            return authenticator.user(authorization, certificate)
        known = self._certified.get(certificate)
        if known is None:
            known = self._certified[certificate] = authenticator.user("", certificate)
        return known


def _attributes(user: User, verb: str, path: ResourcePath) -> Attributes:
    # The name of a namespace is also the namespace of a request about it.
    namespace = path.name if path.plural == "namespaces" and not path.group else path.namespace
    return Attributes(user, verb, path.group, path.plural, path.subresource, path.name, namespace)


_REMEDIES = {
    errno.EADDRINUSE: (
        "another program listens there",
        "stop it or choose another port (0 takes a free one)",
    ),
    errno.EADDRNOTAVAIL: ("this machine has no such address", "choose one of its own, such as 127.0.0.1"),
    errno.EACCES: ("this user may not", "choose a port from 1024 on (0 takes a free one)"),
}


class AddressError(Exception):
    """The server cannot listen where it was asked to."""

    def __init__(self, host: str, port: int, error: OSError) -> None:
        unresolved = (error.strerror or str(error), "choose an address of this machine, such as 127.0.0.1")
        cause, remedy = _REMEDIES.get(error.errno or 0, unresolved)
        super().__init__(f"cannot listen on {host}:{port}: {cause}; {remedy}")


def _verb(request: web.BaseRequest, path: ResourcePath) -> str:
    match request.method:
        case "GET" if path.name:
            return "get"
        case "GET":
            return "watch" if query.flag(request.query, "watch") else "list"
        case "DELETE":
            return "delete" if path.name else "deletecollection"
    if request.method not in _METHODS:
        raise errors.method_unknown()
    return _METHODS[request.method]


def _allows(resource: Resource, path: ResourcePath, verb: str) -> bool:
    """Whether the verb fits the path: of one object, of a list, in a namespace or not."""
    subresource = resource.subresource(path.subresource) if path.subresource else None
    if subresource is not None:
        return verb in subresource.verbs and bool(path.name)
    if resource.namespaced and not path.namespace and verb not in {"list", "watch"}:
        return False
    if path.namespace and not resource.namespaced:
        return False
    by_name = verb in {"update", "patch", "get", "delete"}
    return verb in resource.verbs and bool(path.name) == by_name
