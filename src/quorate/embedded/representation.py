"""Stored objects in the version a client asked for; all versions of a kind differ in their apiVersion only.

Bytes are taken from the store wherever the stored version is the one asked for.
"""

from collections.abc import Sequence

import msgspec

from quorate.api.meta import Json
from quorate.embedded.listing import Page
from quorate.embedded.registry import Resource
from quorate.embedded.shelf import Entry

encode = msgspec.json.Encoder().encode


def served(resource: Resource, obj: Json) -> Json:
    if obj["apiVersion"] == resource.api_version:
        return obj
    return {**obj, "kind": resource.kind, "apiVersion": resource.api_version}


def served_raw(resource: Resource, entry: Entry) -> bytes:
    if entry.object["apiVersion"] == resource.api_version:
        return entry.raw
    return encode(served(resource, entry.object))


def list_raw(resource: Resource, page: Page) -> bytes:
    head = {"kind": resource.collection_kind, "apiVersion": resource.api_version, "metadata": page.metadata}
    items = b",".join(_items(resource, page.entries))
    return encode(head)[:-1] + b',"items":[' + items + b"]}"


def _items(resource: Resource, entries: Sequence[Entry]) -> list[bytes]:
    raws = [served_raw(resource, entry) for entry in entries]
    if resource.definition is not None:
        return raws
    # Items of a built-in list carry neither kind nor apiVersion; the store writes these two first.
    type_meta = encode({"kind": resource.kind, "apiVersion": resource.api_version})[1:-1] + b","
    start = 1 + len(type_meta)
    return [b"{" + raw[start:] if raw.startswith(type_meta, 1) else raw for raw in raws]
