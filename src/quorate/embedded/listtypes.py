"""Uniqueness in the lists of custom objects: items of a set, keys of a list of maps."""

from typing import Any

import msgspec

from quorate.api.meta import Json
from quorate.embedded import causes
from quorate.embedded.causes import Cause

_encode = msgspec.json.Encoder(order="sorted").encode


def check_lists(schema: Json, value: Any, path: str = "") -> list[Cause]:
    """One cause for each item that stands in a list a second time."""
    found: list[Cause] = []
    if isinstance(value, dict):
        properties: dict[str, Json] = schema.get("properties") or {}
        values = schema.get("additionalProperties")
        for name, child in value.items():
            if name in properties:
                found += check_lists(properties[name], child, f"{path}.{name}" if path else name)
            elif isinstance(values, dict):
                found += check_lists(values, child, f"{path}[{name}]")
    elif isinstance(value, list):
        found += _duplicates(schema, value, path)
        for index, item in enumerate(value):
            found += check_lists(schema.get("items") or {}, item, f"{path}[{index}]")
    return found


def _duplicates(schema: Json, items: list[Any], path: str) -> list[Cause]:
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        compared = items
    elif kind == "map":
        for index, item in enumerate(items):
            if item is not None and not isinstance(item, dict):
                return [
                    causes.invalid(
                        f"{path}[{index}]", item, "must be an object for an array of list-type map"
                    )
                ]
        keys = schema.get("x-kubernetes-list-map-keys", ())
        compared = [{key: item[key] for key in keys if key in item} for item in (i or {} for i in items)]
    else:
        return []
    found: list[Cause] = []
    seen: dict[bytes, int] = {}
    for index, item in enumerate(compared):
        text = _encode(item)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            found.append(causes.duplicate(f"{path}[{index}]", item))
    return found
