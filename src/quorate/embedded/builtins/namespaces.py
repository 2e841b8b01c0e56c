"""Life cycle of namespaces: what each is born with, and the emptying of one that is deleted."""

from collections.abc import Iterator

from quorate.api.meta import Json, Kind
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.registry import Registry
from quorate.embedded.store import Event
from quorate.plan import Ref
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.conditions import put
from quorate.workloads.builtin.instants import rfc3339
from quorate.workloads.builtin.outcome import is_deleting, ref

_ROOT_NOTE = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as "
    "the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
    "Kubernetes clusters."
)
_GATHER_SECONDS = 0.2
_RESOURCES_LAST = {"pods"}  # their owners go first, or they would be made again


class Namespaces:
    def __init__(
        self, world: World, writer: Writer, registry: Registry, clock: Clock, *, root_ca: str
    ) -> None:
        self._world = world
        self._writer = writer
        self._registry = registry
        self._clock = clock
        self._root_ca = root_ca
        self.queue: WorkQueue[str] = WorkQueue("namespace-controller", clock, self._sync)
        world.on(kinds.NAMESPACE, lambda event: self.queue.add(event.key.name))
        world.on(kinds.SERVICE_ACCOUNT, self._content_event)
        world.on(kinds.CONFIG_MAP, self._content_event)
        world.on_any(self._any_event)
        for item in world.all(kinds.NAMESPACE):
            self.queue.add(item["metadata"]["name"])

    def _content_event(self, event: Event) -> None:
        """The objects every namespace has are made again when somebody deletes them."""
        if event.type == "DELETED" and event.key.name in {"default", "kube-root-ca.crt"}:
            self.queue.add(event.key.namespace)

    def _any_event(self, event: Event) -> None:
        if event.type != "DELETED" or not event.key.namespace:
            return
        namespace = self._world.get(kinds.NAMESPACE, "", event.key.namespace)
        if namespace is not None and is_deleting(namespace):
            # Each pass lists what is left, so the deletions of a while share one.
            self.queue.add_at(event.key.namespace, self._clock.now() + _GATHER_SECONDS)

    async def _sync(self, name: str) -> None:
        item = self._world.get(kinds.NAMESPACE, "", name)
        if item is None:
            return
        if is_deleting(item):
            await self._empty(item)
            return
        named = {"namespace": name}
        if self._world.get(kinds.SERVICE_ACCOUNT, name, "default") is None:
            await self._writer.ensure(kinds.SERVICE_ACCOUNT, {"metadata": {"name": "default", **named}})
        if self._world.get(kinds.CONFIG_MAP, name, "kube-root-ca.crt") is None:
            meta = {
                "name": "kube-root-ca.crt",
                **named,
                "annotations": {"kubernetes.io/description": _ROOT_NOTE},
            }
            await self._writer.ensure(kinds.CONFIG_MAP, {"metadata": meta, "data": {"ca.crt": self._root_ca}})

    async def _empty(self, item: Json) -> None:
        name = item["metadata"]["name"]
        for target, found in list(self._contents(name)):
            if not is_deleting(found):
                await self._writer.delete(target)
        left = list(self._contents(name))
        if left:
            await self._report(item, left)
        elif "kubernetes" in (item["spec"].get("finalizers") or ()):
            kept = [held for held in item["spec"]["finalizers"] if held != "kubernetes"]
            await self._writer.merge(
                ref(kinds.NAMESPACE, item), {"spec": {"finalizers": kept or None}}, "finalize"
            )
            if not kept:
                await self._writer.delete(ref(kinds.NAMESPACE, item), propagation=None)

    def _contents(self, name: str) -> Iterator[tuple[Ref, Json]]:
        store = self._world.store
        for group, plural in sorted(store.resources(), key=lambda found: found[1] in _RESOURCES_LAST):
            resource = self._registry.any_version(group, plural)
            if resource is None or not resource.namespaced:
                continue
            kind = Kind(resource.group, resource.version, resource.kind, plural)
            for item in store.list(group, plural, name):
                yield ref(kind, item), item

    async def _report(self, item: Json, left: list[tuple[Ref, Json]]) -> None:
        """Why the namespace is still there, in the words of `kubectl describe`."""
        counts: dict[str, int] = {}
        held: dict[str, int] = {}
        for target, found in left:
            counts[target.kind.resource] = counts.get(target.kind.resource, 0) + 1
            for finalizer in found["metadata"].get("finalizers") or ():
                held[finalizer] = held.get(finalizer, 0) + 1
        conditions = item.get("status", {}).get("conditions")
        shown = ", ".join(f"{kind}. has {count} resource instances" for kind, count in sorted(counts.items()))
        at = rfc3339(self._clock.now())
        note = {"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain"}
        conditions = put(conditions, {**note, "message": f"Some resources are remaining: {shown}"}, at)
        if held:
            shown = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(held.items()))
            note = {
                "type": "NamespaceFinalizersRemaining",
                "status": "True",
                "reason": "SomeFinalizersRemain",
            }
            text = f"Some content in the namespace has finalizers remaining: {shown}"
            conditions = put(conditions, {**note, "message": text}, at)
        status = {**item.get("status", {}), "conditions": conditions}
        if status != item.get("status"):
            await self._writer.set_status(ref(kinds.NAMESPACE, item), status)
