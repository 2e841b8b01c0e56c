"""Which fields a value has, and which fields differ between two values: the sets that ownership is made of.

Both follow the shape of the kind, so that an item of an associative list is known by its keys, and an atomic
list or map is one field. `managedfields` combines what comes back here.
"""

from typing import Any

from quorate.api.meta import Json
from quorate.embedded import fieldset
from quorate.embedded.shape import Shape, Sort, list_key

_ABSENT: Any = object()
_OBJECTS = frozenset({Sort.STRUCT, Sort.MAP, Sort.ANY})


def element(shape: Shape, item: Any) -> str:
    """The path element of an item of an associative list."""
    if shape.keys and isinstance(item, dict):
        return fieldset.key_element(list_key(shape, item))
    return fieldset.value_element(item)


def applied(shape: Shape, value: Json) -> Json:
    """The fields that a configuration names, and so claims."""
    claimed: Json = {}
    for name, child in value.items():
        deeper = shape.child(name)
        below = _claims(deeper, child)
        if below is None:
            claimed[f"f:{name}"] = {}
        elif child is None or child == {} or name not in shape.fields:
            claimed[f"f:{name}"] = {fieldset.SELF: {}, **below} if below else {}
        elif below:
            claimed[f"f:{name}"] = below
    return claimed


def _claims(shape: Shape, value: Any) -> Json | None:
    """What is claimed below a value; None says that the value is one field."""
    if isinstance(value, dict) and shape.sort in _OBJECTS and not shape.atomic:
        return applied(shape, value)
    if isinstance(value, list) and shape.sort is Sort.LIST and not shape.atomic:
        return _claimed_items(shape, value)
    if value is None and not shape.atomic and shape.sort in _OBJECTS | {Sort.LIST}:
        return {}
    return None


def _claimed_items(shape: Shape, items: list[Any]) -> Json:
    claimed: Json = {}
    for item in items:
        name = element(shape, item)
        below = None if name in claimed or shape.element is None else _claims(shape.element, item)
        claimed[name] = {fieldset.SELF: {}, **below} if below else {}
    return claimed


def present(shape: Shape, value: Any) -> Json:
    """A whole value that is new or gone: each object and item on the way counts as a field itself."""
    if isinstance(value, dict):
        if not value or shape.atomic or shape.sort not in _OBJECTS:
            return {}
        below: Json = {fieldset.SELF: {}}
        fields, fallback = shape.fields, shape.element
        for name, child in value.items():
            deeper = fields.get(name) or fallback
            if deeper is None or child.__class__ not in _CONTAINERS:
                below["f:" + name] = {}
            else:
                below["f:" + name] = present(deeper, child)
        return below
    if isinstance(value, list) and value and not shape.atomic and shape.sort is Sort.LIST:
        below = {fieldset.SELF: {}}
        for item in value:
            name = element(shape, item)
            below[name] = {} if name in below or shape.element is None else present(shape.element, item)
        return below
    return {}


_CONTAINERS: frozenset[object] = frozenset({dict, list})


def created(shape: Shape, value: Json) -> Json:
    """The fields that creating an object adds to the empty object of its kind."""
    return compare(shape, {}, value)[0]


def _enter_whole(parent: Shape, name: str, value: Any, found: Json) -> None:
    """Enter a field that is new or gone."""
    if name not in parent.standing:
        container = value.__class__ in _CONTAINERS
        found[f"f:{name}"] = present(parent.child(name), value) if container else {}
        return
    # Written even when empty, so it was and stays there: only what differs from empty is new or gone.
    if not value or value == parent.defaults.get(name):
        return
    shape = parent.child(name)
    if shape.sort is Sort.STRUCT and not shape.atomic:
        if below := created(shape, value):
            found[f"f:{name}"] = below
        return
    whole = present(shape, value) if value.__class__ in _CONTAINERS else {}
    found[f"f:{name}"] = {part: below for part, below in whole.items() if part != fieldset.SELF}


def compare(shape: Shape, old: Json, new: Json) -> tuple[Json, Json]:
    """Fields added or modified, and fields removed, from one object to the next."""
    touched: Json = {}
    removed: Json = {}
    for name, was in old.items():
        if name not in new:
            _enter_whole(shape, name, was, removed)
    for name, now in new.items():
        was = old.get(name, _ABSENT)
        if was is _ABSENT:
            _enter_whole(shape, name, now, touched)
        elif was is not now and was != now:
            _differ(shape.child(name), (was, now), f"f:{name}", (touched, removed))
    return touched, removed


def _differ(shape: Shape, pair: tuple[Any, Any], name: str, found: tuple[Json, Json]) -> None:
    """Enter the difference of a pair of unequal values under its name."""
    was, now = pair
    touched, removed = found
    inner: tuple[Json, Json] | None = None
    if not shape.atomic and (was or now):
        if shape.sort in _OBJECTS and _both(was, now, dict):
            inner = compare(shape, was or {}, now or {})
        elif shape.sort is Sort.LIST and _both(was, now, list):
            inner = _compare_items(shape, was or [], now or [])
    if inner is None:
        touched[name] = {}
        return
    if inner[0]:
        touched[name] = inner[0]
    if inner[1]:
        removed[name] = inner[1]


def _both(was: Any, now: Any, kind: type) -> bool:
    """Whether both are of the kind; null stands for an empty one."""
    return all(value is None or isinstance(value, kind) for value in (was, now))


def _compare_items(shape: Shape, old: list[Any], new: list[Any]) -> tuple[Json, Json]:
    touched: Json = {}
    removed: Json = {}
    before, after = _by_element(shape, old), _by_element(shape, new)
    item_shape = shape.child("")
    for name, was in before.items():
        if name not in after:
            removed[name] = present(item_shape, was[0]) if len(was) == 1 else {}
    for name, now in after.items():
        was = before.get(name, [])
        if was == now:
            continue
        if len(was) == 1 and len(now) == 1:
            _differ(item_shape, (was[0], now[0]), name, (touched, removed))
            continue
        if len(was) > 1 and len(now) == 1:
            removed[name] = {}
        touched[name] = present(item_shape, now[0]) if len(now) == 1 else {}
    return touched, removed


def _by_element(shape: Shape, items: list[Any]) -> dict[str, list[Any]]:
    """Items by their path element: more than one where keys are not unique."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(element(shape, item), []).append(item)
    return found
