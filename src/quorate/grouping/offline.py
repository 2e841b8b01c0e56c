"""Group the objects of files, without a cluster: what the grouper would make of them.

Workloads of which the files have no pods get the pods that they would have. Objects without a uid get one
made from their name, and other objects that grouping asks for count as absent.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import msgspec

from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.api.shipped import priority_classes
from quorate.grouping.errors import GroupingError
from quorate.grouping.grouper import Gang, Warned, group
from quorate.grouping.objects import Unreadable, group_of
from quorate.grouping.owners import walk
from quorate.grouping.registry import TABLE
from quorate.grouping.samples import expand, pods_of
from quorate.grouping.subject import Context
from quorate.grouping.toplevel import WRAPPERS

Key = tuple[str, str, str, str]


class Answer(NamedTuple):
    """`ungrouped` are the workloads of the files that have no pods, by kind and name."""

    gangs: tuple[Gang, ...]
    warnings: tuple[Warned, ...]
    ungrouped: tuple[str, ...]


class UnreadableError(ValueError):
    """A document that is no object; the message says which and why."""


class Known(Mapping[Key, Json | Unreadable]):
    """The objects of the files; everything else is absent."""

    def __init__(self, objects: Iterable[Json]) -> None:
        self._objects = {key_of(found): found for found in objects}

    def __getitem__(self, key: Key) -> Json | Unreadable:
        return self._objects.get(key, Unreadable.ABSENT)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)


def group_objects(documents: Iterable[Json], context: Context) -> Answer:
    """Group everything; the context's own objects are not asked."""
    objects = [_identified(each) for document in documents for each in expand(_checked(document))]
    owned = {(owner.get("kind"), owner.get("name")) for each in objects for owner in _owners(each)}
    tops = [each for each in objects if (each["kind"], each["metadata"]["name"]) not in owned]
    made = [_identified(pod) for each in tops if each["kind"] != "Pod" for pod in pods_of(each)]
    pods = [_pod(each) for each in (*objects, *made) if each["kind"] == "Pod"]
    context = replace(
        context, objects=Known(objects), priority_classes=context.priority_classes | _classes(objects)
    )
    found = [group(workload, context) for workload in _workloads(pods, context)]
    bare = {pod.metadata.uid for pod in pods}
    used = {owner.uid for pod in pods for owner in pod.metadata.owner_references or ()}
    return Answer(
        tuple(gang for each in found for gang in each.gangs),
        (*_foreign(pods, context), *(warned for each in found for warned in each.warnings)),
        tuple(
            f"{each['kind']} {each['metadata']['name']}"
            for each in tops
            if _is_workload(each, context) and each["metadata"]["uid"] not in {*used, *bare}
        ),
    )


def _workloads(pods: Iterable[Pod], context: Context) -> list[list[Pod]]:
    """The pods by top owner; one whose owners cannot be followed stands alone, and is told so."""
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        try:
            top = walk(pod, context.objects).top
        except GroupingError:
            top = None
        found.setdefault(top.uid if top else pod.metadata.uid, []).append(pod)
    return list(found.values())


def _foreign(pods: Iterable[Pod], context: Context) -> Iterator[Warned]:
    """One warning for each template whose pods are left to another scheduler."""
    told = set()
    for pod in pods:
        name = pod.spec.scheduler_name
        owner = pod.metadata.controller
        if name in context.settings.scheduler_names or (name, owner) in told:
            continue
        told.add((name, owner))
        ours = " or ".join(sorted(context.settings.scheduler_names))
        yield Warned(pod, f"spec.schedulerName is {name!r}: write {ours} to have it grouped", is_refusal=True)


def _is_workload(each: Json, context: Context) -> bool:
    kind = (group_of(each["apiVersion"]), each["kind"])
    return kind in TABLE or kind in WRAPPERS or kind in context.settings.extensions.kinds


def _checked(document: Json) -> Json:
    metadata = document.get("metadata")
    for field in ("apiVersion", "kind"):
        if not isinstance(document.get(field), str):
            raise UnreadableError(f"{field} is missing: an object begins with apiVersion and kind")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise UnreadableError(f"metadata.name of {document['kind']} is missing: give it a name")
    return document


def _identified(document: Json) -> Json:
    """The object with a namespace and a uid."""
    meta = document["metadata"]
    owners = [
        {**owner, "uid": owner.get("uid") or _uid(owner.get("kind"), owner.get("name"))}
        for owner in _owners(document)
    ]
    found = {
        **meta,
        "uid": meta.get("uid") or _uid(document["kind"], meta["name"]),
        "namespace": meta.get("namespace") or "default",
    }
    return {**document, "metadata": {**found, **({"ownerReferences": owners} if owners else {})}}


def _uid(kind: object, name: object) -> str:
    return hashlib.sha256(f"{kind}/{name}".encode()).hexdigest()[:8]


def _owners(document: Json) -> list[Json]:
    found = document["metadata"].get("ownerReferences")
    return [owner for owner in found if isinstance(owner, dict)] if isinstance(found, list) else []


def _classes(objects: Iterable[Json]) -> frozenset[str]:
    """Those we ship, and those of the files."""
    found = [*priority_classes(), *(each for each in objects if each["kind"] == "PriorityClass")]
    return frozenset(each["metadata"]["name"] for each in found)


def _pod(document: Json) -> Pod:
    try:
        return msgspec.convert(document, Pod)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"Pod {document['metadata']['name']}: {error}") from error


def key_of(found: Json) -> Key:
    meta = found["metadata"]
    return (group_of(found["apiVersion"]), found["kind"], meta["namespace"], meta["name"])
