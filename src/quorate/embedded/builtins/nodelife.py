"""Node lifecycle: lost nodes turn NotReady and are tainted, and their pods leave when toleration ends.

Pods bound to a node that no longer exists are removed for good: no kubelet will ever confirm their end.
"""

from quorate.api.meta import Json
from quorate.embedded.builtins.heartbeats import NAMESPACE
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.store import Event, Key
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.conditions import find, is_true, put
from quorate.workloads.builtin.instants import epoch, rfc3339
from quorate.workloads.builtin.nodehealth import evict_at, judge
from quorate.workloads.builtin.outcome import is_deleting, ref, warning
from quorate.workloads.builtin.pods import is_finished, is_ready, node_of

_CHECK_SECONDS = 5.0
_ORPHAN_SECONDS = 40.0  # a node may be on its way back for this long before its pods are forgotten


class NodeLife:
    def __init__(self, world: World, writer: Writer, clock: Clock) -> None:
        self._world = world
        self._writer = writer
        self._clock = clock
        # Heartbeats missed while no process ran are nobody's fault.
        self._since = clock.now()
        self.nodes: WorkQueue[str] = WorkQueue("node-lifecycle-controller", clock, self._sync_node)
        self.pods: WorkQueue[Key] = WorkQueue("taint-eviction-controller", clock, self._sync_pod)
        world.on(kinds.NODE, self._node_event)
        world.on(kinds.POD, self._pod_event)
        for node in world.all(kinds.NODE):
            self.nodes.add(node["metadata"]["name"])
        for pod in world.all(kinds.POD):
            self.pods.add(_key(pod))
        clock.call_later(_CHECK_SECONDS, self._check)

    def _node_event(self, event: Event) -> None:
        if event.type == "DELETED":
            for pod in self._world.pods_on(event.key.name):
                self.pods.add_at(_key(pod), self._clock.now() + _ORPHAN_SECONDS)
            return
        self.nodes.add(event.key.name)
        if _taints(event.previous) != _taints(event.object):
            for pod in self._world.pods_on(event.key.name):
                self.pods.add(_key(pod))

    def _pod_event(self, event: Event) -> None:
        """Only a pod that lands on a tainted or missing node concerns us."""
        if event.type == "DELETED" or not node_of(event.object):
            return
        if event.previous is not None and node_of(event.previous):
            return
        node = self._world.get(kinds.NODE, "", node_of(event.object))
        if node is None:
            self.pods.add_at(event.key, self._clock.now() + _ORPHAN_SECONDS)
        elif _taints(node):
            self.pods.add(event.key)

    def _check(self) -> None:
        """One walk over the leases; only nodes whose lease is old are looked at."""
        now = self._clock.now()
        for node in self._world.all(kinds.NODE):
            name = node["metadata"]["name"]
            if now - self._renewed_at(name) > _CHECK_SECONDS * 5 or _taints(node):
                self.nodes.add(name)
        self._clock.call_later(_CHECK_SECONDS, self._check)

    def _renewed_at(self, node: str) -> float:
        lease = self._world.get(kinds.LEASE, NAMESPACE, node)
        return max(epoch(lease["spec"].get("renewTime")), self._since) if lease is not None else self._since

    async def _sync_node(self, name: str) -> None:
        node = self._world.get(kinds.NODE, "", name)
        if node is None:
            return
        verdict, target = judge(node, self._renewed_at(name), self._clock.now()), ref(kinds.NODE, node)
        if verdict.conditions is not None:
            await self._writer.set_status(target, {**node["status"], "conditions": verdict.conditions})
            await self._writer.emit(
                warning(target, "NodeNotReady", f"Node {name} status is now: NodeNotReady")
            )
            await self._mark_unready(name)
        if verdict.taints != (node.get("spec", {}).get("taints") or []):
            await self._writer.merge(target, {"spec": {"taints": verdict.taints or None}})

    async def _mark_unready(self, name: str) -> None:
        at = rfc3339(self._clock.now())
        for pod in self._world.pods_on(name):
            if is_ready(pod):
                await self._writer.revise_status(ref(kinds.POD, pod), lambda old: _unready(old, at))

    async def _sync_pod(self, key: Key) -> float | None:
        pod = self._world.store.get(key)
        if pod is None or not node_of(pod):
            return None
        node = self._world.get(kinds.NODE, "", node_of(pod))
        if node is None:
            await self._forget(pod)
            return None
        if is_deleting(pod) or is_finished(pod):
            return None
        due = evict_at(pod, _taints(node), self._clock.now())
        if due is None or due > self._clock.now():
            return due
        await self._evict(pod)
        return None

    async def _evict(self, pod: Json) -> None:
        target, at = ref(kinds.POD, pod), rfc3339(self._clock.now())
        note = _disrupted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
        await self._writer.revise_status(target, lambda old: _with_condition(old, note, at))
        await self._writer.emit(
            warning(
                target, "TaintManagerEviction", f"Marking for deletion Pod {target.namespace}/{target.name}"
            )
        )
        await self._writer.delete(target)

    async def _forget(self, pod: Json) -> None:
        target, at = ref(kinds.POD, pod), rfc3339(self._clock.now())
        note = _disrupted("DeletionByPodGC", "PodGC: node no longer exists")
        if not is_finished(pod):
            await self._writer.revise_status(
                target, lambda old: {**_with_condition(old, note, at), "phase": "Failed"}
            )
        await self._writer.delete(target, grace=0)


def _key(pod: Json) -> Key:
    return Key("", "pods", pod["metadata"]["namespace"], pod["metadata"]["name"])


def _taints(node: Json | None) -> list[Json]:
    taints: list[Json] = ((node or {}).get("spec") or {}).get("taints") or []
    return taints


def _disrupted(reason: str, message: str) -> Json:
    return {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}


def _with_condition(pod: Json, note: Json, at: str) -> Json:
    status: Json = pod.get("status", {})
    return {**status, "conditions": put(status.get("conditions"), note, at)}


def _unready(pod: Json, at: str) -> Json:
    if (
        not is_true(pod["status"].get("conditions"), "Ready")
        or find(pod["status"]["conditions"], "Ready") is None
    ):
        return dict(pod["status"])
    return _with_condition(pod, {"type": "Ready", "status": "False", "reason": "NodeNotReady"}, at)
