"""OpenAPI schemas of wire types in the structural form that a CustomResourceDefinition needs.

msgspec describes a type in JSON Schema; here references are inlined, `X or null` becomes X, numbers that
may be text become int-or-string, and trees that nobody types keep their unknown fields.
"""

from typing import Any

import msgspec

from quorate.api.described import DEFAULT, REQUIRED
from quorate.api.meta import Json

_INT_OR_STRING: Json = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}
UNKNOWN_KEPT = "x-kubernetes-preserve-unknown-fields"
_SCALARS = {"integer", "number", "string"}


def structural(kind: type[msgspec.Struct]) -> Json:
    """The schema of an object kind; of its metadata nothing is said, the API server knows it."""
    (root,), components = msgspec.json.schema_components([kind], ref_template="{name}")
    schema = _resolved(root, components)
    schema["properties"]["metadata"] = {"type": "object"}
    schema["properties"]["apiVersion"] = {"type": "string"}
    schema["properties"]["kind"] = {"type": "string"}
    return schema


def _resolved(node: Json, components: dict[str, Json]) -> Json:
    kept = {
        key: value
        for key, value in node.items()
        if key not in {"title", "default", "anyOf", "$ref", REQUIRED}
    }
    if "enum" in node:
        kept.setdefault("type", "string")  # msgspec leaves the type of a literal to its values
    if DEFAULT in kept:
        kept["default"] = kept.pop(DEFAULT)
    if "$ref" in node:
        return _resolved(components[node["$ref"]], components) | kept
    if "anyOf" in node:
        return (
            _of_union([choice for choice in node["anyOf"] if choice.get("type") != "null"], components) | kept
        )
    if node.get("type") == "array":
        kept["items"] = _resolved(node["items"], components)
    if node.get("type") == "object":
        return _object(node, kept, components)
    return kept


def _of_union(choices: list[Json], components: dict[str, Json]) -> Json:
    if len(choices) == 1:
        return _resolved(choices[0], components)
    types = {choice.get("type") for choice in choices}
    assert types <= _SCALARS, f"only numbers and text may share a field, not {choices}"
    return dict(_INT_OR_STRING)


def _object(node: Json, kept: Json, components: dict[str, Json]) -> Json:
    kept.pop("required", None)
    if "properties" in node:
        kept["properties"] = {
            name: _resolved(field, components) for name, field in node["properties"].items()
        }
        required = [name for name, field in node["properties"].items() if field.get(REQUIRED)]
        if required:
            kept["required"] = required
        return kept
    values: Any = kept.pop("additionalProperties", None)
    if values:
        kept["additionalProperties"] = _resolved(values, components)
    else:
        kept[UNKNOWN_KEPT] = True
    return kept
