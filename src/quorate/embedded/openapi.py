"""OpenAPI v3: the index and one document per group-version, of built-in and custom kinds alike.

Good for what clients do with it: `kubectl apply`, `diff`, `explain` and validation. Documents are made of the
data files and of the schemas of CustomResourceDefinitions; openapipaths adds the operations.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from quorate.api.meta import Json
from quorate.embedded import data
from quorate.embedded.kinddescriptions import DESCRIPTIONS
from quorate.embedded.openapipaths import paths
from quorate.embedded.registry import Resource

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
# Definitions that operations refer to, whatever the kind.
_SHARED = tuple(_META + name for name in ("DeleteOptions", "Patch", "Status", "WatchEvent"))
_encode = msgspec.json.Encoder(order="sorted").encode

GroupVersion = tuple[str, str]


def index(resources: Iterable[Resource]) -> Json:
    """The document at /openapi/v3: where each group-version's document is, with a hash for caches."""
    found: dict[str, Json] = {}
    for (group, version), served in sorted(_by_group_version(resources).items()):
        place = location(group, version)
        found[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={_digest(served)}"}
    return {"paths": found}


def location(group: str, version: str) -> str:
    """The key of a group-version in the index, which is also the rest of its document's path."""
    return f"apis/{group}/{version}" if group else f"api/{version}"


def document(resources: Iterable[Resource], group: str, version: str) -> Json | None:
    """The document of one group-version; None where nothing is served."""
    served = _by_group_version(resources).get((group, version))
    if served is None:
        return None
    schemas: dict[str, Json] = {}
    for resource in served:
        _add_kind(schemas, resource)
    for name in _SHARED:
        _add_definition(schemas, name)
    _bind_delete_options(schemas, group, version)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths(served, {resource.kind: schema_name(resource) for resource in served}),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def schema_name(resource: Resource) -> str:
    """The name of a kind's schema: the Go package's for a built-in kind, else made of the reversed group."""
    built_in = data.definition_name(resource.group, resource.version, resource.kind)
    if built_in and resource.schema is None:
        return built_in
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind])


def _by_group_version(resources: Iterable[Resource]) -> dict[GroupVersion, list[Resource]]:
    found: dict[GroupVersion, list[Resource]] = {}
    for resource in resources:
        found.setdefault((resource.group, resource.version), []).append(resource)
    return found


def _digest(served: list[Resource]) -> str:
    rows = [
        [resource.plural, resource.kind, resource.schema, [sub.name for sub in resource.subresources]]
        for resource in sorted(served, key=lambda r: r.plural)
    ]
    return hashlib.sha256(_encode(rows)).hexdigest().upper()


def _add_kind(schemas: dict[str, Json], resource: Resource) -> None:
    name = schema_name(resource)
    if resource.definition is None and resource.schema is None:
        _add_definition(schemas, name)
        if resource.kind in DESCRIPTIONS:
            schemas[name] = {**schemas[name], "description": DESCRIPTIONS[resource.kind]}
        if data.definition_name(resource.group, resource.version, f"{resource.kind}List"):
            _add_definition(schemas, f"{name}List")
        for sub in resource.subresources:
            if other := data.definition_name(sub.group, sub.version, sub.kind):
                _add_definition(schemas, other)
        return
    _add_custom(schemas, resource, name)


def _add_definition(schemas: dict[str, Json], name: str) -> None:
    """A definition and all that it refers to."""
    if name in schemas:
        return
    schemas[name] = {word: value for word, value in data.definition(name).items() if word != "x-omitted"}
    for other in _references(schemas[name]):
        _add_definition(schemas, other)


def _references(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*(_references(item) for item in node))
    if not isinstance(node, dict):
        return set()
    target = node.get("$ref")
    own = {target.removeprefix(data.PREFIX)} if isinstance(target, str) else set()
    return own.union(*(_references(child) for child in node.values()))


def _bind_delete_options(schemas: dict[str, Json], group: str, version: str) -> None:
    """Say of the shared kinds that this group-version takes them, as clients look them up by it."""
    for name in ("DeleteOptions", "WatchEvent"):
        kind = {"group": group, "version": version, "kind": name}
        schemas[_META + name] = {**schemas[_META + name], "x-kubernetes-group-version-kind": [kind]}


def _add_custom(schemas: dict[str, Json], resource: Resource, name: str) -> None:
    for used in ("ObjectMeta", "ListMeta"):
        _add_definition(schemas, _META + used)
    schemas[name] = _with_kind(_published(resource.schema or {"type": "object"}, root=True), resource, "")
    for sub in resource.subresources:
        if other := data.definition_name(sub.group, sub.version, sub.kind):
            _add_definition(schemas, other)
    items = {"type": "array", "description": f"List of {resource.plural}.", "items": _reference(name)}
    schemas[f"{name}List"] = _with_kind(
        {
            "type": "object",
            "description": f"{resource.collection_kind} is a list of {resource.kind}",
            "required": ["items"],
            "properties": {**_object_fields("ListMeta"), "items": items},
        },
        resource,
        resource.collection_kind,
    )


def _with_kind(schema: Json, resource: Resource, kind: str) -> Json:
    owner = {"group": resource.group, "version": resource.version, "kind": kind or resource.kind}
    return {**schema, "x-kubernetes-group-version-kind": [owner]}


def _reference(name: str) -> Json:
    return {"$ref": data.PREFIX + name}


def _object_fields(metadata: str) -> dict[str, Json]:
    return {
        "apiVersion": {
            "type": "string",
            "description": "APIVersion names the group and version that this representation follows.",
        },
        "kind": {"type": "string", "description": "Kind names the type of the object."},
        "metadata": {
            "description": "Standard metadata of every object.",
            "allOf": [_reference(_META + metadata)],
        },
    }


def _published(schema: Json, *, root: bool = False) -> Json:
    """A structural schema as it is shown to clients: with the fields of every object filled in."""
    shown = dict(schema)
    if schema.get("properties"):
        shown["properties"] = {name: _published(child) for name, child in schema["properties"].items()}
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            shown[word] = _published(schema[word])
    if root or schema.get("x-kubernetes-embedded-resource"):
        shown["properties"] = {**shown.get("properties", {}), **_object_fields("ObjectMeta")}
    return shown
