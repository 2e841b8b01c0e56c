"""Answers for paths that name no resource: discovery in both forms, OpenAPI, version and health.

The documents are derived from the registry; their bytes are kept until the registry changes.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from aiohttp import web

from quorate.api.meta import Json
from quorate.embedded import discovery, openapi
from quorate.embedded.apiserver import ApiServer

_encode = msgspec.json.Encoder().encode

VERSION: Json = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.3+quorate",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "cpython",
    "platform": "python/any",
}
_HEALTH = frozenset({"/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/ping", "/healthz/ping"})
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class _Document(NamedTuple):
    body: bytes
    content_type: str = "application/json"


def answer(api: ApiServer, request: web.BaseRequest) -> web.Response:
    path = request.path.rstrip("/") or "/"
    if path in _HEALTH:
        return web.Response(text="ok")
    if path == "/metrics":
        return web.Response(text=_metrics(api))
    document = _document(api, path, request.headers.get("Accept", ""))
    if document is None:
        return no_such_path()
    etag = discovery.etag(document.body)
    if request.headers.get("If-None-Match") == etag:
        return web.Response(status=304, headers={"ETag": etag, "Vary": "Accept"})
    headers = {"Content-Type": document.content_type, "ETag": etag, "Vary": "Accept"}
    return web.Response(body=document.body, headers=headers)


def _metrics(api: ApiServer) -> str:
    """Requests by verb and resource, in Prometheus' text format."""
    lines = ["# TYPE apiserver_request_total counter"]
    lines += [
        f'apiserver_request_total{{verb="{verb}",resource="{resource}"}} {count}'
        for (verb, resource), count in sorted(api.counts.items())
    ]
    return "\n".join(lines) + "\n"


def no_such_path() -> web.Response:
    """What the real server's router says; clients word it as "could not find the requested resource"."""
    headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return web.Response(body=b"404 page not found\n", status=404, headers=headers)


def _document(api: ApiServer, path: str, accept: str) -> _Document | None:
    if path == "/version":
        return _Document(_encode(VERSION))
    aggregated = "as=APIGroupDiscoveryList" in accept and "v=v2;" in f"{accept};".replace(",", ";")
    content_type = _AGGREGATED if aggregated and path in {"/api", "/apis"} else "application/json"
    return _cached(api, (path, content_type), lambda: _derive(api, path, aggregated=aggregated))


def _derive(api: ApiServer, path: str, *, aggregated: bool) -> Json | None:
    root, *rest = path.split("/")[1:]
    if root == "openapi":
        return _openapi(api, rest)
    return _discovery(api, root, rest, aggregated=aggregated)


def _discovery(api: ApiServer, root: str, rest: list[str], *, aggregated: bool) -> Json | None:
    resources = api.registry.resources()
    match root, rest:
        case (("api" | "apis"), []) if aggregated:
            return discovery.aggregated(resources, legacy=root == "api")
        case "api", []:
            return discovery.api_versions()
        case "apis", []:
            return discovery.api_group_list(resources)
        case "apis", [group]:
            return discovery.api_group(resources, group)
        case ("apis", [group, version]) | ("api" as group, [version]):
            return discovery.api_resource_list(resources, group if root == "apis" else "", version)
    return None


def _openapi(api: ApiServer, rest: list[str]) -> Json | None:
    resources = api.registry.resources()
    match rest:
        case ["v3"]:
            return openapi.index(resources)
        case ["v3", "api", version]:
            return openapi.document(resources, "", version)
        case ["v3", "apis", group, version]:
            return openapi.document(resources, group, version)
    return None


def _cached(api: ApiServer, key: tuple[str, str], make: Callable[[], Json | None]) -> _Document | None:
    known = api.documents.get(key)
    if known is None or known[0] != api.registry.generation:
        tree = make()
        if tree is None:
            return None
        known = api.documents[key] = (api.registry.generation, _encode(tree))
    return _Document(known[1], key[1])
