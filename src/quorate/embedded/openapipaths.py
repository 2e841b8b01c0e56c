"""The operations of an OpenAPI document: which verbs each path takes, of which kind, with which parameters."""

from collections.abc import Iterable
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded import data
from quorate.embedded.registry import Resource, Subresource

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_JSON = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_PATCHES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
_STRATEGIC = "application/strategic-merge-patch+json"


class _Served(NamedTuple):
    """What one path serves: the kind, the schema's name, and whether it is a custom kind."""

    kind: Json
    schema: str
    is_custom: bool


def paths(resources: Iterable[Resource], schemas: dict[str, str]) -> dict[str, Json]:
    """Every path of the resources; `schemas` names the schema of each kind."""
    found: dict[str, Json] = {}
    for resource in resources:
        kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        served = _Served(kind, schemas[resource.kind], resource.definition is not None)
        root = resource.path()
        collection = resource.path("{namespace}") if resource.namespaced else root
        if resource.namespaced and "list" in resource.verbs:
            found[root] = _with_parameters({"get": _read("list", _listed(served))}, root)
        found[collection] = _with_parameters(_collection(resource, served), collection)
        item = f"{collection}/{{name}}"
        operations = _item(resource.verbs, served)
        if operations:
            found[item] = _with_parameters(operations, item)
        for sub in resource.subresources:
            place = f"{item}/{sub.name}"
            found[place] = _with_parameters(_item(sub.verbs, _of_subresource(sub, served)), place)
    return found


def _of_subresource(sub: Subresource, parent: _Served) -> _Served:
    if sub.kind == parent.kind["kind"]:
        return parent
    kind = {"group": sub.group, "version": sub.version, "kind": sub.kind}
    name = data.definition_name(sub.group, sub.version, sub.kind) or parent.schema
    return _Served(kind, name, parent.is_custom)


def _collection(resource: Resource, served: _Served) -> Json:
    operations: Json = {}
    if "list" in resource.verbs:
        operations["get"] = _read("list", _listed(served))
    if "create" in resource.verbs:
        operations["post"] = _write("post", served)
    if "deletecollection" in resource.verbs:
        operations["delete"] = _delete("deletecollection", served)
    return operations


def _item(verbs: Iterable[str], served: _Served) -> Json:
    operations: Json = {}
    for verb in verbs:
        match verb:
            case "get":
                operations["get"] = _read("get", served)
            case "update":
                operations["put"] = _write("put", served)
            case "patch":
                operations["patch"] = _patch(served)
            case "delete":
                operations["delete"] = _delete("delete", served)
            case "create" if "get" not in verbs:
                operations["post"] = _write("post", served)
    return operations


def _listed(served: _Served) -> _Served:
    return served._replace(schema=f"{served.schema}List")


def _operation(action: str, served: _Served) -> Json:
    return {
        "responses": {"200": {"description": "OK", "content": _content(_JSON, served.schema)}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": served.kind,
    }


def _content(media_types: Iterable[str], schema: str) -> Json:
    return {media_type: {"schema": {"$ref": data.PREFIX + schema}} for media_type in media_types}


def _read(action: str, served: _Served) -> Json:
    return _operation(action, served)


def _write(action: str, served: _Served) -> Json:
    parameters = [_query("dryRun"), _query("fieldManager"), _query("fieldValidation")]
    body = {"required": True, "content": _content(_JSON, served.schema)}
    return {**_operation(action, served), "parameters": parameters, "requestBody": body}


def _patch(served: _Served) -> Json:
    """Custom kinds take no strategic merge patch, and clients learn that from here."""
    media_types = _PATCHES if served.is_custom else (*_PATCHES, _STRATEGIC)
    parameters = [
        _query("dryRun"),
        _query("fieldManager"),
        _query("fieldValidation"),
        _query("force", "boolean"),
    ]
    body = {"required": True, "content": _content(media_types, _META + "Patch")}
    return {**_operation("patch", served), "parameters": parameters, "requestBody": body}


def _delete(action: str, served: _Served) -> Json:
    options = _META + "DeleteOptions"
    status = {"200": {"description": "OK", "content": _content(_JSON, _META + "Status")}}
    body = {"content": _content(_JSON, options)}
    return {**_operation(action, served), "responses": status, "requestBody": body}


def _query(name: str, kind: str = "string") -> Json:
    return {"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": True}}


def _with_parameters(operations: Json, path: str) -> Json:
    named = [part for part in ("namespace", "name") if f"{{{part}}}" in path]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "uniqueItems": True}}
        for name in named
    ]
    return {**operations, "parameters": [*parameters, _query("pretty")]}
