"""Merging a configuration into an object, and taking fields out of one, by shape: the moves of apply."""

from typing import Any

from quorate.api.meta import Json
from quorate.embedded import fieldset
from quorate.embedded.fieldwalk import applied, element
from quorate.embedded.shape import GRANULAR, Shape, Sort

_OBJECTS = frozenset({Sort.STRUCT, Sort.MAP, Sort.ANY})


def merge(shape: Shape, live: Any, config: Any) -> Any:
    """The live value with everything that the configuration says; neither is changed."""
    if not shape.atomic:
        if isinstance(live, dict) and isinstance(config, dict) and shape.sort in _OBJECTS:
            merged = dict(live)
            for name, value in config.items():
                merged[name] = merge(shape.child(name), live[name], value) if name in live else value
            return merged
        if isinstance(live, list) and isinstance(config, list) and shape.sort is Sort.LIST:
            return _merge_items(shape, live, config)
        if config is None and live and isinstance(live, dict | list):
            return live  # an object or list is not emptied by null; a single value becomes null, then its default
    return config


def _merge_items(shape: Shape, live: list[Any], config: list[Any]) -> list[Any]:
    """Items in the configuration's order; others keep their place before the next one that it names."""
    old = [(element(shape, item), item) for item in live]
    known = dict(old)
    new = {element(shape, item): item for item in config}
    item_shape = shape.element or GRANULAR
    merged: list[Any] = []
    done: set[str] = set()
    position = 0
    for name, item in new.items():
        while position < len(old) and (old[position][0] not in new or old[position][0] in done):
            if old[position][0] not in new:
                merged.append(old[position][1])
            position += 1
        merged.append(merge(item_shape, known[name], item) if name in known else item)
        done.add(name)
    merged.extend(item for name, item in old[position:] if name not in new)
    return merged


_GONE: Any = object()


def remove(shape: Shape, value: Any, fields: Json, *, hollow: bool = False) -> Any:
    """The value without the members of the set.

    An object or list that loses everything stays as an empty one, or as None if `hollow`, which tells it from
    one that was empty before.
    """
    if not fields or not value or shape.atomic:
        return value
    if isinstance(value, dict) and shape.sort in _OBJECTS:
        kept = {}
        for name, child in value.items():
            left = _without(shape.child(name), child, fields.get(f"f:{name}"), hollow=hollow)
            if left is not _GONE:
                kept[name] = left
        return kept or (None if hollow else {})
    if isinstance(value, list) and shape.sort is Sort.LIST:
        item_shape = shape.element or GRANULAR
        items = [_without(item_shape, i, fields.get(element(shape, i)), hollow=hollow) for i in value]
        return [item for item in items if item is not _GONE] or (None if hollow else [])
    return value


def _without(shape: Shape, value: Any, fields: Json | None, *, hollow: bool) -> Any:
    if fields is None:
        return value
    return _GONE if fieldset.is_member(fields) else remove(shape, value, fields, hollow=hollow)


def with_parents(shape: Shape, fields: Json) -> Json:
    """The set plus the named fields above its members, so that removal takes what it empties."""
    found: Json = {}
    for name, below in fields.items():
        if name == fieldset.SELF or not below:
            found[name] = below
            continue
        deeper = _descend(shape, name)
        inner = with_parents(deeper, below)
        named = name.startswith("f:") and name[2:] in shape.fields
        found[name] = {fieldset.SELF: {}, **inner} if named else inner
    return found


def _descend(shape: Shape, name: str) -> Shape:
    return shape.child(name[2:]) if name.startswith("f:") else (shape.element or GRANULAR)


def prune(shape: Shape, merged: Json, last: Json, owned: list[Json]) -> Json:
    """The merged object without what was applied last time, is not applied now, and nobody owns."""
    before = with_parents(shape, last)
    pruned: Json = remove(shape, merged, before, hollow=True) or {}
    if pruned == merged:
        return merged
    whole = with_parents(shape, applied(shape, merged))
    kept = with_parents(shape, applied(shape, pruned))
    for fields in owned:
        kept = fieldset.union(kept, with_parents(shape, fields))
    pruned = remove(shape, merged, fieldset.difference(whole, kept), hollow=True) or {}
    left = with_parents(shape, applied(shape, pruned))
    gone = fieldset.intersection(fieldset.difference(whole, left), before)
    result: Json = remove(shape, merged, gone)
    return result
