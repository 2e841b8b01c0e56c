"""Requests on objects by kind and name: typed reads, and the bodies of every write in one place.

Reads (`get`, `pages`) are for anyone; the write functions only build a `Request`, which `apply.py` sends.
"""

from collections.abc import AsyncIterator
from typing import Generic, TypeVar
from urllib.parse import urlencode

import msgspec

from quorate.api.apps import CONTROLLER_REVISION
from quorate.api.meta import Json, Kind, Wire
from quorate.kube.client import APPLY_PATCH, JSON, MERGE_PATCH, Client, Request
from quorate.kube.errors import AnswerUnreadable
from quorate.plan import Apply, Bind, Create, Delete, Evict, Patch, Ref, SetStatus

T = TypeVar("T")
FIELD_MANAGER = "quorate"
MANAGED = f"fieldManager={FIELD_MANAGER}"
METHODS = {
    "bind": "POST",
    "evict": "POST",
    "create": "POST",
    "apply": "PATCH",
    "patch": "PATCH",
    "delete": "DELETE",
}
PAGE = 500
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class ListMeta(Wire):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(Wire):
    """One page of a list; the items stay undecoded until their type is known."""

    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[msgspec.Raw] | None = None


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects of a kind: all, or those of a namespace, or those that match a selector."""

    kind: Kind
    namespace: str = ""
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False

    def selectors(self) -> dict[str, str]:
        pairs = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {key: value for key, value in pairs.items() if value}

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.kind.resource}{where}"


class Reader(Generic[T]):
    """Decodes one type; made once, because building a decoder costs more than using it."""

    def __init__(self, shape: type[T]) -> None:
        self._decoder = msgspec.json.Decoder(shape)

    def __call__(self, body: bytes | msgspec.Raw, what: str = "answer") -> T:
        try:
            return self._decoder.decode(body)
        except (msgspec.DecodeError, ValueError) as error:
            raise AnswerUnreadable(f"{what}: {error}") from error


READ_PAGE = Reader(Page)


async def get(client: Client, ref: Ref, reader: Reader[T]) -> T:
    request = Request(
        verb="get",
        method="GET",
        path=ref.kind.path(ref.namespace, ref.name),
        resource=ref.kind.resource,
    )
    return reader(await client.send(request), str(ref))


async def pages(client: Client, scope: Scope) -> AsyncIterator[Page]:
    """A consistent list, page by page; a `Gone` in the middle means: start again."""
    token = ""
    while True:
        query = scope.selectors() | {"limit": str(PAGE)} | ({"continue": token} if token else {})
        page = READ_PAGE(await client.send(list_request(scope, query)), f"list of {scope}")
        yield page
        token = page.metadata.continue_
        if not token:
            return


def list_request(scope: Scope, query: dict[str, str]) -> Request:
    return Request(
        verb="list",
        method="GET",
        path=scope.kind.path(scope.namespace),
        resource=scope.kind.resource,
        query=urlencode(query),
        accept=METADATA_LIST_ONLY if scope.metadata_only else JSON,
    )


def watch_request(scope: Scope, query: dict[str, str]) -> Request:
    return Request(
        verb="watch",
        method="GET",
        path=scope.kind.path(scope.namespace),
        resource=scope.kind.resource,
        query=urlencode(scope.selectors() | {"watch": "1", "allowWatchBookmarks": "true"} | query),
        accept=METADATA_ONLY if scope.metadata_only else JSON,
    )


def bind_request(change: Bind) -> Request:
    pod = change.pod
    body: Json = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": identity(pod) | ({"annotations": change.annotations} if change.annotations else {}),
        "target": {"apiVersion": "v1", "kind": "Node", "name": change.node},
    }
    return write("bind", pod, body, subresource="binding")


def evict_request(change: Evict) -> Request:
    pod = change.pod
    body: Json = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": delete_options(pod, change.grace_seconds),
    }
    return write("evict", pod, body, subresource="eviction")


def create_request(change: Create) -> Request:
    target = change.target
    body = named(target, change.body)
    request = write("create", target, body, query=MANAGED)
    if target.kind == CONTROLLER_REVISION:
        request = msgspec.structs.replace(request, body=as_go(body))
    return msgspec.structs.replace(request, path=target.kind.path(target.namespace))


def as_go(body: Json) -> bytes:
    """The bytes that Go makes of a tree.

    An API server keeps the data of a ControllerRevision as it was sent, writes it anew in Go's way on any patch, and
    takes the difference for a change of what is immutable; the garbage collector then cannot orphan it.
    """
    encoded = msgspec.json.encode(body, order="sorted")
    for character in b"<>&":
        encoded = encoded.replace(bytes([character]), b"\\u%04x" % character)
    return encoded


def apply_request(change: Apply) -> Request:
    body = named(change.target, change.body)
    body["metadata"].update(identity(change.target))
    return write("apply", change.target, body, content_type=APPLY_PATCH, query=f"{MANAGED}&force=true")


def patch_request(change: Patch) -> Request:
    return merge_patch(change.target, change.body, change.subresource)


def status_request(change: SetStatus) -> Request:
    return merge_patch(change.target, {"status": change.status}, "status")


def delete_request(change: Delete) -> Request:
    options = delete_options(change.target, change.grace_seconds)
    return write("delete", change.target, options | {"propagationPolicy": change.propagation})


def merge_patch(target: Ref, body: Json, subresource: str) -> Request:
    if held := preconditions(target):
        body = {**body, "metadata": {**body.get("metadata", {}), **held}}
    return write("patch", target, body, subresource=subresource, content_type=MERGE_PATCH, query=MANAGED)


def write(
    verb: str, target: Ref, body: Json, *, subresource: str = "", content_type: str = JSON, query: str = ""
) -> Request:
    return Request(
        verb=verb,
        method=METHODS[verb],
        path=target.kind.path(target.namespace, target.name, subresource),
        resource=target.kind.resource,
        query=query,
        body=msgspec.json.encode(body),
        content_type=content_type,
        # an eviction that names the UID does nothing more the second time; a bind or a create would be
        # refused the second time and so be misread as a failure
        repeatable=verb not in {"bind", "create"} and (verb != "evict" or bool(target.uid)),
    )


def identity(ref: Ref) -> Json:
    """Name and preconditions of an object as metadata fields."""
    fields = {"name": ref.name, "namespace": ref.namespace}
    return {key: value for key, value in fields.items() if value} | preconditions(ref)


def preconditions(ref: Ref) -> Json:
    fields = {"uid": ref.uid, "resourceVersion": ref.resource_version}
    return {key: value for key, value in fields.items() if value}


def delete_options(ref: Ref, grace_seconds: int | None) -> Json:
    options: Json = {"apiVersion": "v1", "kind": "DeleteOptions"}
    if held := preconditions(ref):
        options["preconditions"] = held
    if grace_seconds is not None:
        options["gracePeriodSeconds"] = grace_seconds
    return options


def named(ref: Ref, body: Json) -> Json:
    """The body with the type and the name that the reference says; a copy."""
    metadata = {**body.get("metadata", {}), "name": ref.name}
    if ref.namespace:
        metadata["namespace"] = ref.namespace
    return {**body, "apiVersion": ref.kind.api_version, "kind": ref.kind.kind, "metadata": metadata}
