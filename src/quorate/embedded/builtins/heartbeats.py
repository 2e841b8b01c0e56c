"""Heartbeats of the fake nodes: one timer renews a share of the Leases each second and repairs Ready."""

from quorate.api.meta import Json
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.kubelet import has_kubelet
from quorate.embedded.store import Event
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.conditions import is_true
from quorate.workloads.builtin.instants import rfc3339_micro
from quorate.workloads.builtin.nodehealth import healthy
from quorate.workloads.builtin.outcome import ref

NAMESPACE = "kube-node-lease"
PERIOD_SECONDS = 20


class Heartbeats:
    def __init__(self, world: World, writer: Writer, clock: Clock) -> None:
        self._world = world
        self._writer = writer
        self._clock = clock
        self._turn = 0
        self.queue: WorkQueue[str] = WorkQueue("heartbeat", clock, self._beat)
        world.on(kinds.NODE, self._node_event)
        for node in world.all(kinds.NODE):
            self.queue.add(node["metadata"]["name"])
        clock.call_later(1.0, self._tick)

    def _node_event(self, event: Event) -> None:
        before = event.previous
        if event.type == "ADDED" or (before is not None and has_kubelet(before) != has_kubelet(event.object)):
            self.queue.add(event.key.name)

    def _tick(self) -> None:
        """Each second every twentieth node, so that no second is busy."""
        self._turn = (self._turn + 1) % PERIOD_SECONDS
        for place, node in enumerate(self._world.all(kinds.NODE)):
            if place % PERIOD_SECONDS == self._turn:
                self.queue.add(node["metadata"]["name"])
        self._clock.call_later(1.0, self._tick)

    async def _beat(self, name: str) -> None:
        node = self._world.get(kinds.NODE, "", name)
        if node is None or not has_kubelet(node):
            return
        await self._renew(node)
        if not is_true(node.get("status", {}).get("conditions"), "Ready"):
            now = self._clock.now()
            await self._writer.revise_status(ref(kinds.NODE, node), lambda old: _reported(old, now))

    async def _renew(self, node: Json) -> None:
        name, at = node["metadata"]["name"], rfc3339_micro(self._clock.now())
        lease = self._world.get(kinds.LEASE, NAMESPACE, name)
        if lease is not None:
            await self._writer.merge(ref(kinds.LEASE, lease), {"spec": {"renewTime": at}})
            return
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
        meta = {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]}
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "acquireTime": at, "renewTime": at}
        await self._writer.ensure(kinds.LEASE, {"metadata": meta, "spec": spec})


def _reported(node: Json, now: float) -> Json:
    status: Json = node.get("status", {})
    return {**status, "conditions": healthy(status.get("conditions") or [], now)}
