"""Conditions of an object's status: find one, set one, with Kubernetes' rule for transition times."""

from collections.abc import Iterable

from quorate.api.meta import Json


def find(conditions: Iterable[Json] | None, kind: str) -> Json | None:
    return next((item for item in conditions or () if item["type"] == kind), None)


def is_true(conditions: Iterable[Json] | None, kind: str) -> bool:
    found = find(conditions, kind)
    return found is not None and found.get("status") == "True"


def put(conditions: Iterable[Json] | None, new: Json, at: str) -> list[Json]:
    """The conditions with `new` in place; its transition time moves only when its status does."""
    items = list(conditions or ())
    for place, item in enumerate(items):
        if item["type"] == new["type"]:
            same = item.get("status") == new["status"]
            items[place] = {
                **item,
                **new,
                "lastTransitionTime": item.get("lastTransitionTime", at) if same else at,
            }
            return items
    return [*items, {"lastTransitionTime": at, **new}]


def without(conditions: Iterable[Json] | None, kind: str) -> list[Json]:
    return [item for item in conditions or () if item["type"] != kind]
