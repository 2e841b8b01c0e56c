"""Workloads for tests of the grouper: objects written short, and the grouping of their pods."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.grouping.defaults import KindDefaults
from quorate.grouping.grouper import Gang, Grouping, group
from quorate.grouping.objects import Unreadable, group_of
from quorate.grouping.subject import Context, Settings

NAMESPACE = "team"
CLASSES = frozenset({"train", "build", "inference", "high"})
Key = tuple[str, str, str, str]


def thing(api_version: str, kind: str, name: str, /, owner: Json | None = None, **fields: Any) -> Json:
    """Any object; `labels` and `annotations` go to its metadata, everything else beside it."""
    metadata: Json = {"name": name, "namespace": NAMESPACE, "uid": uid(kind, name)}
    metadata |= {key: fields.pop(key) for key in ("labels", "annotations") if key in fields}
    if owner is not None:
        metadata["ownerReferences"] = [reference(owner)]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def uid(kind: str, name: str) -> str:
    return f"u{hashlib.sha256(f'{kind}/{name}'.encode()).hexdigest()[:7]}"


def reference(owner: Json) -> Json:
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }


def pod(name: str, owner: Json | None = None, **fields: Any) -> Pod:
    spec = {"schedulerName": "quorate", **fields.pop("spec", {})}
    return msgspec.convert(thing("v1", "Pod", name, owner, spec=spec, **fields), Pod)


class Known(Mapping[Key, Json | Unreadable]):
    """The objects a test names; anything else is absent, kinds in `forbidden` may not be read."""

    def __init__(self, objects: tuple[Json, ...], forbidden: frozenset[str]) -> None:
        self._objects = {_key(found): found for found in objects}
        self._forbidden = forbidden

    def __getitem__(self, key: Key) -> Json | Unreadable:
        if key[1] in self._forbidden:
            return Unreadable.FORBIDDEN
        return self._objects.get(key, Unreadable.ABSENT)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)


def _key(found: Json) -> Key:
    meta = found["metadata"]
    return (group_of(found["apiVersion"]), found["kind"], meta["namespace"], meta["name"])


def context(
    *objects: Json,
    forbidden: frozenset[str] = frozenset(),
    defaults: KindDefaults | None = None,
    settings: Settings | None = None,
) -> Context:
    return Context(Known(objects, forbidden), CLASSES, settings or Settings(), defaults or KindDefaults())


def grouped(pods: list[Pod], *objects: Json) -> Grouping:
    return group(pods, context(*objects))


def only_gang(pods: list[Pod], *objects: Json) -> Gang:
    """The one gang that the pods form, with nobody refused."""
    found = grouped(pods, *objects)
    assert [warned.message for warned in found.warnings if warned.is_refusal] == []
    assert len(found.gangs) == 1, [gang.name for gang in found.gangs]
    return found.gangs[0]


def tree(gang: Gang) -> list[tuple[str, str | None, int | None]]:
    """The groups of a gang as (name, parent, minimum of its members or of its children)."""
    return [
        (each["name"], each.get("parent"), each.get("minMember", each.get("minSubGroup")))
        for each in gang.body["spec"].get("subGroups", ())
    ]


def places(gang: Gang) -> dict[str, str]:
    """The group of each member by the pod's name."""
    return {member.metadata.name: group_name for member, group_name in gang.members}


def refusals(found: Grouping) -> list[str]:
    return [warned.message for warned in found.warnings if warned.is_refusal]


def warnings(found: Grouping) -> list[str]:
    return [warned.message for warned in found.warnings if not warned.is_refusal]
