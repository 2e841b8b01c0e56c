"""The default scheduler, kept simple: binds pods that ask for it to the first node that fits.

Pods of any other scheduler only count as taken room. A pod that does not fit is tried again when room may
have appeared: a pod ended, a node came or changed.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import msgspec

from quorate.api.meta import Json
from quorate.embedded.builtins.seats import Seats
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.store import Event, Key
from quorate.rules.podresources import PODS
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.binding import claims_of, holds
from quorate.workloads.builtin.conditions import find, put
from quorate.workloads.builtin.firstfit import first_fit
from quorate.workloads.builtin.instants import rfc3339
from quorate.workloads.builtin.nodematch import pinned
from quorate.workloads.builtin.outcome import event as note
from quorate.workloads.builtin.outcome import is_deleting, ref, warning
from quorate.workloads.builtin.pods import is_finished, node_of
from quorate.workloads.builtin.requests import requests

NAME = "default-scheduler"


class DefaultScheduler:
    def __init__(self, world: World, writer: Writer, clock: Clock) -> None:
        self._world = world
        self._writer = writer
        self._clock = clock
        self._seats = Seats()
        self._waiting: dict[Key, None] = {}
        self._hopeless: dict[bytes, str] = {}
        self._next_node = ""
        self.queue: WorkQueue[Key] = WorkQueue(NAME, clock, self._sync)
        world.on(kinds.POD, self._pod_event)
        world.on(kinds.NODE, self._node_event)
        for pod in world.all(kinds.POD):
            self._learn(Key("", "pods", pod["metadata"]["namespace"], pod["metadata"]["name"]), pod)

    def _pod_event(self, event: Event) -> None:
        pod = event.object
        if event.type == "DELETED" or is_finished(pod):
            if self._seats.holds(pod["metadata"]["uid"]):
                self._seats.free(pod["metadata"]["uid"])
                self._retry()
            self._waiting.pop(event.key, None)
        elif event.previous is None or _ask(event.previous) != _ask(pod):
            self._learn(event.key, pod)

    def _learn(self, key: Key, pod: Json) -> None:
        if node_of(pod):
            if not is_finished(pod):
                self._seats.take(pod, node_of(pod))
            self._waiting.pop(key, None)
        elif _is_ours(pod):
            self.queue.add(key)

    def _node_event(self, event: Event) -> None:
        if event.previous is None or _offer(event.previous) != _offer(event.object):
            self._retry()

    def _retry(self) -> None:
        self._hopeless.clear()
        for key in self._waiting:
            self.queue.add(key)

    async def _sync(self, key: Key) -> None:
        pod = self._world.store.get(key)
        if pod is None or node_of(pod) or not _is_ours(pod):
            self._waiting.pop(key, None)
            return
        node, why = self._choose(pod)
        target = ref(kinds.POD, pod)
        if node:
            await self._writer.bind(target, node)
            text = f"Successfully assigned {target.namespace}/{target.name} to {node}"
            await self._writer.emit(note(target, "Scheduled", text))
            return
        self._waiting[key] = None
        await self._refuse(pod, why)

    def _choose(self, pod: Json) -> tuple[str, str]:
        """A node, or why none; what did not fit does not fit again until room has appeared."""
        shape = _shape(pod)
        if shape in self._hopeless:
            return "", self._hopeless[shape]
        wanted = requests(pod["spec"])
        volumes = list(self._volumes(pod))

        def objections(node: Json) -> list[str]:
            if not all(holds(volume, node) for volume in volumes):
                return ["node(s) had volume node affinity conflict"]
            short = self._seats.short_of(wanted, node)
            return ["Too many pods" if name == PODS else f"Insufficient {name}" for name in short]

        node, why = first_fit(pod, self._candidates(pod), objections)
        if node:
            self._next_node = node
        else:
            self._hopeless[shape] = why
        return node, why

    def _volumes(self, pod: Json) -> Iterator[Json]:
        """The volumes behind the pod's bound claims; they may tie it to a node."""
        for name in claims_of(pod):
            claim = self._world.get(kinds.CLAIM, pod["metadata"]["namespace"], name)
            bound = claim["spec"].get("volumeName", "") if claim is not None else ""
            volume = self._world.get(kinds.VOLUME, "", bound) if bound else None
            if volume is not None:
                yield volume

    def _candidates(self, pod: Json) -> Iterable[Json]:
        """From the node chosen last onwards; a daemon names its node, so no other need be asked."""
        name = pinned(pod)
        found = self._world.get(kinds.NODE, "", name) if name else None
        if found is not None:
            return [found]
        nodes = self._world.all(kinds.NODE)
        start = bisect_left(nodes, self._next_node, key=lambda node: node["metadata"]["name"])
        return chain(islice(nodes, start, None), islice(nodes, start))

    async def _refuse(self, pod: Json, why: str) -> None:
        known = find(pod.get("status", {}).get("conditions"), "PodScheduled")
        if known is not None and known.get("message") == why:
            return
        target, at = ref(kinds.POD, pod), rfc3339(self._clock.now())
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}

        def refused(old: Json) -> Json:
            status: Json = old.get("status", {})
            return {**status, "conditions": put(status.get("conditions"), condition, at)}

        await self._writer.revise_status(target, refused)
        await self._writer.emit(warning(target, "FailedScheduling", why))


def _shape(pod: Json) -> bytes:
    """What decides where a pod fits; equal for the pods of one template."""
    spec = pod["spec"]
    names = ("containers", "initContainers", "overhead", "nodeSelector", "affinity", "tolerations", "volumes")
    return msgspec.json.encode([spec.get(name) for name in names])


def _is_ours(pod: Json) -> bool:
    spec = pod["spec"]
    return (
        spec.get("schedulerName", NAME) == NAME and not spec.get("schedulingGates") and not is_deleting(pod)
    )


def _ask(pod: Json) -> tuple[object, ...]:
    return node_of(pod), pod["spec"].get("schedulingGates"), is_deleting(pod)


def _offer(node: Json) -> tuple[object, ...]:
    spec, status = node.get("spec") or {}, node.get("status") or {}
    return (
        node["metadata"].get("labels"),
        spec.get("taints"),
        spec.get("unschedulable"),
        status.get("allocatable"),
    )
