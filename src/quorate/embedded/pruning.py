"""Pruning and defaulting of custom objects by their structural schema; what comes back is a fresh tree.

Checking the values is the next step (schemavalues). Fields that the schema does not know are left out and
reported, nulls that are not allowed give way to the default or go, and defaults are filled in at every depth.
"""

from typing import Any

import msgspec

from quorate.api.meta import Json
from quorate.embedded.typed import WrongTypeError, object_meta

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
META = frozenset({"apiVersion", "kind", "metadata"})
_NOTHING: Json = {}


def settled(schema: Json, whole: Json, complaints: list[str]) -> Json:
    """The object with only known fields and with defaults; complaints name what was left out."""
    found: Json = _object(schema, whole, "", complaints, root=True)
    return found


def _value(schema: Json, value: Any, path: str, complaints: list[str]) -> Any:
    if isinstance(value, dict):
        return _object(schema, value, path, complaints)
    if isinstance(value, list):
        items = schema.get("items") or ({PRESERVE: True} if schema.get(PRESERVE) else _NOTHING)
        return [_item(items, item, f"{path}[{index}]", complaints) for index, item in enumerate(value)]
    if isinstance(value, float) and value.is_integer():
        # 1.0 is stored and shown as 1.
        return int(value)
    return value


def _item(schema: Json, value: Any, path: str, complaints: list[str]) -> Any:
    if value is None and "default" in schema and not schema.get("nullable"):
        value = schema["default"]
    return _value(schema, value, path, complaints)


def _object(schema: Json, value: Json, path: str, complaints: list[str], *, root: bool = False) -> Json:
    properties: dict[str, Json] = schema.get("properties") or _NOTHING
    own_meta = root or schema.get(EMBEDDED)
    found: Json = {}
    for name, child in value.items():
        if own_meta and name in META:
            found[name] = child if root else _own(name, child, path, complaints)
            continue
        below = properties.get(name)
        if below is None:
            below = _unnamed(schema)
        if below is None:
            complaints.append(f'unknown field "{path}.{name}"' if path else f'unknown field "{name}"')
        elif child is not None or below.get("nullable") or below.get(PRESERVE):
            found[name] = _value(below, child, f"{path}.{name}" if path else name, complaints)
        elif "default" in below:
            found[name] = _value(below, below["default"], path, complaints)
    for name, below in properties.items():
        if "default" in below and name not in found:
            found[name] = _value(below, below["default"], path, complaints)
    return found


def _own(name: str, value: Any, path: str, complaints: list[str]) -> Any:
    """The apiVersion, kind or metadata of an embedded object."""
    shown = msgspec.json.encode(value, order="sorted").decode()
    if name != "metadata":
        if not isinstance(value, str):
            raise WrongTypeError(f"{path}.{name}: Invalid value: {shown}: must be a string")
        return value
    if not isinstance(value, dict):
        raise WrongTypeError(f"{path}.metadata: Invalid value: {shown}: must be an object")
    try:
        metadata, unknown = object_meta(value, "")
    except WrongTypeError as error:
        raise WrongTypeError(f"{path}.metadata: Invalid value: {shown}: {error}") from None
    complaints += [complaint.replace('"', f'"{path}.metadata.', 1) for complaint in unknown]
    return metadata


def _unnamed(schema: Json) -> Json | None:
    """The schema of the fields that an object's schema does not name; None if there may be none."""
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        return values
    if schema.get(PRESERVE):
        return {PRESERVE: True}
    return _NOTHING if values is True else None
