"""One HTTP request about one resource: its body as a tree, its options, and answers as bytes."""

from typing import Any

import msgspec
from aiohttp import web

from quorate.api.meta import Json
from quorate.embedded import body, errors, intake, negotiation, query, typed
from quorate.embedded.errors import ApiError
from quorate.embedded.negotiation import Form
from quorate.embedded.options import DeleteOptions, Options, Patch, User
from quorate.embedded.patching import APPLY, media_types
from quorate.embedded.registry import Resource
from quorate.embedded.requestpath import ResourcePath
from quorate.embedded.target import Target

_encode = msgspec.json.Encoder().encode

# The real server's limit for one request.
LARGEST_BODY = 3 * 1024 * 1024
_OPTIONS_KINDS = {"PUT": "UpdateOptions", "PATCH": "PatchOptions", "DELETE": "DeleteOptions"}
HEADERS = {"Content-Type": "application/json", "Cache-Control": "no-cache, private"}


class Call:
    __slots__ = ("path", "request", "resource", "user")

    def __init__(self, request: web.BaseRequest, path: ResourcePath, resource: Resource, user: User) -> None:
        self.request = request
        self.path = path
        self.resource = resource
        self.user = user

    @property
    def target(self) -> Target:
        return Target(self.resource, self.path.namespace, self.path.name, self.path.subresource)

    @property
    def options(self) -> Options:
        agent = self.request.headers.get("User-Agent", "")
        kind = _OPTIONS_KINDS.get(self.request.method, "CreateOptions")
        if self.request.headers.get("Content-Type", "").startswith(APPLY):
            # Who applies must say who they are.
            agent = ""
        return query.write_options(self.request.query, self.user, agent, kind)

    @property
    def form(self) -> Form:
        request = self.request
        return negotiation.wanted(request.headers.get("Accept", ""), request.query.get("includeObject", ""))

    async def tree(self) -> Any:
        return body.decoded(await read(self.request), self.request.headers.get("Content-Type", ""))

    async def object(self, options: Options) -> Json:
        """The body as an object of the resource's kind; of a key that stands twice the last counts."""
        data = await read(self.request)
        content_type = self.request.headers.get("Content-Type", "")
        tree = body.decoded(data, content_type, kind=self.resource.kind)
        if options.field_validation != "Ignore" and data[:1] == b"{":
            intake.complain(self.resource, typed.duplicates(data, tree), options)
        return body.typed(tree, self.resource)

    async def patch(self) -> Patch:
        content_type = self.request.headers.get("Content-Type", "")
        return body.patch(await read(self.request), content_type, media_types(self.resource), self.resource)

    async def delete_options(self) -> DeleteOptions:
        """The DeleteOptions in the body, or in the query of clients that send no body."""
        data = await read(self.request)
        tree = body.decoded(data, self.request.headers.get("Content-Type", "")) if data else {}
        return query.delete_options(self.request.query, tree, self.user)


async def read(request: web.BaseRequest) -> bytes:
    """The body, refused as soon as it is known to be too large."""
    if (request.content_length or 0) > LARGEST_BODY:
        raise errors.too_large(f"limit is {LARGEST_BODY}")
    chunks: list[bytes] = []
    size = 0
    while chunk := await request.content.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_BODY:
            raise errors.too_large(f"limit is {LARGEST_BODY}")
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def reply(obj: Json, options: Options | None = None, *, status: int = 200) -> web.Response:
    response = raw_reply(_encode(obj), status)
    for warning in options.warnings if options is not None else ():
        warn(response, warning)
    return response


def warn(response: web.StreamResponse, warning: str) -> None:
    text = warning.replace("\\", "\\\\").replace('"', '\\"')
    response.headers.add("Warning", f'299 - "{text}"')


def raw_reply(data: bytes, status: int = 200, *, media_type: str = negotiation.JSON) -> web.Response:
    headers = HEADERS if media_type == negotiation.JSON else {**HEADERS, "Content-Type": media_type}
    return web.Response(body=data, status=status, headers=headers)


def refusal(error: ApiError) -> web.Response:
    response = raw_reply(_encode(error.status), error.code)
    seconds = (error.status.get("details") or {}).get("retryAfterSeconds")
    if seconds:
        response.headers["Retry-After"] = str(seconds)
    return response
