"""JSON patch (RFC 6902) and JSON merge patch (RFC 7386) on plain JSON trees, for the patch verb.

No argument is changed; what a patch does not touch is shared between the old tree and the new one.

    PatchError
      MalformedPatchError   the document is no patch: 400
      PatchFailedError      it does not fit the object: 422
      UnmergeableError      a strategic merge patch that contradicts the schema: 500, as on a real server
"""

from collections.abc import Callable
from typing import Any

import msgspec

from quorate.api.meta import Json
from quorate.embedded.govalues import json_kind

# The real server's limit.
MOST_OPERATIONS = 10_000


class PatchError(Exception):
    """A patch that cannot be applied."""


class MalformedPatchError(PatchError):
    """The document is not a patch of its type."""


class PatchFailedError(PatchError):
    """The patch does not fit the object it is for."""


class UnmergeableError(PatchError):
    """A strategic merge patch whose lists or directives make no sense for the kind."""


def merge_patch(original: Json, patch: Any) -> Json:
    """The original after a merge patch: objects merge, null removes, everything else replaces."""
    if not isinstance(patch, dict):
        raise MalformedPatchError(
            f"error decoding patch: json: cannot unmarshal {json_kind(patch)} "
            "into Go value of type map[string]interface {}"
        )
    return _merged(original, patch)


def _merged(original: Any, patch: Json) -> Json:
    merged = dict(original) if isinstance(original, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = _merged(merged.get(name), value)
        else:
            merged[name] = value
    return merged


def json_patch(original: Any, operations: Any) -> Any:
    """The original after each operation in turn; the first that fails refuses them all."""
    if not isinstance(operations, list) or not all(isinstance(operation, dict) for operation in operations):
        kind = json_kind(operations) if not isinstance(operations, list) else "list item"
        raise MalformedPatchError(
            f"error decoding patch: json: cannot unmarshal {kind} into Go value of type []handlers.jsonPatchOp"
        )
    if len(operations) > MOST_OPERATIONS:
        raise MalformedPatchError(
            f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(operations)}"
        )
    document = original
    for operation in operations:
        document = _operate(document, operation)
    return document


def _operate(document: Any, operation: Json) -> Any:
    verb = operation.get("op")
    if not isinstance(verb, str) or verb not in _OPERATIONS:
        raise PatchFailedError(f"Unexpected kind: {verb if isinstance(verb, str) else 'unknown'}")
    return _OPERATIONS[verb](document, operation)


def _pointer(operation: Json, member: str) -> list[str]:
    path = operation.get(member)
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise PatchFailedError(
            f'{operation["op"]} operation needs "{member}", a JSON pointer, not {_shown(path)}'
        )
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _add(document: Any, operation: Json) -> Any:
    return _put(document, _pointer(operation, "path"), operation.get("value"), operation)


def _remove(document: Any, operation: Json) -> Any:
    return _take(document, _pointer(operation, "path"), operation)


def _replace(document: Any, operation: Json) -> Any:
    path, value = _pointer(operation, "path"), operation.get("value")
    if not path:
        return value
    _get(document, path, operation)
    return _edit(document, path, operation, lambda parent, key: _set(parent, key, value))


def _move(document: Any, operation: Json) -> Any:
    source, target = _pointer(operation, "from"), _pointer(operation, "path")
    if target[: len(source)] == source and target != source:
        raise PatchFailedError(
            f"move operation does not apply: {operation['path']} lies in {operation['from']}"
        )
    value = _get(document, source, operation)
    return _put(_take(document, source, operation), target, value, operation)


def _copy(document: Any, operation: Json) -> Any:
    value = _get(document, _pointer(operation, "from"), operation)
    return _put(document, _pointer(operation, "path"), value, operation)


def _test(document: Any, operation: Json) -> Any:
    path, wanted = _pointer(operation, "path"), operation.get("value")
    try:
        found = _get(document, path, operation)
    except PatchFailedError:
        if wanted is not None:
            raise
        found = None
    if found != wanted or isinstance(found, bool) != isinstance(wanted, bool):
        raise PatchFailedError(f"testing value {operation['path']} failed: test failed")
    return document


_OPERATIONS: dict[str, Callable[[Any, Json], Any]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _missing(operation: Json, path: list[str]) -> PatchFailedError:
    pointer = "/" + "/".join(path)
    return PatchFailedError(
        f'{operation["op"]} operation does not apply: doc is missing path: "{pointer}": missing value'
    )


def _index(items: list[Any], key: str, operation: Json, *, past_end: bool = False) -> int:
    if not key.removeprefix("-").isdigit() or (key.startswith("0") and key != "0"):
        raise PatchFailedError(f'{operation["op"]} operation does not apply: "{key}" is no index of a list')
    # As the real server, count from the end where the index is negative.
    index = int(key) + (len(items) + past_end if key.startswith("-") else 0)
    if not 0 <= index < len(items) + past_end:
        raise PatchFailedError(
            f"{operation['op']} operation does not apply: "
            f"Unable to access invalid index: {key}: invalid index referenced"
        )
    return index


def _get(document: Any, path: list[str], operation: Json) -> Any:
    found = document
    for position, key in enumerate(path):
        if isinstance(found, list):
            found = found[_index(found, key, operation)]
        elif isinstance(found, dict) and key in found:
            found = found[key]
        else:
            raise _missing(operation, path[: position + 1])
    return found


def _edit(document: Any, path: list[str], operation: Json, change: Callable[[Any, str], Any]) -> Any:
    """A copy of the document in which `change` has made another parent of the path's last part."""
    if len(path) == 1:
        if not isinstance(document, dict | list):
            raise _missing(operation, path)
        return change(document, path[0])
    child = _get(document, path[:1], operation)
    changed = _edit(child, path[1:], operation, change)
    return _set(document, path[0], changed, operation)


def _set(parent: Any, key: str, value: Any, operation: Json | None = None) -> Any:
    if isinstance(parent, dict):
        return {**parent, key: value}
    index = _index(parent, key, operation or {"op": "replace"})
    return [*parent[:index], value, *parent[index + 1 :]]


def _put(document: Any, path: list[str], value: Any, operation: Json) -> Any:
    if not path:
        return value

    def insert(parent: Any, key: str) -> Any:
        if isinstance(parent, dict):
            return {**parent, key: value}
        index = len(parent) if key == "-" else _index(parent, key, operation, past_end=True)
        return [*parent[:index], value, *parent[index:]]

    return _edit(document, path, operation, insert)


def _take(document: Any, path: list[str], operation: Json) -> Any:
    if not path:
        return None
    _get(document, path, operation)

    def drop(parent: Any, key: str) -> Any:
        if isinstance(parent, dict):
            return {name: value for name, value in parent.items() if name != key}
        index = _index(parent, key, operation)
        return [*parent[:index], *parent[index + 1 :]]

    return _edit(document, path, operation, drop)


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()
