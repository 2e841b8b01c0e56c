"""Sets of field paths, kept in the very form of metadata.managedFields: the FieldsV1 trie.

A set is a JSON object; each key is a path element, `f:name`, `k:{"key":"value"}`, `v:"value"` or `i:3`, and
each value the set below it. An element belongs to the set itself if its value is empty or holds ".".
All functions return new tries, which may share branches with their arguments; no argument is changed.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from quorate.api.meta import Json

SELF = "."

_encode = msgspec.json.Encoder(order="sorted").encode


class MalformedFields(ValueError):  # noqa: N818 - named after what the caller sent
    """A fieldsV1 that no server wrote."""


def key_element(keys: Json) -> str:
    """The path element of an item of a list of maps."""
    return f"k:{_encode(keys).decode()}"


def value_element(value: Any) -> str:
    """The path element of an item of a set."""
    return f"v:{_encode(value).decode()}"


def decode(fields: Any) -> Json:
    """A trie received from a client, with its keys brought into the one form used here."""
    if not isinstance(fields, dict):
        raise MalformedFields(f"fieldsV1 must be an object, not {fields!r}")
    return {_element(name): decode(below) for name, below in fields.items()}


def _element(name: str) -> str:
    kind, content = name[:2], name[2:]
    if name == SELF or kind == "f:":
        return name
    try:
        if kind == "i:":
            return f"i:{int(content)}"
        if kind in {"k:", "v:"}:
            return kind + _encode(msgspec.json.decode(content)).decode()
    except (msgspec.DecodeError, ValueError):
        raise MalformedFields(f"unreadable path element {name!r} in fieldsV1") from None
    raise MalformedFields(f"unknown path element {name!r} in fieldsV1: it must start with f:, k:, v: or i:")


def is_member(below: Json) -> bool:
    """Whether the element with this branch belongs to the set, not just elements below it."""
    return not below or SELF in below


def union(left: Json, right: Json) -> Json:
    if left is right or not right:
        return left
    if not left:
        return right
    merged = dict(left)
    for name, below in right.items():
        merged[name] = _join(left[name], below) if name in left else below
    return merged


def _join(left: Json, right: Json) -> Json:
    if left is right:
        return left
    below = union(left, right)
    if below and SELF not in below and (is_member(left) or is_member(right)):
        return {SELF: {}, **below}
    return below


def intersection(left: Json, right: Json) -> Json:
    """The elements that belong to both sets."""
    found: Json = {}
    for name, below in left.items():
        if name == SELF or (other := right.get(name)) is None:
            continue
        kept = intersection(below, other)
        _put(found, name, kept, member=is_member(below) and is_member(other))
    return found


def difference(left: Json, right: Json) -> Json:
    """The elements of `left` that do not belong to `right`; fields below a removed element stay."""
    if not right:
        return left
    found: Json = {}
    for name, below in left.items():
        other = right.get(name)
        if name == SELF:
            continue
        if other is None:
            found[name] = below
            continue
        kept = difference(_children(below), other)
        _put(found, name, kept, member=is_member(below) and not is_member(other))
    return found


def recursive_difference(left: Json, right: Json) -> Json:
    """The elements of `left` that neither belong to `right` nor lie below an element of it."""
    found: Json = {}
    for name, below in left.items():
        other = right.get(name)
        if name == SELF:
            continue
        if other is None:
            found[name] = below
        elif not is_member(other):
            kept = recursive_difference(_children(below), other)
            _put(found, name, kept, member=is_member(below))
    return found


def _children(below: Json) -> Json:
    return {name: deeper for name, deeper in below.items() if name != SELF} if SELF in below else below


def _put(found: Json, name: str, below: Json, *, member: bool) -> None:
    if member:
        found[name] = {SELF: {}, **below} if below else {}
    elif below:
        found[name] = below


def paths(fields: Json, prefix: str = "") -> Iterator[str]:
    """The members as a real server prints them: `.spec.containers[name="a"].image`, parents first."""
    names = sorted(name for name in fields if name != SELF)
    for name in names:
        if is_member(fields[name]):
            yield prefix + printed(name)
    for name in names:
        yield from paths(fields[name], prefix + printed(name))


def printed(element: str) -> str:
    kind, content = element[:2], element[2:]
    if kind == "f:":
        return f".{content}"
    if kind == "k:":
        keys: Json = msgspec.json.decode(content)
        return "[" + ",".join(f"{name}={_encode(keys[name]).decode()}" for name in sorted(keys)) + "]"
    return f"[={content}]" if kind == "v:" else f"[{content}]"
