"""CustomResourceDefinitions at work: their names accepted, their versions served, their objects cleaned up.

1. A definition serves as soon as it is stored, unless another one has its names.
2. One that is being deleted takes no new objects; it goes when the last of its objects has gone.
"""

import asyncio
from typing import TYPE_CHECKING

from quorate.api.meta import Json
from quorate.embedded import deletion
from quorate.embedded.definitionrules import GROUP, PLURAL
from quorate.embedded.discovery import version_priority
from quorate.embedded.options import DeleteOptions
from quorate.embedded.registry import Resource, Subresource
from quorate.embedded.store import Event, Key
from quorate.embedded.target import Target

if TYPE_CHECKING:
    from quorate.embedded.apiserver import ApiServer

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_SUBRESOURCE_VERBS = ("get", "patch", "update")
_NAMES = (("plural", "Plural"), ("singular", "Singular"), ("kind", "Kind"), ("listKind", "ListKind"))


class Definitions:
    """Keeps a server's registry in step with the definitions in its store."""

    def __init__(self, server: "ApiServer") -> None:
        self._server = server
        # Definitions that wait for their last object, by the resource they define.
        self._leaving: dict[tuple[str, str], Key] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        for definition in server.store.list(GROUP, PLURAL):
            self._serve(definition)
        server.store.on_event(self._take)

    def is_leaving(self, resource: Resource) -> bool:
        return (resource.group, resource.plural) in self._leaving

    def settled(self, definition: Json, now: str) -> Json:
        """The definition with the status that a real server's controllers come to."""
        spec, status = definition["spec"], definition.get("status") or {}
        problem = self._conflict(definition)
        if problem is None:
            accepted = spec["names"]
            names = ("True", "NoConflicts", "no conflicts found")
            established = ("True", "InitialNamesAccepted", "the initial names have been accepted")
        else:
            accepted = status.get("acceptedNames") or {"plural": "", "kind": ""}
            names = ("False", *problem)
            established = ("False", "NotAccepted", "not all names are accepted")
        known = {condition["type"]: condition for condition in status.get("conditions") or ()}
        for type_, state in (("NamesAccepted", names), ("Established", established)):
            if type_ == "Established" and known.get(type_, {}).get("status") == "True":
                continue
            known[type_] = _condition(type_, state, known.get(type_), now)
        stored = list(status.get("storedVersions") or ())
        storage = next(version["name"] for version in spec["versions"] if version["storage"])
        return {
            **definition,
            "metadata": _held(definition["metadata"]),
            "status": {
                **status,
                "acceptedNames": accepted,
                "conditions": list(known.values()),
                "storedVersions": stored if storage in stored else [*stored, storage],
            },
        }

    async def clean_up(self, definition: Json) -> None:
        """Delete the objects of a definition that is being deleted, then let it go."""
        resource = next(iter(_resources(definition, served_only=False)), None)
        if resource is not None:
            for obj in self._server.store.list(resource.group, resource.plural):
                metadata = obj["metadata"]
                target = Target(resource, metadata.get("namespace", ""), metadata["name"])
                await deletion.delete(self._server, target, DeleteOptions(propagation="Background"))
        await self._release(Key(GROUP, PLURAL, "", definition["metadata"]["name"]))

    def _conflict(self, definition: Json) -> tuple[str, str] | None:
        """Reason and message, if another definition of the group has one of the names."""
        name, spec = definition["metadata"]["name"], definition["spec"]
        taken: set[str] = set()
        for other in self._server.store.list(GROUP, PLURAL):
            if other["metadata"]["name"] != name and other["spec"]["group"] == spec["group"]:
                names = (other.get("status") or {}).get("acceptedNames") or {}
                taken |= {names.get(field, "") for field, _ in _NAMES} | set(names.get("shortNames") or ())
        for field, word in _NAMES:
            if spec["names"].get(field) in taken - {""}:
                return f"{word}Conflict", f'"{spec["names"][field]}" is already in use'
        for short in spec["names"].get("shortNames") or ():
            if short in taken:
                return "ShortNamesConflict", f'"{short}" is already in use'
        return None

    def _take(self, event: Event) -> None:
        key = event.key
        if (key.group, key.plural) == (GROUP, PLURAL):
            self._follow(event)
            return
        waiting = self._leaving.get((key.group, key.plural))
        if waiting is not None and not self._server.store.count(key.group, key.plural):
            task = asyncio.ensure_future(self._release(waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _follow(self, event: Event) -> None:
        definition, before = event.object, event.previous
        resource = (definition["spec"]["group"], definition["spec"]["names"]["plural"])
        if event.type == "DELETED":
            self._leaving.pop(resource, None)
            self._server.registry.replace(*resource, ())
            return
        if definition["metadata"].get("deletionTimestamp"):
            self._leaving[resource] = event.key
        if before is None or _served_part(before) != _served_part(definition):
            self._serve(definition)

    def _serve(self, definition: Json) -> None:
        spec = definition["spec"]
        self._server.registry.replace(spec["group"], spec["names"]["plural"], _resources(definition))

    async def _release(self, key: Key) -> None:
        definition = self._server.store.get(key)
        if definition is None or not definition["metadata"].get("deletionTimestamp"):
            return
        spec = definition["spec"]
        if self._server.store.count(spec["group"], spec["names"]["plural"]):
            return
        metadata = definition["metadata"]
        others = [name for name in metadata.get("finalizers") or () if name != CLEANUP]
        self._server.store.update(key, {**definition, "metadata": {**metadata, "finalizers": others}})
        if not others:
            self._server.store.delete(key)
        await self._server.durable()


def _resources(definition: Json, *, served_only: bool = True) -> list[Resource]:
    """The versions of a definition whose names are accepted."""
    spec, status = definition["spec"], definition.get("status") or {}
    states = {condition["type"]: condition["status"] for condition in status.get("conditions") or ()}
    if states.get("Established") != "True":
        return []
    storage = next(version for version in spec["versions"] if version["storage"])
    names = status["acceptedNames"]
    return [
        Resource(
            group=spec["group"],
            version=version["name"],
            kind=names["kind"],
            plural=names["plural"],
            singular=names.get("singular", ""),
            namespaced=spec["scope"] == "Namespaced",
            verbs=_VERBS,
            short_names=tuple(names.get("shortNames") or ()),
            categories=tuple(names.get("categories") or ()),
            subresources=_subresources(spec["group"], version, names["kind"]),
            storage_version=storage["name"],
            schema=version["schema"]["openAPIV3Schema"],
            definition=version,
            storage_schema=storage["schema"]["openAPIV3Schema"],
            list_kind=names.get("listKind", ""),
            warning=_deprecation(spec, version) if version.get("deprecated") else "",
        )
        for version in spec["versions"]
        if version["served"] or not served_only
    ]


def _deprecation(spec: Json, version: Json) -> str:
    """The definition's own words, or the newest version to take instead."""
    if version.get("deprecationWarning") is not None:
        return str(version["deprecationWarning"])
    group, kind = spec["group"], spec["names"]["kind"]
    rank = version_priority(version["name"])
    newer = [
        other["name"]
        for other in spec["versions"]
        if other["served"] and not other.get("deprecated") and version_priority(other["name"]) < rank
    ]
    text = f"{group}/{version['name']} {kind} is deprecated"
    return f"{text}; use {group}/{min(newer, key=version_priority)} {kind}" if newer else text


def _subresources(group: str, version: Json, kind: str) -> tuple[Subresource, ...]:
    wanted = version.get("subresources") or {}
    found = []
    if "status" in wanted:
        found.append(Subresource("status", group, version["name"], kind, _SUBRESOURCE_VERBS))
    if "scale" in wanted:
        found.append(Subresource("scale", "autoscaling", "v1", "Scale", _SUBRESOURCE_VERBS))
    return tuple(found)


def _served_part(definition: Json) -> tuple[object, object]:
    return definition["spec"], (definition.get("status") or {}).get("acceptedNames")


def _held(metadata: Json) -> Json:
    """The metadata with the finalizer that waits for the objects of the definition."""
    finalizers = metadata.get("finalizers") or []
    if CLEANUP in finalizers or metadata.get("deletionTimestamp"):
        return metadata
    return {**metadata, "finalizers": [*finalizers, CLEANUP]}


def _condition(type_: str, state: tuple[str, ...], before: Json | None, now: str) -> Json:
    status, reason, message = state
    changed = before is None or before["status"] != status
    return {
        "type": type_,
        "status": status,
        "lastTransitionTime": now if changed or before is None else before["lastTransitionTime"],
        "reason": reason,
        "message": message,
    }
