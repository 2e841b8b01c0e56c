"""Protobuf bodies of built-in kinds as JSON trees; some commands of kubectl send nothing else.

Messages are read by the field numbers in `protobuf.json.gz`, which `tools/protobuf_data.py` writes.
Answers are JSON, which every client also accepts.
"""

import base64
import gzip
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from quorate import embedded
from quorate.api.meta import Json
from quorate.embedded import data
from quorate.embedded.errors import bad_request

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_MACHINERY = "k8s.io.apimachinery.pkg."
_TYPE_META = f"{_MACHINERY}runtime.TypeMeta"
_DELETE_OPTIONS = f"{_MACHINERY}apis.meta.v1.DeleteOptions"
_RAW = frozenset({f"{_MACHINERY}runtime.RawExtension", f"{_MACHINERY}apis.meta.v1.FieldsV1"})
_TIMES = {f"{_MACHINERY}apis.meta.v1.Time": 0, f"{_MACHINERY}apis.meta.v1.MicroTime": 6}
_SIGN = 1 << 63


class _Field(NamedTuple):
    name: str
    type: str
    # `*` repeated, `m` map, `^` written into its parent, `z` left out when zero.
    flags: str


class _TruncatedError(Exception):
    """The bytes end inside a value."""


def decode(body: bytes) -> Json:
    """The object in the envelope, with kind and apiVersion; 400 for bytes that are none."""
    if not body.startswith(_MAGIC):
        raise bad_request(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    try:
        envelope = dict(_values(body[len(_MAGIC) :]))
        head = _message(_TYPE_META, envelope.get(1, b""))
        api_version, kind = head.get("apiVersion", ""), head.get("kind", "")
        tree = _message(_name(api_version, kind), envelope.get(2, b""))
    except (_TruncatedError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise bad_request(f"unable to decode protobuf: {error}") from None
    return {"kind": kind, "apiVersion": api_version, **tree}


def _name(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    if kind == "DeleteOptions":
        return _DELETE_OPTIONS
    name = data.definition_name(group, version, kind)
    message = f"k8s.io{name.removeprefix('io.k8s')}" if name else ""
    if message not in _messages():
        raise bad_request(
            f'no kind "{kind}" is registered for version "{api_version}" in protobuf; send JSON'
        )
    return message


@cache
def _messages() -> dict[str, dict[int, _Field]]:
    packed = files(embedded).joinpath("protobuf.json.gz").read_bytes()
    raw: dict[str, dict[str, list[str]]] = msgspec.json.decode(gzip.decompress(packed))
    return {
        name: {int(number): _Field(*field) for number, field in fields.items()}
        for name, fields in raw.items()
    }


def _message(name: str, body: bytes) -> Json:
    fields, tree = _messages()[name], dict[str, Any]()
    for number, value in _values(body):
        field = fields.get(number)
        if field is None:
            continue
        if "m" in field.flags:
            key, item = _map_entry(field.type, value)
            tree.setdefault(field.name, {})[key] = item
        elif "*" in field.flags:
            tree.setdefault(field.name, []).append(_value(field.type, value))
        elif "^" in field.flags:
            tree |= _message(field.type, value)
        else:
            read = _value(field.type, value)
            if read is not None and (read or "z" not in field.flags or isinstance(read, dict)):
                tree[field.name] = read
    return tree


def _map_entry(type_: str, body: bytes) -> tuple[str, Any]:
    parts = dict(_values(body))
    return parts.get(1, b"").decode(), _value(type_, parts.get(2, b""))


def _value(type_: str, value: Any) -> Any:
    match type_:
        case "string":
            return value.decode()
        case "bool":
            return bool(value)
        case "bytes":
            return base64.b64encode(value).decode()
        case "int32" | "int64":
            return value - 2 * _SIGN if value >= _SIGN else value
    return _special(type_, value)


def _special(type_: str, body: bytes) -> Any:
    """Messages that JSON writes in another form than an object."""
    if type_ in _TIMES:
        return _time(_message(type_, body), _TIMES[type_])
    if type_ in _RAW:
        raw = dict(_values(body)).get(1)
        return msgspec.json.decode(raw) if raw else None
    tree = _message(type_, body)
    if type_ == f"{_MACHINERY}api.resource.Quantity":
        return tree.get("string", "0")
    if type_ == f"{_MACHINERY}util.intstr.IntOrString":
        return tree.get("strVal", "") if tree.get("type") else tree.get("intVal", 0)
    fields = _messages()[type_]
    if len(fields) == 1 and fields.get(1) == _Field("items", "string", "*"):
        return tree.get("items", [])
    return tree


def _time(tree: Json, digits: int) -> str | None:
    if not tree:
        return None
    moment = datetime.fromtimestamp(tree.get("seconds", 0), UTC)
    fraction = f".{tree.get('nanos', 0) // 1000:06}" if digits else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def _values(body: bytes) -> list[tuple[int, Any]]:
    """Field numbers and raw values: numbers for varints, bytes for what has a length."""
    found: list[tuple[int, Any]] = []
    position = 0
    while position < len(body):
        tag, position = _varint(body, position)
        match tag & 7:
            case 0:
                value, position = _varint(body, position)
                found.append((tag >> 3, value))
                continue
            case 1:
                length = 8
            case 5:
                length = 4
            case 2:
                length, position = _varint(body, position)
            case wire_type:
                raise _TruncatedError(f"illegal wireType {wire_type}")
        if position + length > len(body):
            raise _TruncatedError("unexpected EOF")
        found.append((tag >> 3, body[position : position + length]))
        position += length
    return found


def _varint(body: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(body):
            raise _TruncatedError("unexpected EOF")
        byte = body[position]
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return value, position
        shift += 7
