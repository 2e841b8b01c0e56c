"""All kubelets of the cluster in one object: bound pods start, get ready, end, restart and stop on the clock.

Each pass over a pod looks at what is stored and at when it was bound, started or told to stop, writes at
most one status, and says when to look again. A running pod costs nothing until something is due. `nodes.py`
makes the nodes and their heartbeats; how a pod behaves is in its annotations (`fakery`).
"""

from dataclasses import dataclass
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded.builtins.podaddresses import PodAddresses
from quorate.embedded.builtins.seats import Seats
from quorate.embedded.builtins.workqueue import WorkQueue
from quorate.embedded.builtins.world import World
from quorate.embedded.builtins.writer import Writer
from quorate.embedded.clock import Clock
from quorate.embedded.store import Event, Key
from quorate.plan import Ref
from quorate.workloads.builtin import kinds, outcome, podstatus
from quorate.workloads.builtin.fakery import DOWN, Behaviour, behaviour
from quorate.workloads.builtin.instants import epoch
from quorate.workloads.builtin.outcome import is_deleting
from quorate.workloads.builtin.pods import is_finished, is_ready, node_of, restarts
from quorate.workloads.builtin.requests import requests

START_SECONDS = 0.5
_SHOWN_START = 1.0  # a start at least this slow is worth showing as ContainerCreating
_FIRST_BACK_OFF, _LONGEST_BACK_OFF = 10.0, 300.0


class Refusal(NamedTuple):
    """Why a node did not take a pod."""

    reason: str
    message: str


@dataclass(slots=True)
class _Run:
    """What the store does not tell to the fraction of a second, and what is asked on each pass."""

    behaviour: Behaviour
    bound_at: float
    refusal: Refusal | None = None
    started_at: float | None = None
    restart_at: float | None = None
    stop_at: float | None = None


class Kubelets:
    def __init__(
        self, world: World, writer: Writer, clock: Clock, *, start_seconds: float = START_SECONDS
    ) -> None:
        self._world = world
        self._writer = writer
        self._clock = clock
        self._start_seconds = start_seconds
        self._runs: dict[str, _Run] = {}
        self._seats = Seats()
        self._addresses = PodAddresses(world)
        self.queue: WorkQueue[Key] = WorkQueue("kubelet", clock, self._sync)
        world.on(kinds.POD, self._pod_event)
        world.on(kinds.NODE, self._node_event)
        for pod in world.all(kinds.POD):
            self._notice(_key(pod), pod)

    async def set_down(self, node: str, *, down: bool) -> None:
        """Lose a node (its pods freeze and its heartbeats stop) or bring it back."""
        body = {"metadata": {"annotations": {DOWN: "true" if down else None}}}
        await self._writer.merge(Ref(kind=kinds.NODE, name=node), body)

    def is_down(self, node: str) -> bool:
        found = self._world.get(kinds.NODE, "", node)
        return found is None or not has_kubelet(found)

    def _pod_event(self, event: Event) -> None:
        if event.type == "DELETED":
            self._forget(event.object)
            return
        if event.previous is not None and _is_echo(event.previous, event.object):
            return
        self._notice(event.key, event.object)

    def _node_event(self, event: Event) -> None:
        """A node that comes (back) goes on with its pods."""
        comes = event.previous is None or not has_kubelet(event.previous)
        if comes and has_kubelet(event.object):
            for pod in self._world.pods_on(event.key.name):
                self._notice(_key(pod), pod)

    def _notice(self, key: Key, pod: Json) -> None:
        node, uid = node_of(pod), pod["metadata"]["uid"]
        if not node:
            return
        if is_finished(pod):
            self._forget(pod)
            if is_deleting(pod):
                self.queue.add(key)
            return
        if uid not in self._runs:
            found = self._world.get(kinds.NODE, "", node)
            if found is not None and not _has_registered(found):
                return
            self._admit(pod, node)
        self.queue.add(key)

    def _admit(self, pod: Json, node: str) -> None:
        """Decide at the instant of binding whether there is room, so that the last pod in is refused."""
        uid = pod["metadata"]["uid"]
        run = self._runs[uid] = _Run(behaviour(pod, self._start_seconds), self._clock.now())
        if pod.get("status", {}).get("startTime"):
            run.started_at = _started(pod)  # admitted by an earlier process
        else:
            found = self._world.get(kinds.NODE, "", node)
            short = self._seats.short_of(requests(pod["spec"]), found) if found is not None else []
            if short and found is not None:
                run.refusal = self._refusal(pod, found, short[0])
                return
        self._seats.take(pod, node)

    def _forget(self, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        self._runs.pop(uid, None)
        self._seats.free(uid)
        self._addresses.free(uid)

    async def _sync(self, key: Key) -> float | None:
        pod = self._world.store.get(key)
        if pod is None or not node_of(pod) or self.is_down(node_of(pod)):
            return None
        run = self._runs.get(pod["metadata"]["uid"])
        if is_deleting(pod):
            return await self._stop(pod, run)
        if run is None or is_finished(pod):
            return None
        if run.refusal is not None:
            await self._reject(pod, run.refusal)
            return None
        if run.started_at is None:
            return await self._start(pod, run)
        return await self._go_on(pod, run)

    def _refusal(self, pod: Json, node: Json, resource: str) -> Refusal:
        unit = 1 if resource == "cpu" else 1000  # a kubelet tells processors in thousandths
        wanted = requests(pod["spec"])[resource] // unit
        used = self._seats.used(node_of(pod), resource) // unit
        capacity = self._seats.offered(node, resource) // unit
        numbers = f"requested: {wanted}, used: {used}, capacity: {capacity}"
        text = f"Pod was rejected: Node didn't have enough resource: {resource}, {numbers}"
        return Refusal(f"OutOf{resource}", text)

    async def _reject(self, pod: Json, refusal: Refusal) -> None:
        now = self._clock.now()
        await self._writer.emit(outcome.warning(outcome.ref(kinds.POD, pod), *refusal))
        await self._revise(pod, lambda old: podstatus.rejected(old, *refusal, now))

    async def _start(self, pod: Json, run: _Run) -> float | None:
        now, due = self._clock.now(), run.bound_at + run.behaviour.start
        for text in run.behaviour.complaints if now <= run.bound_at else ():
            await self._writer.emit(outcome.warning(outcome.ref(kinds.POD, pod), "InvalidAnnotation", text))
        if now < due:
            if run.behaviour.start >= _SHOWN_START and not pod.get("status", {}).get("containerStatuses"):
                address = self._addresses.of(pod)
                await self._revise(pod, lambda old: podstatus.creating(old, address, now))
            return due
        run.started_at = now
        await self._run(pod, ready=not run.behaviour.ready)
        return self._next(pod, run)

    async def _run(self, pod: Json, *, ready: bool, restarted: int = 0) -> None:
        address, now = self._addresses.of(pod), self._clock.now()
        await self._revise(
            pod, lambda old: podstatus.running(old, address, now, ready=ready, restarts=restarted)
        )

    async def _go_on(self, pod: Json, run: _Run) -> float | None:
        """A running or crash-looping pod: ready, restart or end, whatever is due."""
        now, started = self._clock.now(), run.started_at or 0.0
        if run.restart_at is not None:
            if now < run.restart_at:
                return run.restart_at
            run.restart_at, run.started_at = None, now
            await self._run(pod, ready=True, restarted=restarts(pod) + 1)
        elif _passed_deadline(pod, now):
            text = "Pod was active on the node longer than the specified deadline"
            await self._revise(
                pod, lambda old: podstatus.ended(old, 137, now, reason="DeadlineExceeded", message=text)
            )
            return None
        elif run.behaviour.run is not None and now >= started + run.behaviour.run:
            return await self._end(pod, run)
        elif not is_ready(pod) and now >= started + run.behaviour.ready:
            await self._run(pod, ready=True, restarted=restarts(pod))
        return self._next(pod, run)

    def _next(self, pod: Json, run: _Run) -> float | None:
        now, started = self._clock.now(), run.started_at or 0.0
        ready_at = started + run.behaviour.ready if run.behaviour.ready else None
        end_at = started + run.behaviour.run if run.behaviour.run is not None else None
        limit = pod["spec"].get("activeDeadlineSeconds")
        deadline = run.bound_at + limit if limit is not None else None
        return min((at for at in (ready_at, end_at, deadline) if at is not None and at > now), default=None)

    async def _end(self, pod: Json, run: _Run) -> float | None:
        code, now = run.behaviour.exit_code, self._clock.now()
        policy = pod["spec"].get("restartPolicy", "Always")
        if policy == "Never" or (policy == "OnFailure" and not code):
            await self._revise(pod, lambda old: podstatus.ended(old, code, now))
            return None
        again = restarts(pod)
        if not again:
            # The first restart comes at once; back-off is for those that fail again.
            run.started_at = now
            ended = {**pod, "status": podstatus.ended(pod, code, now)}
            address = self._addresses.of(pod)
            await self._revise(pod, lambda _: podstatus.running(ended, address, now, ready=True, restarts=1))
            return self._next(pod, run)
        delay = min(_FIRST_BACK_OFF * 2 ** min(again - 1, 10), _LONGEST_BACK_OFF)
        run.restart_at = now + delay
        await self._revise(pod, lambda old: podstatus.backing_off(old, code, delay, now))
        return run.restart_at

    async def _stop(self, pod: Json, run: _Run | None) -> float | None:
        """Give the containers their time, then let go of the pod for good."""
        now, grace = self._clock.now(), pod["metadata"].get("deletionGracePeriodSeconds", 0)
        if run is not None and not is_finished(pod):
            wanted = now + min(grace, run.behaviour.stop)
            run.stop_at = min(run.stop_at or wanted, wanted)
            if now < run.stop_at:
                return run.stop_at
            if pod["metadata"].get("finalizers") and pod.get("status", {}).get("conditions"):
                # Somebody wants to see how it ended before the object goes.
                await self._revise(pod, lambda old: podstatus.ended(old, 143 if run.started_at else 137, now))
        if grace or not pod["metadata"].get("finalizers"):
            await self._writer.delete(outcome.ref(kinds.POD, pod), propagation=None, grace=0)
        return None

    async def _revise(self, pod: Json, make: podstatus.Make) -> None:
        await self._writer.revise_status(outcome.ref(kinds.POD, pod), make)


def has_kubelet(node: Json) -> bool:
    """Whether one works there: it has told what the node offers, and is not down."""
    return _has_registered(node) and not is_marked_down(node)


def _has_registered(node: Json) -> bool:
    return bool((node.get("status") or {}).get("allocatable"))


def is_marked_down(node: Json) -> bool:
    return bool((node["metadata"].get("annotations") or {}).get(DOWN) == "true")


def _key(pod: Json) -> Key:
    return Key("", "pods", pod["metadata"]["namespace"], pod["metadata"]["name"])


def _is_echo(before: Json, after: Json) -> bool:
    """Only the status or labels changed: nothing that a kubelet acts on."""
    return (
        is_deleting(before) == is_deleting(after)
        and before["metadata"].get("deletionGracePeriodSeconds")
        == after["metadata"].get("deletionGracePeriodSeconds")
        and node_of(before) == node_of(after)
        and is_finished(before) == is_finished(after)
    )


def _started(pod: Json) -> float | None:
    for item in pod["status"].get("containerStatuses") or ():
        for state in (item["state"], item.get("lastState") or {}):
            for phase in ("running", "terminated"):
                if phase in state:
                    return epoch(state[phase].get("startedAt"))
    return None


def _passed_deadline(pod: Json, now: float) -> bool:
    limit = pod["spec"].get("activeDeadlineSeconds")
    return limit is not None and now >= epoch(pod["status"].get("startTime")) + limit
