"""Whether an applied configuration fits its shape: unknown fields, wrong types, items without or with equal keys."""

from typing import Any

from quorate.api.meta import Json
from quorate.embedded import fieldset
from quorate.embedded.fieldwalk import element
from quorate.embedded.govalues import go_value
from quorate.embedded.shape import Shape, Sort, list_key

_OBJECTS = frozenset({Sort.STRUCT, Sort.MAP})
_NUMBERS = frozenset({Sort.INTEGER, Sort.NUMBER})
_TEXTS = frozenset({Sort.STRING, Sort.TIME, Sort.MICRO_TIME, Sort.BYTES})


def complaints(shape: Shape, config: Json) -> str:
    """All that is wrong, as the real server prints it; empty if nothing is."""
    found: list[str] = []
    _check(shape, config, "", found)
    return found[0] if len(found) == 1 else "\n  ".join(["errors:", *found]) if found else ""


def _check(shape: Shape, value: Any, path: str, found: list[str]) -> None:
    if value is None:
        return
    if shape.sort in _OBJECTS:
        if not isinstance(value, dict):
            found.append(f"{path}: expected map, got &{{{go_value(value)}}}")
            return
        for name, child in value.items():
            deeper = shape.fields.get(name) or shape.element
            if deeper is None:
                found.append(f"{path}.{name}: field not declared in schema")
            else:
                _check(deeper, child, f"{path}.{name}", found)
    elif shape.sort is Sort.LIST:
        _check_list(shape, value, path, found)
    elif (why := _mismatch(shape, value)) is not None:
        found.append(f"{path}: expected {why}")


def _check_list(shape: Shape, value: Any, path: str, found: list[str]) -> None:
    if not isinstance(value, list):
        found.append(f"{path}: expected list, got &{{{go_value(value)}}}")
        return
    item_shape = shape.child("")
    seen: set[str] = set()
    for index, item in enumerate(value):
        if shape.atomic:
            _check(item_shape, item, f"{path}[{index}]", found)
            continue
        if (why := _no_key(shape, item)) is not None:
            found.append(f"{path}: element {index}: {why}")
            continue
        name = element(shape, item)
        if name in seen:
            found.append(f"{path}: duplicate entries for key {fieldset.printed(name)}")
        seen.add(name)
        _check(item_shape, item, path + fieldset.printed(name), found)


def _no_key(shape: Shape, item: Any) -> str | None:
    """Why an item cannot be told from others."""
    if not shape.keys:
        return "associative list without keys has an element that's no scalar" if _is_compound(item) else None
    if not isinstance(item, dict):
        return "associative list with keys may not have non-map elements"
    if not list_key(shape, item):
        names = " ".join(f'"{key}"' for key in shape.keys)
        return (
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return None


def _is_compound(item: Any) -> bool:
    return item is None or isinstance(item, dict | list)


def _mismatch(shape: Shape, value: Any) -> str | None:
    """What a scalar should have been and what it is, down to the Go syntax of the real server's message."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_text = isinstance(value, str)
    if shape.sort in _NUMBERS and not is_number:
        return f"numeric (int or float), got {_go_type(value)}"
    if shape.sort in _TEXTS and not is_text:
        shown = f"{value}" if is_number else go_value(value)
        return f"string, got &value.valueUnstructured{{Value:{shown}}}"
    if shape.sort is Sort.BOOLEAN and not isinstance(value, bool):
        return f"boolean, got &{{{go_value(value)}}}"
    if shape.sort in {Sort.INT_OR_STRING, Sort.QUANTITY} and not (is_number or is_text):
        return f"any scalar, got &{{{go_value(value)}}}"
    return None


def _go_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "[]interface {}"
        case _:
            return "map[string]interface {}"
