"""D8: a full cluster from which some gangs leave and others arrive in every cycle.

A cycle is what the scheduler does between two batches: take over the changes, join them into a snapshot, decide,
and write the plan down. What the plan binds is seen by the encoder at the start of the next cycle, as a watch would
show it.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from bench.clusters import Job, cluster, group_of, pods_of
from quorate.api.core import POD, Pod
from quorate.api.meta import Kind, Object
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.plan import Bind, Plan
from quorate.scheduling.decide import decide
from quorate.scheduling.policy import Policy

SIZE = 10  # pods of a gang; a node has as many GPUs
Change = tuple[Kind, Object | None, Object | None]


@dataclass(frozen=True)
class Cycle:
    """Seconds of one cycle; `written` counts the changes of its plan."""

    update: float
    snapshot: float
    decide: float
    written: int

    @property
    def total(self) -> float:
        return self.update + self.snapshot + self.decide


@dataclass
class Member:
    group: PodGroup
    pods: list[Pod]


class World:
    """The cluster as a watch shows it to the encoder."""

    def __init__(self, nodes: int, share: float, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.encoder = cluster(nodes, gpus=SIZE)
        self.policy = Policy()
        self.leaving = max(1, round(nodes * share))
        self._alive: deque[Member] = deque()
        self._seen: dict[str, tuple[Member, int]] = {}
        self._number = 0
        self.snapshot = self.encoder.snapshot(0.0)  # of the last cycle
        self.plan = Plan()
        self._bound = Plan()
        for change in self._arrivals(nodes):
            self.encoder.update(*change)
        self._settle(decide(self.encoder.snapshot(0.0), self.policy))

    def cycle(self, *, changes: bool = True) -> Cycle:
        """One cycle, with or without churn."""
        news = [*self._binds(), *self._departures(), *self._arrivals(self.leaving)] if changes else []
        times = [self._clock()]
        for change in news:
            self.encoder.update(*change)
        times.append(self._clock())
        snapshot = self.encoder.snapshot(float(self._number))
        times.append(self._clock())
        plan = decide(snapshot, self.policy)
        times.append(self._clock())
        self.snapshot, self.plan = snapshot, plan
        if changes:
            self._bound = plan
        update, snapshot_time, decide_time = np.diff(times).tolist()
        return Cycle(update, snapshot_time, decide_time, len(plan.changes))

    def drain(self) -> None:
        """Show the encoder the binds of the last plan, so that nothing is left to do."""
        for change in self._binds():
            self.encoder.update(*change)
        self._bound = Plan()

    def _settle(self, plan: Plan) -> None:
        self._bound = plan
        self.drain()

    def _arrivals(self, gangs: int) -> Iterator[Change]:
        for _ in range(gangs):
            self._number += 1
            job = Job(f"g{(self._number * 7919) % 1_000_003:07d}", SIZE)
            member = Member(group_of(job), pods_of(job))
            self._alive.append(member)
            yield POD_GROUP, None, member.group
            for at, pod in enumerate(member.pods):
                self._seen[pod.metadata.name] = member, at
                yield POD, None, pod

    def _departures(self) -> Iterator[Change]:
        for _ in range(self.leaving):
            member = self._alive.popleft()
            for pod in member.pods:
                del self._seen[pod.metadata.name]
                yield POD, pod, None
            yield POD_GROUP, member.group, None

    def _binds(self) -> Iterator[Change]:
        for change in self._bound.changes:
            if isinstance(change, Bind) and change.pod.name in self._seen:
                member, at = self._seen[change.pod.name]
                old = member.pods[at]
                # decoded anew, as from a watch: it shares nothing with the object before
                new = msgspec.json.decode(msgspec.json.encode(old), type=Pod)
                new.spec.node_name = change.node
                member.pods[at] = new
                yield POD, old, new
