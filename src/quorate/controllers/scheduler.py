"""The scheduler as a controller: one key, `cycle`, dirty whenever anything it reads changes.

A cycle waits for its batch window, decides over the whole snapshot, assumes its binds and evictions so that
the next cycle sees them before the watch does, and forgets those that failed.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

import msgspec
import numpy as np

from quorate.api import labels
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.core import NAMESPACE, NODE, POD, PRIORITY_CLASS, Namespace, Node, Pod, PriorityClass
from quorate.api.meta import Kind, Object
from quorate.api.podgroup import POD_GROUP, POD_GROUP_ALIAS, POD_GROUP_KINDS, PodGroup
from quorate.api.policy import POD_DISRUPTION_BUDGET, PodDisruptionBudget
from quorate.api.queue import QUEUE, Queue
from quorate.api.storage import (
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quorate.api.topology import TOPOLOGY, Topology
from quorate.controllers.evicted import Evictions
from quorate.controllers.granted import Granted
from quorate.controllers.guards import Guards
from quorate.controllers.holds import Holds
from quorate.controllers.refused import by_gang, no_longer_refused, refused
from quorate.controllers.runtime import Step
from quorate.controllers.usage import UsageStore
from quorate.controllers.window import Window
from quorate.kube.caches import Caches
from quorate.kube.keys import Keys
from quorate.kube.outcome import Outcome, Result, Written
from quorate.kube.resources import Scope
from quorate.plan import Bind, Change, Emit, EventType, Evict, Plan, Ref, Refusal
from quorate.scheduling.decide import solve
from quorate.scheduling.encode import Encoder
from quorate.scheduling.encode.budgets import is_same
from quorate.scheduling.fairness import granted
from quorate.scheduling.policy import Action, Policy
from quorate.scheduling.render import plan_of
from quorate.scheduling.snapshot import Snapshot

# what is read, and whether the kind may be missing from the server
READS: tuple[tuple[Kind, type[Object], bool], ...] = (
    (NODE, Node, False),
    (QUEUE, Queue, False),
    (PRIORITY_CLASS, PriorityClass, False),
    (TOPOLOGY, Topology, True),
    (NAMESPACE, Namespace, False),
    (POD_GROUP, PodGroup, False),
    (POD_GROUP_ALIAS, PodGroup, True),
    (COMPOSITE_POD_GROUP, CompositePodGroup, True),
    (PERSISTENT_VOLUME, PersistentVolume, True),
    (PERSISTENT_VOLUME_CLAIM, PersistentVolumeClaim, True),
    (STORAGE_CLASS, StorageClass, True),
    (POD_DISRUPTION_BUDGET, PodDisruptionBudget, True),
    (POD, Pod, False),
)
CYCLE = "cycle"
# a write that was accepted but not seen by then was lost with its watch event, or undone by someone
ASSUMED_SECONDS = 30.0
# so many between two looks at watches, leases and health
ASSUMED_AT_ONCE = 500
# a write whose answer was lost is either seen by then, or did not happen
UNKNOWN_SECONDS = 10.0
# staleness, delays and minimum runtimes end without an event: while gangs wait, look again
WAITING_SECONDS = 5.0
# the pod is not what the cache showed; the watch is about to say what it is, and then the gang may try again
SETTLED_BY_WATCH = frozenset({Outcome.CONFLICT, Outcome.GONE})
CONFLICT_SECONDS = 0.2
# other victims are looked for as soon
PLANNED_AGAIN = SETTLED_BY_WATCH | {Outcome.REFUSED_BY_BUDGET}
# an error stopped an eviction: start and grow gangs, but evict nobody for so long
EVICTION_PAUSE_SECONDS = 5.0


class Scheduler:
    name = "scheduler"

    def __init__(
        self,
        caches: Caches,
        *,
        scheduler_name: str,
        policy: Policy,
        window: Window,
        granted: Granted | None = None,
        usage: UsageStore | None = None,
    ) -> None:
        self.keys: Keys[str] = Keys(self.name)
        self._granted = granted or Granted()
        self._usage = usage
        self._encoder = Encoder(scheduler_name)
        self._pods = caches.of(Scope(kind=POD), Pod)
        self._groups = {
            kind: caches.of(Scope(kind=kind), PodGroup, optional=kind is not POD_GROUP)
            for kind in POD_GROUP_KINDS
        }
        self._policy = policy
        self._window = window
        self._holds = Holds()
        self._guards = Guards()
        self._evictions = Evictions()
        self._no_evictions_until = 0.0
        self._told: set[tuple[str, str]] = set()
        for kind, shape, optional in READS:
            caches.of(Scope(kind=kind), shape, optional=optional).subscribe(partial(self._changed, kind))

    async def reconcile(self, _: str) -> Step:
        """One cycle."""
        await self._window.settle()
        now = time.monotonic()
        self._pods.expire(now)
        snapshot = self._guards.applied(self._snapshot(time.time()), now)
        snapshot, held = self._holds.applied(snapshot, now)
        # a thread, so that watches, leases and health are served while a large cycle is decided
        plan, amounts = await asyncio.to_thread(decided, snapshot, self._policy_at(now))
        self._granted.say(amounts)
        for number, change in enumerate(plan.changes):
            self._assume(change, now + ASSUMED_SECONDS)
            if number % ASSUMED_AT_ONCE == 0:
                await asyncio.sleep(0)
        refusals = [*self._guards.explained(plan.refusals), *held]
        told = (*self._tell(snapshot, refusals), *self._problems(snapshot), *self._evictions.told())
        noted = self._usage.seen(snapshot) if self._usage else ()
        is_waiting = bool(plan.refusals) or bool(np.isfinite(snapshot.gangs.stale_since).any())
        return Step(
            msgspec.structs.replace(plan, changes=(*plan.changes, *told, *noted)),
            after=partial(self._after, is_waiting=is_waiting, gangs=self._gangs_of_victims(plan)),
            settles_failures=True,
        )

    def _changed(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        self._encoder.update(kind, old, new)
        if isinstance(old, PodGroup) and isinstance(new, PodGroup) and not is_news(old, new):
            return
        if isinstance(old, Pod) and isinstance(new, Pod) and is_only_told(old, new):
            return
        if (
            isinstance(old, PodDisruptionBudget)
            and isinstance(new, PodDisruptionBudget)
            and is_same(old, new)
        ):
            return
        self._window.note()
        self.keys.add(CYCLE)

    def _snapshot(self, now: float) -> Snapshot:
        used = self._usage.due(now) if self._usage else None
        if used is not None:
            self._encoder.record_usage(used)
        return self._encoder.snapshot(now)

    def _policy_at(self, now: float) -> Policy:
        if now >= self._no_evictions_until:
            return self._policy
        return Policy(**{**vars(self._policy), "actions": (Action.ALLOCATE,)})

    def _assume(self, change: Change, until: float) -> None:
        match change:
            case Bind():
                pod = self._pods.get(change.pod.namespace, change.pod.name)
                if pod is not None and pod.metadata.uid == change.pod.uid:
                    seated = partial(bound, node=change.node, annotations=change.annotations)
                    self._pods.assume(pod, change=seated, shown=is_bound, until=until)
            case Evict():
                pod = self._pods.get(change.pod.namespace, change.pod.name)
                if pod is not None and pod.metadata.uid == change.pod.uid:
                    self._pods.assume(pod, change=deleting, shown=is_deleting, until=until)
            case _:
                return

    def _after(self, result: Result, *, is_waiting: bool, gangs: Mapping[Ref, Ref]) -> float | None:
        """Forget what did not happen, hold back the gangs it hit, and say when to look again."""
        now = time.monotonic()
        failed: set[tuple[str, str]] = set()
        for one in result.unmet:
            if isinstance(one.change, Bind | Evict):
                failed.add(self._take_back(one, now))
        for one in result.written:
            if isinstance(one.change, Bind) and (gang := self._gang(one.change)) not in failed:
                self._holds.succeed(gang)
            if isinstance(one.change, Evict) and one.outcome is Outcome.DONE:
                self._evictions.note(one.change, gangs.get(one.change.pod))
        waits = [WAITING_SECONDS] if is_waiting else []
        if self._evictions:
            waits.append(CONFLICT_SECONDS)
        if any(one.outcome in PLANNED_AGAIN for one in result.unmet):
            waits.append(CONFLICT_SECONDS)
        waits += [end for one in (self._holds, self._guards) if (end := one.next_end(now)) is not None]
        if self._pods.assumed or result.unmet:  # what a gang was not told, the next cycle tells it
            waits.append(UNKNOWN_SECONDS)
        return min(waits, default=None)

    def _take_back(self, one: Written, now: float) -> tuple[str, str]:
        change = one.change
        assert isinstance(change, Bind | Evict), "only binds and evictions are assumed"
        gang = self._gang(change)
        if one.outcome is Outcome.UNKNOWN:
            # its seat must not be given away while the pod may be bound to it
            self._pods.doubt(change.pod.namespace, change.pod.name, now + UNKNOWN_SECONDS)
        else:
            self._pods.forget(change.pod.namespace, change.pod.name)
        if isinstance(change, Evict) and one.outcome is Outcome.REFUSED_BY_BUDGET:
            self._guards.refuse(change, one.message, now)
        elif isinstance(change, Evict) and one.outcome is not Outcome.GONE:
            self._no_evictions_until = now + EVICTION_PAUSE_SECONDS
        elif isinstance(change, Bind) and one.outcome not in SETTLED_BY_WATCH:
            self._holds.fail(
                gang, f"bind of {change.pod.name} to {change.node}: {one.outcome}: {one.message}", now
            )
        return gang

    def _gang(self, change: Bind | Evict) -> tuple[str, str]:
        pod = self._pods.get(change.pod.namespace, change.pod.name)
        return change.pod.namespace, pod.metadata.annotation(labels.POD_GROUP_NAME) if pod else ""

    def _gangs_of_victims(self, plan: Plan) -> dict[Ref, Ref]:
        """The PodGroup of each pod to evict, as long as the pod is there to say it."""
        found = {}
        for change in plan.changes:
            if isinstance(change, Evict):
                namespace, name = self._gang(change)
                for kind, groups in self._groups.items():
                    if (group := groups.get(namespace, name)) is not None:
                        found[change.pod] = Ref(kind, name, namespace, uid=group.metadata.uid)
        return found

    def _tell(self, snapshot: Snapshot, refusals: list[Refusal]) -> Iterator[Change]:
        """Make every gang show why it waits, and no gang show what is over."""
        found = by_gang(refusals)
        for ref, is_held_back in zip(snapshot.gangs.refs, snapshot.gangs.is_held_back.tolist(), strict=True):
            podgroup = self._groups[ref.kind].get(ref.namespace, ref.name)
            refusal = found.get((ref.namespace, ref.name))
            if podgroup is None:
                continue
            if refusal is not None:
                yield from refused(refusal, podgroup, snapshot.now)
            elif not is_held_back:
                yield from no_longer_refused(ref, podgroup)

    def _problems(self, snapshot: Snapshot) -> list[Emit]:
        """What the encoder left out, said once as long as it lasts."""
        found = {(str(one.about), one.message): one for one in snapshot.problems}
        fresh = [one for key, one in found.items() if key not in self._told]
        self._told = set(found)
        return [Emit(one.about, EventType.WARNING, one.reason, one.message) for one in fresh]


def decided(snapshot: Snapshot, policy: Policy) -> tuple[Plan, dict[str, dict[str, int]]]:
    """The plan of a cycle, and what fairness granted the queues in it."""
    cycle = solve(snapshot, policy)
    return plan_of(cycle), granted(snapshot, cycle.shares)


def is_news(old: Object, new: Object) -> bool:
    """Whether more changed than the status, which is written by ourselves."""
    before, after = old.metadata, new.metadata
    return (before.generation, before.labels, before.annotations, before.uid) != (
        after.generation,
        after.labels,
        after.annotations,
        after.uid,
    )


def is_only_told(old: Pod, new: Pod) -> bool:
    """Whether only what the pod shows of itself changed: conditions say nothing about where it may go."""
    conditions = new.status.conditions
    return (
        old.status.conditions != conditions
        and msgspec.structs.replace(old.status, conditions=conditions) == new.status
        and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
        and old.spec == new.spec
        and not is_news(old, new)
    )


def bound(pod: Pod, *, node: str, annotations: Mapping[str, str]) -> Pod:
    metadata = pod.metadata
    if annotations:
        noted = {**(metadata.annotations or {}), **annotations}
        metadata = msgspec.structs.replace(metadata, annotations=noted)
    return msgspec.structs.replace(
        pod, metadata=metadata, spec=msgspec.structs.replace(pod.spec, node_name=node)
    )


def is_bound(pod: Pod) -> bool:
    return bool(pod.spec.node_name)


def deleting(pod: Pod) -> Pod:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, deletion_timestamp=now)
    )


def is_deleting(pod: Pod) -> bool:
    return pod.is_deleting
