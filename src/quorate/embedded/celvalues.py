"""Values of custom objects as CEL sees them: names escaped, and numbers, times and bytes typed by the schema.

A converter exists only for a schema that needs one; None means that values go to CEL as they are.
"""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from quorate.api.meta import Json
from quorate.embedded.cel import located

Converter = Callable[[Any], Any]

_RESERVED = frozenset(
    {
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
    }
    | {"let", "loop", "package", "namespace", "return", "var", "void", "while"}
)
_ESCAPES = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")


# All that rules see of an object's metadata, whatever its schema says.
_OBJECT_METADATA: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
}
_ACCESS = re.compile(r"(?<![\w.])self((?:\.\w+(?!\w|\s*\())+)")


def undefined_field(schema: Json, source: str) -> None:
    """Refuse an expression that reads a field of self which the schema does not have, or one of a scalar."""
    bare = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", lambda text: " " * len(text[0]), source)
    for access in _ACCESS.finditer(bare):
        node: Any = schema
        for part in re.finditer(r"\.(\w+)", access[1]):
            place, scalar = access.start(1) + part.start(), _scalar(node)
            if scalar:
                raise located(source, place, f"type '{scalar}' does not support field selection")
            below = _field_schema(node, part[1])
            if below is None:
                raise located(source, place, f"undefined field '{part[1]}'")
            node = below


def _scalar(schema: Json) -> str:
    """What CEL calls the type of a schema that has no fields; nothing if it may have some."""
    return "" if schema.get("format") else _SCALARS.get(schema.get("type", ""), "")


_SCALARS = {"integer": "int", "number": "double", "boolean": "bool", "string": "string"}


def _field_schema(schema: Json, name: str) -> Json | None:
    """The schema of a field by its escaped name; an empty one where anything goes, None where there is none."""
    properties: dict[str, Json] = schema.get("properties") or {}
    if name == "metadata" and "apiVersion" in properties:
        return _OBJECT_METADATA
    found = next((child for field, child in properties.items() if escaped(field) == name), None)
    if found is not None:
        return found
    is_open = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if is_open or schema.get("type") != "object" or name in {"apiVersion", "kind", "metadata"}:
        return {}
    return None


def escaped(name: str) -> str:
    """A property's name as an expression must write it: `namespace` is `__namespace__`, `a-b` is `a__dash__b`."""
    if name in _RESERVED:
        return f"__{name}__"
    for character, replacement in _ESCAPES:
        name = name.replace(character, replacement)
    return name


def _duration(text: str) -> timedelta:
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _DURATION_PART.findall(text))
    return timedelta(seconds=-seconds if text.startswith("-") else seconds)


_TEXTS: dict[str, Converter] = {
    "date-time": datetime.fromisoformat,
    "datetime": datetime.fromisoformat,
    "duration": _duration,
    "byte": base64.b64decode,
}


def converter(schema: Json) -> Converter | None:
    """What makes a CEL value of a value of this schema."""
    if schema.get("x-kubernetes-int-or-string"):
        return None
    match schema.get("type"):
        case "number":
            return lambda value: float(value) if isinstance(value, int | float) else value
        case "string":
            parse = _TEXTS.get(schema.get("format", ""))
            return None if parse is None else (lambda value: _parsed(parse, value))
        case "array":
            return _of_items(converter(schema.get("items") or {}))
        case "object":
            return _of_object(schema)
        case _:
            return None


def _parsed(parse: Converter, value: Any) -> Any:
    try:
        return parse(value)
    except (ValueError, TypeError, binascii.Error):
        return value


def _of_items(each: Converter | None) -> Converter | None:
    if each is None:
        return None
    return lambda value: [each(item) for item in value] if isinstance(value, list) else value


def _of_object(schema: Json) -> Converter | None:
    properties: dict[str, Json] = schema.get("properties") or {}
    renamed = {name: escaped(name) for name in properties if escaped(name) != name}
    converters = {name: each for name, child in properties.items() if (each := converter(child)) is not None}
    values = schema.get("additionalProperties")
    rest = converter(values) if isinstance(values, dict) else None
    if not (renamed or converters or rest):
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        found = {}
        for name, child in value.items():
            each = converters.get(name, rest)
            found[renamed.get(name, name)] = child if each is None else each(child)
        return found

    return convert
