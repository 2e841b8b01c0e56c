"""Whether the schema of a CustomResourceDefinition is structural, with the findings of a real server.

The rules: types at every level, no constructs that cannot be pruned or defaulted, extensions only where they
mean something, and conditions (allOf, anyOf, oneOf, not) only on fields named outside them too.
"""

import re
from typing import Any

from quorate.api.meta import Json
from quorate.embedded import causes
from quorate.embedded.causes import Cause
from quorate.embedded.pruning import EMBEDDED, PRESERVE
from quorate.embedded.schemavalues import check, go_pattern

INT_OR_STRING = "x-kubernetes-int-or-string"
LIST_TYPE = "x-kubernetes-list-type"
MAP_KEYS = "x-kubernetes-list-map-keys"
MAP_TYPE = "x-kubernetes-map-type"

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_BOTH = [{"type": "integer"}, {"type": "string"}]
# What a schema inside a condition must leave to the schema outside it, and what is said of it.
_OUTSIDE = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    PRESERVE: "must be false to be structural",
    EMBEDDED: "must be false to be structural",
    INT_OR_STRING: "must be false to be structural",
    MAP_KEYS: "must be empty to be structural",
    LIST_TYPE: "must be undefined to be structural",
    MAP_TYPE: "must be undefined to be structural",
}
_MISSING_TYPE = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def problems(schema: Json, path: str) -> list[Cause]:
    """Why the schema is refused; `path` is where it stands in the definition."""
    found: list[Cause] = []
    _node(schema, path, "root", found)
    _conditions_complete(schema, schema, path, path, found)
    return sorted(found, key=str)


def _node(schema: Json, path: str, level: str, found: list[Cause]) -> None:
    _check_unsupported(schema, path, found)
    _check_type(schema, path, level, found)
    _check_list(schema, path, found)
    _check_map(schema, path, level, found)
    _check_extensions(schema, path, found)
    _check_metadata(schema, path, level, found)
    _check_conditions(schema, path, found, outermost=True)
    if "default" in schema and not found:
        for cause in check(schema, schema["default"]):
            field = f"{path}.default" + (f".{cause.field}" if cause.field not in {"", "<nil>"} else "")
            found.append(cause._replace(field=field))
    if isinstance(items := schema.get("items"), dict):
        _node(items, f"{path}.items", "item", found)
    for name, child in (schema.get("properties") or {}).items():
        _node(child, f"{path}.properties[{name}]", "field", found)
    if isinstance(values := schema.get("additionalProperties"), dict):
        _node(values, f"{path}.additionalProperties", "field", found)


def _check_unsupported(schema: Json, path: str, found: list[Cause]) -> None:
    found.extend(
        causes.forbidden(f"{path}.{name}", f"{name} is not supported")
        for name in _UNSUPPORTED
        if name in schema
    )
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        found.append(causes.forbidden(f"{path}.uniqueItems", why))
    if isinstance(schema.get("items"), list):
        found.append(causes.forbidden(f"{path}.items", "items must be a schema object and not an array"))
    if "additionalProperties" in schema and schema.get("properties"):
        why = "additionalProperties and properties are mutual exclusive"
        found.append(causes.forbidden(f"{path}.additionalProperties", why))
    _check_pattern(schema, path, found)


def _check_pattern(schema: Json, path: str, found: list[Cause]) -> None:
    if not schema.get("pattern"):
        return
    try:
        go_pattern(schema["pattern"])
    except re.error as error:
        why = f"must be a valid regular expression, but isn't: {error}"
        found.append(causes.invalid(f"{path}.pattern", schema["pattern"], why))


def _check_type(schema: Json, path: str, level: str, found: list[Cause]) -> None:
    kind = schema.get("type", "")
    where = f"{path}.type"
    if kind and kind not in _TYPES:
        found.append(causes.not_supported(where, kind, _TYPES))
    elif schema.get(EMBEDDED) and kind != "object":
        _refuse_type(schema, path, f"must be object if {EMBEDDED} is true", found)
    elif not kind and not schema.get(INT_OR_STRING) and not schema.get(PRESERVE):
        found.append(causes.required(where, _MISSING_TYPE[level]))
    elif level == "root" and kind and kind != "object":
        found.append(causes.invalid(where, kind, "must be object at the root"))
    if kind == "array" and not schema.get("items"):
        found.append(causes.required(f"{path}.items", "must be specified"))


def _refuse_type(schema: Json, path: str, why: str, found: list[Cause]) -> None:
    actual, where = schema.get("type", ""), f"{path}.type"
    found.append(causes.invalid(where, actual, why) if actual else causes.required(where, why))


def _check_list(schema: Json, path: str, found: list[Cause]) -> None:
    kind, keys = schema.get(LIST_TYPE), schema.get(MAP_KEYS)
    if kind is not None and schema.get("type") != "array":
        _refuse_type(schema, path, f"must be array if {LIST_TYPE} is specified", found)
    if kind not in {None, "atomic", "set", "map"}:
        found.append(causes.not_supported(f"{path}.{LIST_TYPE}", kind, ("atomic", "set", "map")))
    if keys and kind != "map":
        why = f"must be map if {MAP_KEYS} is non-empty"
        where = f"{path}.{LIST_TYPE}"
        found.append(causes.required(where, why) if kind is None else causes.invalid(where, kind, why))
    if kind == "map":
        _check_keys(schema, keys or [], path, found)
    if kind == "set":
        items = schema.get("items") or {}
        for extension, plain in ((LIST_TYPE, "array"), (MAP_TYPE, "object")):
            if items.get("type") == plain and items.get(extension) != "atomic":
                why = f"must be atomic as item of a list with {LIST_TYPE}=set"
                found.append(causes.invalid(f"{path}.items.{extension}", items.get(extension), why))


def _check_keys(schema: Json, keys: list[str], path: str, found: list[Cause]) -> None:
    where = f"{path}.{MAP_KEYS}"
    items = schema.get("items") or {}
    if not keys:
        found.append(causes.required(where, f"must not be empty if {LIST_TYPE} is map"))
    if not items:
        found.append(causes.required(f"{path}.items", f"must have a schema if {LIST_TYPE} is map"))
        return
    if items.get("type") != "object":
        why = f"must be object if parent array's {LIST_TYPE} is map"
        found.append(causes.invalid(f"{path}.items.type", items.get("type", ""), why))
    if len(set(keys)) != len(keys):
        found.append(causes.invalid(where, keys, "must not contain duplicate entries"))
    properties = items.get("properties") or {}
    for key in keys:
        if key not in properties:
            found.append(causes.invalid(where, keys, "entries must all be names of item properties"))
            continue
        field = f"{path}.items.properties[{key}]"
        if properties[key].get("type") in {"array", "object"}:
            why = f"must be a scalar type if parent array's {LIST_TYPE} is map"
            found.append(causes.invalid(f"{field}.type", properties[key]["type"], why))
        if "default" not in properties[key] and key not in items.get("required", ()):
            why = f"this property is in {MAP_KEYS}, so it must have a default or be a required property"
            found.append(causes.required(f"{field}.default", why))


def _check_map(schema: Json, path: str, level: str, found: list[Cause]) -> None:
    kind = schema.get(MAP_TYPE)
    if kind is not None and schema.get("type") != "object":
        _refuse_type(schema, path, f"must be object if {MAP_TYPE} is specified", found)
    if kind not in {None, "atomic", "granular"}:
        found.append(causes.not_supported(f"{path}.{MAP_TYPE}", kind, ("atomic", "granular")))
    if level == "root" and schema.get("additionalProperties"):
        found.append(causes.forbidden(f"{path}.additionalProperties", "must not be used at the root"))
    if level == "root" and schema.get("nullable"):
        found.append(causes.forbidden(f"{path}.nullable", "nullable cannot be true at the root"))


def _check_extensions(schema: Json, path: str, found: list[Cause]) -> None:
    if schema.get(PRESERVE) is False:
        found.append(causes.invalid(f"{path}.{PRESERVE}", value=False, detail="must be true or undefined"))
    if schema.get(INT_OR_STRING):
        for other in (PRESERVE, EMBEDDED):
            if schema.get(other):
                why = f"must be false if {INT_OR_STRING} is true"
                found.append(causes.invalid(f"{path}.{other}", value=True, detail=why))
    if schema.get(EMBEDDED) and not schema.get(PRESERVE) and not schema.get("properties"):
        why = f"must not be empty if {EMBEDDED} is true without {PRESERVE}"
        found.append(causes.required(f"{path}.properties", why))


def _check_metadata(schema: Json, path: str, level: str, found: list[Cause]) -> None:
    if level != "root" and not schema.get(EMBEDDED):
        return
    properties = schema.get("properties") or {}
    for name, kind in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
        actual = properties[name].get("type", "") if name in properties else kind
        if actual != kind:
            found.append(causes.invalid(f"{path}.properties[{name}].type", actual, f"must be {kind}"))
    metadata = dict(properties.get("metadata") or {})
    allowed = {"name", "generateName"}
    extra = set(metadata) - {"type", "description", "properties", "default"}
    if level == "root" and (extra or set(metadata.get("properties") or ()) - allowed):
        why = (
            "must not specify anything other than name and generateName, but metadata is implicitly specified"
        )
        found.append(causes.forbidden(f"{path}.properties[metadata]", why))


def _nested(schema: Json) -> list[tuple[str, Json]]:
    """The conditions of a schema, with where each stands."""
    found = [
        (f"{word}[{index}]", option)
        for word in ("allOf", "anyOf", "oneOf")
        for index, option in enumerate(schema.get(word) or ())
    ]
    return [*found, ("not", schema["not"])] if "not" in schema else found


def _check_conditions(schema: Json, path: str, found: list[Cause], *, outermost: bool) -> None:
    either = outermost and schema.get(INT_OR_STRING)
    for place, option in _nested(schema):
        if either and (schema.get("anyOf") == _BOTH and place.startswith("anyOf")):
            continue
        inner = option
        if either and place == "allOf[0]" and option.get("anyOf") == _BOTH:
            inner = {name: value for name, value in option.items() if name != "anyOf"}
        _check_condition(inner, f"{path}.{place}", found)


def _check_condition(schema: Json, path: str, found: list[Cause]) -> None:
    found.extend(
        causes.forbidden(f"{path}.{name}", why) for name, why in _OUTSIDE.items() if schema.get(name)
    )
    if schema.get("x-kubernetes-validations"):
        found.append(causes.forbidden(f"{path}.x-kubernetes-validations", "must be empty to be structural"))
    _check_pattern(schema, path, found)
    _check_conditions(schema, path, found, outermost=False)
    if isinstance(items := schema.get("items"), dict):
        _check_condition(items, f"{path}.items", found)
    for name, child in (schema.get("properties") or {}).items():
        if name == "metadata":
            why = "must not be specified in a nested context"
            found.append(causes.forbidden(f"{path}.properties[metadata]", why))
        _check_condition(child, f"{path}.properties[{name}]", found)


def _conditions_complete(
    condition: Json, structure: Json | None, condition_path: str, path: str, found: list[Cause]
) -> None:
    """Whatever a condition speaks of must stand in the structure as well."""
    for place, option in _nested(condition):
        _named_outside(option, structure, f"{condition_path}.{place}", path, found)


def _named_outside(
    condition: Json, structure: Json | None, condition_path: str, path: str, found: list[Cause]
) -> None:
    if structure is None:
        found.append(causes.required(path, f"because it is defined in {condition_path}"))
        return
    _conditions_complete(condition, structure, condition_path, path, found)
    if isinstance(items := condition.get("items"), dict):
        _named_outside(items, structure.get("items"), f"{condition_path}.items", f"{path}.items", found)
    for name, child in (condition.get("properties") or {}).items():
        part = f"properties[{name}]"
        below: Any = (structure.get("properties") or {}).get(name)
        _named_outside(child, below, f"{condition_path}.{part}", f"{path}.{part}", found)
