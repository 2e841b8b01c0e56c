"""Strategic merge patch: a merge patch that knows which lists have keys, for built-in kinds.

Directives in the patch: `$patch` (replace, delete, merge), `$retainKeys`, `$deleteFromPrimitiveList/<field>`
and `$setElementOrder/<field>`. The shape of the kind says which lists merge and by which key.
"""

from typing import Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded.govalues import go_value, json_kind
from quorate.embedded.patch import MalformedPatchError, UnmergeableError
from quorate.embedded.shape import GRANULAR, Merge, Shape

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"
_REPLACED = Merge(frozenset(), "")


class _Lists(NamedTuple):
    """What one field's patch says about a merging list: its items and the directives beside them."""

    items: list[Any]
    deleted: list[Any]
    order: list[Any] | None


def strategic_merge(shape: Shape, original: Any, patch: Any) -> Any:
    """The original after the patch; neither is changed."""
    if not isinstance(patch, dict):
        kind = json_kind(patch)
        raise MalformedPatchError(
            f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        )
    return _merge_object(shape, original if isinstance(original, dict) else {}, patch)


def _merge_object(shape: Shape, original: Json, patch: Json) -> Json:
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {name: _plain(value) for name, value in patch.items() if name != _PATCH}
    if directive == "delete":
        return {}
    if directive is not None:
        raise UnmergeableError(f"unknown patch type: {directive} in map: {go_value(patch)}")
    merged = _retained(original, patch)
    for name, value in patch.items():
        if name.startswith("$"):
            continue
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge_field(shape, name, merged.get(name), patch)
    for directive in (_DELETE_FROM, _ORDER):
        for name in [key.removeprefix(directive) for key in patch if key.startswith(directive)]:
            if name not in patch and isinstance(merged.get(name), list):
                merged[name] = _merge_field(shape, name, merged[name], {name: [], **patch})
    return merged


def _retained(original: Json, patch: Json) -> Json:
    retained = patch.get(_RETAIN)
    if retained is None:
        return dict(original)
    fields = [name for name in patch if not name.startswith("$")]
    if not isinstance(retained, list) or any(name not in retained for name in fields):
        raise MalformedPatchError("invalid patch format of retainKeys")
    return {name: value for name, value in original.items() if name in retained}


def _merge_field(shape: Shape, name: str, original: Any, patch: Json) -> Any:
    value = patch[name]
    merge = shape.merges.get(name, _REPLACED)
    child = shape.child(name)
    if isinstance(value, dict):
        replaced = "replace" in merge.strategies or not isinstance(original, dict)
        return _plain(value) if replaced else _merge_object(child, original, value)
    if not isinstance(value, list):
        return value
    if "merge" not in merge.strategies:
        return _plain(value)
    lists = _Lists(value, _listed(patch, _DELETE_FROM + name) or [], _listed(patch, _ORDER + name))
    before = original if isinstance(original, list) else []
    if merge.key:
        return _merge_items(child.element or GRANULAR, before, lists, merge.key)
    return _merge_values(before, lists)


def _listed(patch: Json, directive: str) -> list[Any] | None:
    found = patch.get(directive)
    if found is not None and not isinstance(found, list):
        raise MalformedPatchError(f"{directive} must be a list")
    return found


def _merge_values(before: list[Any], lists: _Lists) -> list[Any]:
    merged = [value for value in before if value not in lists.deleted]
    for value in lists.items:
        if value not in merged:
            merged.append(value)
    order = lists.items if lists.order is None else lists.order
    return _ordered(merged, before, [value for value in order if value in merged])


def _merge_items(shape: Shape, before: list[Any], lists: _Lists, key: str) -> list[Any]:
    patches = [item for item in lists.items if isinstance(item, dict)]
    if len(patches) != len(lists.items):
        raise UnmergeableError(
            "list element types are not identical: items of a list with keys must be objects"
        )
    if any(item == {_PATCH: "replace"} for item in patches):
        return [_plain(item) for item in patches if _PATCH not in item]
    merged = {_key_of(item, key): item for item in before}
    for item in patches:
        value = _key_of(item, key)
        if item.get(_PATCH) == "delete":
            merged.pop(value, None)
        else:
            merged[value] = _merge_object(shape, merged.get(value, {}), item)
    # Without an order of its own, the patch is one: what is new stands where the patch has it.
    order = lists.items if lists.order is None else lists.order
    wanted = [value for item in order if (value := _key_of(item, key)) in merged]
    originally = [_key_of(item, key) for item in before]
    return [merged[value] for value in _ordered(list(merged), originally, wanted)]


def _key_of(item: Any, key: str) -> Any:
    if not isinstance(item, dict) or key not in item:
        raise UnmergeableError(f"map: {go_value(item)} does not contain declared merge key: {key}")
    return item[key]


def _ordered(all_of: list[Any], before: list[Any], wanted: list[Any]) -> list[Any]:
    """The wanted ones in their order; each other stays in front of those that it stood in front of."""
    rest = [value for value in all_of if value not in wanted]
    ordered: list[Any] = []
    for value in wanted:
        while rest and value in before and rest[0] in before and before.index(rest[0]) < before.index(value):
            ordered.append(rest.pop(0))
        ordered.append(value)
    return ordered + rest


def _plain(value: Any) -> Any:
    """A value of the patch that meets nothing to merge with: without nulls and directives."""
    if isinstance(value, dict):
        return {name: _plain(v) for name, v in value.items() if v is not None and not name.startswith("$")}
    if isinstance(value, list):
        return [
            _plain(item) for item in value if not (isinstance(item, dict) and item.get(_PATCH) == "delete")
        ]
    return value
