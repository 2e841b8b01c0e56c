"""The garbage collector: dependents go when their last owner is gone, as the owner's deletion asks."""

from quorate.api.meta import Json, Kind
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.registry import Registry
from quorate.embedded.store import Event, Key
from quorate.plan import Ref
from quorate.workloads.builtin import ownership
from quorate.workloads.builtin.outcome import is_deleting
from quorate.workloads.builtin.ownership import FOREGROUND, ORPHAN

_SECONDS_PER_DEPENDENT = 50e-6
_SHORT = 0.005


class Collector:
    def __init__(self, world: World, writer: Writer, registry: Registry, clock: Clock) -> None:
        self._world = world
        self._writer = writer
        self._registry = registry
        self._clock = clock
        self.queue: WorkQueue[Key] = WorkQueue("garbage-collector", clock, self._sync)
        world.on_any(self._event)
        for key in tuple(world.live.values()):
            self.queue.add(key)

    def _event(self, event: Event) -> None:
        item, before = event.object, event.previous
        owners = item["metadata"].get("ownerReferences") or ()
        if event.type == "DELETED":
            self._wake_dependents(item)
            for owner in owners:
                self._wake_waiting(owner["uid"])
            return
        if is_deleting(item) and (before is None or before["metadata"] != item["metadata"]):
            self.queue.add(event.key)
            if ownership.waits_for_dependents(item):
                self._wake_dependents(item)
        changed = before is None or before["metadata"].get("ownerReferences") != owners
        if changed and any(owner["uid"] not in self._world.live for owner in owners):
            self.queue.add(event.key)
        if before is not None and changed:
            for owner in before["metadata"].get("ownerReferences") or ():
                self._wake_waiting(owner["uid"])

    def _wake_dependents(self, item: Json) -> None:
        for key in self._world.dependents(item["metadata"]["uid"]):
            self.queue.add(key)

    def _wake_waiting(self, uid: str) -> None:
        """An owner in foreground deletion counts its dependents again."""
        key = self._world.live.get(uid)
        owner = self._world.store.get(key) if key is not None else None
        if key is not None and owner is not None and ownership.waits_for_dependents(owner):
            # Each pass walks the dependents, so with many of them several deletions share one.
            delay = self._world.count_children(uid) * _SECONDS_PER_DEPENDENT
            self.queue.add_at(key, self._clock.now() + (delay if delay > _SHORT else 0))

    async def _sync(self, key: Key) -> None:
        item = self._world.store.get(key)
        if item is None:
            return
        target = self._ref(key, item)
        if ownership.orphans_dependents(item):
            await self._orphan(target, item)
        elif ownership.waits_for_dependents(item):
            await self._foreground(target, item)
        elif not is_deleting(item):
            await self._collect(target, item)

    async def _orphan(self, target: Ref, item: Json) -> None:
        uid = frozenset({item["metadata"]["uid"]})
        for key in self._world.dependents(item["metadata"]["uid"]):
            dependent = self._world.store.get(key)
            if dependent is not None:
                await self._disown(self._ref(key, dependent), dependent, uid)
        kept = ownership.without_finalizer(item, ORPHAN)
        await self._writer.merge(target, {"metadata": {"finalizers": kept}})

    async def _foreground(self, target: Ref, item: Json) -> None:
        uid = item["metadata"]["uid"]
        held = [(key, self._world.store.get(key)) for key in self._world.dependents(uid)]
        dependents = [(key, found) for key, found in held if found is not None]
        if not any(ownership.blocks(found, uid) for _, found in dependents):
            kept = ownership.without_finalizer(item, FOREGROUND)
            await self._writer.merge(target, {"metadata": {"finalizers": kept}})
            return
        for key, found in dependents:
            if not is_deleting(found):
                self.queue.add(key)

    async def _collect(self, target: Ref, item: Json) -> None:
        references = item["metadata"].get("ownerReferences") or ()
        if not references or not all(self._is_served(reference, item) for reference in references):
            return
        has_dependents = bool(self._world.dependents(item["metadata"]["uid"]))
        verdict = ownership.fate(
            item, lambda reference: self._owner(reference, item), has_dependents=has_dependents
        )
        if verdict.propagation:
            await self._writer.delete(target, propagation=verdict.propagation)
        elif verdict.lost_owners:
            await self._disown(target, item, verdict.lost_owners)

    async def _disown(self, target: Ref, item: Json, uids: frozenset[str]) -> None:
        owners = ownership.without_owners(item, uids)
        await self._writer.merge(target, {"metadata": {"ownerReferences": owners}})

    def _owner(self, reference: Json, item: Json) -> Json | None:
        """The live owner; one in another namespace is none."""
        key = self._world.live.get(reference["uid"])
        if key is None or key.namespace not in {"", item["metadata"].get("namespace", "")}:
            return None
        return self._world.store.get(key)

    def _is_served(self, reference: Json, item: Json) -> bool:
        """An owner of an unknown kind, or a namespaced owner of a cluster-wide object, proves nothing."""
        group, _, version = reference["apiVersion"].rpartition("/")
        resource = self._registry.find_kind(group, version, reference["kind"])
        if resource is None:
            return False
        return not resource.namespaced or bool(item["metadata"].get("namespace"))

    def _ref(self, key: Key, item: Json) -> Ref:
        group, _, version = item["apiVersion"].rpartition("/")
        kind = Kind(group, version, item["kind"], key.plural, namespaced=bool(key.namespace))
        return Ref(kind=kind, name=key.name, namespace=key.namespace, uid=item["metadata"]["uid"])
