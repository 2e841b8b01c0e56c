"""Reading a JSON tree as an object of a built-in kind, with the errors and the normal form of Go's decoding.

`decode` gives back a fresh tree: unknown fields left out and reported; nulls, empty lists and zeros that Go
omits dropped; times and quantities in canonical form; empty structs and zeros that Go writes filled in.
What is required, and which values are allowed, is for validation to say.
"""

import base64
import binascii
import json
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from quorate.api.meta import Json
from quorate.embedded.govalues import json_kind
from quorate.embedded.quantities import canonical
from quorate.embedded.shape import META, Shape, Sort, definition

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)

# How a value got where it is: the way to its parent, its field, index or key, and the Go name of the struct
# that has the field ("" for an index or key).
Way = tuple[Any, str | int, str] | None

_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_MICROSECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)", re.ASCII)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


class WrongTypeError(ValueError):
    """A value of another type than its field; the text is the one of Go's JSON decoder."""


class Decoded(NamedTuple):
    """An object in normal form, and what strict decoding would complain about."""

    object: Json
    complaints: list[str]


def decode(shape: Shape, tree: Json) -> Decoded:
    """The tree as an object of the shape; WrongTypeError if a value does not fit its field."""
    unknown: list[str] = []
    return Decoded(_struct(shape, tree, None, unknown), unknown)


def object_meta(metadata: Any, field: str = "metadata") -> Decoded:
    """The metadata of a custom object, which is typed like everyone's; `field` leads to it in messages."""
    unknown: list[str] = []
    way: Way = (None, field, "v1.Object") if field else None
    if not isinstance(metadata, dict):
        raise _wrong(metadata, definition(META), way)
    return Decoded(_struct(definition(META), metadata, way, unknown), unknown)


def _read(shape: Shape, value: Any, way: Way, unknown: list[str]) -> Any:
    sort = shape.sort
    if sort is Sort.STRING:
        if value.__class__ is str:
            return value
    elif sort is Sort.STRUCT:
        if value.__class__ is dict:
            return _struct(shape, value, way, unknown)
    elif sort is Sort.LIST:
        if value.__class__ is list:
            return _list(shape, value, way, unknown)
    elif sort is Sort.MAP:
        if value.__class__ is dict:
            return _map(shape, value, way, unknown)
    elif sort is Sort.ANY:
        return value
    else:
        return _scalar(shape, value, way)
    raise _wrong(value, shape, way)


def _struct(shape: Shape, value: Json, way: Way, unknown: list[str]) -> Json:
    read: Json = {}
    fields, go = shape.fields, shape.go
    for name, child in value.items():
        field = fields.get(name)
        if field is None:
            unknown.append(f'unknown field "{_path((way, name, go))}"')
        elif child is not None:
            if field.sort is Sort.STRING and child.__class__ is str:
                if child or name not in shape.omitted:
                    read[name] = child
                continue
            found = _read(field, child, (way, name, go), unknown)
            if found or name in shape.standing or not (field.sort in _DROPPED or name in shape.omitted):
                read[name] = found
    for name, default in shape.defaults.items():
        if name not in read:
            field = fields[name]
            read[name] = _struct(field, default, way, unknown) if field.sort is Sort.STRUCT else default
    return read


# Go leaves these out where they are empty; an empty struct behind a pointer stays.
_DROPPED = frozenset({Sort.LIST, Sort.MAP})


def _list(shape: Shape, value: list[Any], way: Way, unknown: list[str]) -> list[Any]:
    element = shape.element
    assert element is not None
    return [_read(element, item, (way, index, ""), unknown) for index, item in enumerate(value)]


def _map(shape: Shape, value: Json, way: Way, unknown: list[str]) -> Json:
    element = shape.element
    assert element is not None
    zero = "" if element.sort is Sort.STRING else None
    return {
        key: zero if item is None else _read(element, item, (way, key, ""), unknown)
        for key, item in value.items()
    }


def _scalar(shape: Shape, value: Any, way: Way) -> Any:  # noqa: PLR0911 - one return for each sort
    kind = value.__class__
    match shape.sort:
        case Sort.INTEGER if kind is int:
            if value in (INT32 if shape.go == "int32" else INT64):
                return value
        case Sort.BOOLEAN if kind is bool:
            return value
        case Sort.NUMBER if kind in {int, float}:
            return value
        case Sort.INT_OR_STRING if kind is str or (kind is int and value in INT32):
            return value
        case Sort.QUANTITY:
            return _quantity(value)
        case Sort.TIME | Sort.MICRO_TIME if kind is str:
            return _time(value, micro=shape.sort is Sort.MICRO_TIME)
        case Sort.BYTES if kind is str:
            return _bytes(value)
    raise _wrong(value, shape, way)


def _quantity(value: Any) -> str:
    try:
        return canonical(value if isinstance(value, str) else msgspec.json.encode(value).decode())
    except ValueError as error:
        raise WrongTypeError(str(error)) from None


def _time(text: str, *, micro: bool) -> str | None:
    if _SECONDS.fullmatch(text) and not micro:
        return text
    if not text:
        return None
    layout = "2006-01-02T15:04:05.000000Z07:00" if micro else "2006-01-02T15:04:05Z07:00"
    rest, part = text, "2006"
    if micro and _RFC3339.fullmatch(text):
        # Go wants exactly the six digits of the layout.
        rest, part = text[19:], ".000000"
    if (_MICROSECONDS if micro else _RFC3339).fullmatch(text):
        try:
            moment = datetime.fromisoformat(text).astimezone(UTC)
        except ValueError:
            pass
        else:
            return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z" if micro else f"{moment:%Y-%m-%dT%H:%M:%S}Z"
    raise WrongTypeError(f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{part}"')


_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def _bytes(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        readable = _BASE64.match(text)
        place = readable.end() if readable else 0
        raise WrongTypeError(f"illegal base64 data at input byte {place}") from None
    return text


def _wrong(value: Any, shape: Shape, way: Way) -> WrongTypeError:
    where = _go_field(way)
    target = f"Go struct field {where}" if where else "Go value"
    return WrongTypeError(f"json: cannot unmarshal {_described(value)} into {target} of type {shape.go}")


def _described(value: Any) -> str:
    kind = json_kind(value)
    if kind == "number" and (isinstance(value, float) or value not in INT32):
        return f"number {msgspec.json.encode(value).decode()}"
    return kind


def _go_field(way: Way) -> str:
    """`DeploymentSpec.spec.replicas`: the innermost struct, then the fields from the root."""
    fields: list[str] = []
    struct = ""
    while way is not None:
        way, part, owner = way
        if owner and isinstance(part, str):
            fields.append(part)
            struct = struct or owner.rpartition(".")[2]
    return ".".join([struct, *reversed(fields)]) if fields else ""


def _path(way: Way) -> str:
    """`spec.containers[0].foo`, as strict decoding names a field."""
    parts: list[str] = []
    while way is not None:
        way, part, _ = way
        parts.append(f"[{part}]" if isinstance(part, int) else f".{part}")
    return "".join(reversed(parts)).removeprefix(".")


class _Repeated(dict[str, Any]):
    """An object of which the text gave some key twice."""

    repeated: list[str]


def duplicates(data: bytes, tree: Any) -> list[str]:
    """Complaints about keys that stand twice in one object of the JSON text, of which `tree` was read."""
    # Each key is followed by a colon, so a text with no more of those than the tree has keys repeats none.
    colon = b":" if b'" :' in data else b'":'
    if data.count(colon) == _keys(tree):
        return []
    found: list[str] = []
    _repetitions(json.loads(data, object_pairs_hook=_object), None, found)
    return found


def _keys(tree: Any) -> int:
    if tree.__class__ is dict:
        return len(tree) + sum(_keys(child) for child in tree.values() if child.__class__ in _CONTAINERS)
    if tree.__class__ is list:
        return sum(_keys(item) for item in tree if item.__class__ in _CONTAINERS)
    return 0


_CONTAINERS: frozenset[object] = frozenset({dict, list})


def _object(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    marked = _Repeated(found)
    names = [name for name, _ in pairs]
    marked.repeated = [name for position, name in enumerate(names) if name in names[:position]]
    return marked


def _repetitions(tree: Any, way: Way, found: list[str]) -> None:
    if isinstance(tree, _Repeated):
        found += [f'duplicate field "{_path((way, name, ""))}"' for name in tree.repeated]
    if isinstance(tree, dict):
        for name, child in tree.items():
            _repetitions(child, (way, name, ""), found)
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            _repetitions(item, (way, index, ""), found)


def refusal(kind: str, version: str, why: str) -> str:
    """The message of the 400 that a body gets which is no object of its kind."""
    return f'{kind} in version "{version}" cannot be handled as a {kind}: {why}'


def strict_refusal(kind: str, version: str, complaints: list[str]) -> str:
    """The message of the 400 that unknown and duplicate fields get under fieldValidation=Strict."""
    return refusal(kind, version, f"strict decoding error: {', '.join(complaints)}")
