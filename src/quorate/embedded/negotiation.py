"""In which form a client wants its answer: JSON or YAML, objects, their metadata, or a printed Table.

Protobuf is never chosen: every client that asks for it also takes JSON, except one that says it does not.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import yaml

from quorate.api.meta import Json
from quorate.embedded.errors import not_acceptable
from quorate.embedded.listing import Page
from quorate.embedded.registry import Resource
from quorate.embedded.representation import list_raw, served, served_raw
from quorate.embedded.shelf import Entry
from quorate.embedded.tables import Printed, table

_encode = msgspec.json.Encoder().encode
JSON = "application/json"
_YAML = "application/yaml"
_META = "meta.k8s.io/v1"
_FORMS = frozenset({"Table", "PartialObjectMetadata", "PartialObjectMetadataList"})


class Form(NamedTuple):
    """`transform` is the kind that objects are shown as; empty for the objects themselves."""

    media_type: str = JSON
    transform: str = ""
    # includeObject of a Table: None, Metadata or Object.
    include: str = ""

    def encode(self, tree: Any) -> bytes:
        if self.media_type == _YAML:
            text: str = yaml.dump(tree, Dumper=yaml.CSafeDumper, default_flow_style=False, sort_keys=True)
            return text.encode()
        return _encode(tree)


def wanted(accept: str, include: str = "") -> Form:
    """The first form of the Accept header that this server has; 406 if it has none of them."""
    if accept in {"", JSON, "*/*"}:
        return Form()
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        if media_type in {"*/*", "application/*"}:
            media_type = JSON
        if media_type not in {JSON, _YAML}:
            continue
        given = dict(part.partition("=")[::2] for part in parameters)
        transform = given.get("as", "")
        if not transform:
            return Form(media_type)
        if transform in _FORMS and f"{given.get('g')}/{given.get('v')}" == _META:
            return Form(media_type, transform.removesuffix("List"), include)
    raise not_acceptable([JSON, _YAML, "application/vnd.kubernetes.protobuf"])


def one(form: Form, resource: Resource, entry: Entry, now: float) -> bytes:
    """One stored object in the form."""
    if form.transform == "" and form.media_type == JSON:
        return served_raw(resource, entry)
    return form.encode(_shown(form, resource, served(resource, entry.object), now))


def derived(form: Form, printed: Printed, obj: Json, now: float) -> bytes:
    """An object that is made from a stored one, in the form."""
    return form.encode(_shown(form, printed, obj, now))


def many(form: Form, resource: Resource, page: Page, now: float) -> bytes:
    """A list in the form."""
    if form.transform == "Table":
        objects = [served(resource, obj) for obj in page.objects]
        return form.encode(table(resource, objects, include=form.include, now=now, metadata=page.metadata))
    if form.transform:
        items = [metadata_only(served(resource, obj)) for obj in page.objects]
        head = {"kind": "PartialObjectMetadataList", "apiVersion": _META, "metadata": page.metadata}
        return form.encode({**head, "items": items})
    raw = list_raw(resource, page)
    return raw if form.media_type == JSON else form.encode(msgspec.json.decode(raw))


def for_watch(form: Form, resource: Resource, now: Callable[[], float]) -> Callable[[Json], Json] | None:
    """How a watch shows each object; None where the stored bytes are what it sends."""
    if not form.transform:
        return None
    headers = True

    def shown(obj: Json) -> Json:
        nonlocal headers
        if form.transform != "Table":
            return metadata_only(obj)
        # Only the first Table of a watch has its columns' definitions.
        printed = table(
            resource, [obj], include=form.include, now=now(), metadata=_version(obj), headers=headers
        )
        headers = False
        return printed

    return shown


def metadata_only(obj: Json) -> Json:
    return {"kind": "PartialObjectMetadata", "apiVersion": _META, "metadata": obj["metadata"]}


def _shown(form: Form, printed: Printed, obj: Json, now: float) -> Json:
    if form.transform == "Table":
        return table(printed, [obj], include=form.include, now=now, metadata=_version(obj))
    return metadata_only(obj) if form.transform else obj


def _version(obj: Json) -> Json:
    return {"resourceVersion": obj["metadata"]["resourceVersion"]}
