"""A working copy of the snapshot: place and evict pods in it, `fork` it to try, keep the one that won.

1. Nothing is undone: a try that failed is a fork nobody kept.
2. `idle` is free now; `future` is free once the pods being deleted are gone and the held seats are taken. A
   pod that is placed now takes from both, one that waits takes from `future` only.
3. `place` takes pods of one gang at a time, `evict` of any.
4. Capacity per shape is a column kept up to date for touched nodes only (`column`).
5. `accounts` follows: what each queue holds, and what of it may not be taken away.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from quorate.scheduling import neighbours
from quorate.scheduling.accounts import open_accounts
from quorate.scheduling.column import Column
from quorate.scheduling.snapshot import (
    CPU,
    GPU,
    NONE,
    SHARED,
    Bools,
    Floats,
    Ints,
    Preemptibility,
    Snapshot,
    State,
)

EVERY = slice(None)
FEW = 128
ENDLESS = np.iinfo(np.int64).max  # how many pods fit that ask for nothing
# Plain numbers: reading an enum member costs more than comparing with it, and these run once per gang.
SEMI, NON = int(Preemptibility.SEMI), int(Preemptibility.NON)
WAITS, HOLDS, LEAVES = int(State.PENDING), int(State.ACTIVE), int(State.RELEASING)
NOBODY: Ints = np.empty(0, dtype=np.int64)
Mask = Callable[[Snapshot, int], Bools]
Score = Callable[["Trial", int, Ints | slice], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Pods put on nodes, pairwise; `now` is False for pods that wait for seats to be freed."""

    pods: Ints
    nodes: Ints
    now: bool
    core: Ints  # those of the pods that may not be taken back


@dataclass(slots=True)
class Tally:
    """The work of a trial and all its forks, for benchmarks and tests of cost."""

    nodes: int = 0  # how often the room on a node was counted
    forks: int = 0
    states: int = 0  # of all searches


class Trial:
    def __init__(self, snapshot: Snapshot, mask: Mask, score: Score) -> None:
        nodes = snapshot.nodes
        self.snapshot = snapshot
        self.idle = nodes.allocatable - nodes.used
        self.future = self.idle + nodes.releasing
        self.state = snapshot.pods.state.astype(np.int8)
        self.node = snapshot.pods.node.astype(np.int32)
        self.active = snapshot.groups.active.copy()
        self.accounts = open_accounts(snapshot, _protected(snapshot))
        self.placements: list[Placement] = []
        self.evictions: list[Ints] = []
        self.allowed = snapshot.budgets.allowed  # evictions that disruption budgets still allow
        self.stays = _stay(snapshot, self.allowed)  # pods that nobody may take
        self.gave_back = False  # pods that were placed here lost their seats again
        self.waiting: set[int] = set()  # gangs some of whose pods wait for seats that are being freed
        self._pending: dict[int, Ints] = {}
        self.coupled = neighbours.concerns(snapshot)
        self._mask = mask
        self._score = score
        self._masks: dict[int, Bools] = {}
        self._asks: dict[int, tuple[Ints, Ints]] = {}  # by shape: rows of resources, amounts as a column
        self.memory: dict[object, Floats] = {}  # what scorers keep for the whole cycle
        self._columns: dict[tuple[int, bool], Column] = {}
        self._touched: list[Ints] = []
        self.tally = Tally()

    def fork(self) -> Self:
        """An independent copy; static masks stay shared, columns are copied when first written."""
        self.tally.forks += 1
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in ("idle", "future", "state", "node", "active"):
            setattr(twin, name, getattr(self, name).copy())
        twin.accounts = self.accounts.fork()
        twin.placements, twin.evictions = list(self.placements), list(self.evictions)
        twin.waiting = set(self.waiting)
        twin._touched, twin._pending, twin._columns = [], {}, {}
        for key, column in self._columns.items():
            if column.position == len(self._touched):
                twin._columns[key] = column.share()
        return twin

    def place(
        self, pods: Ints, nodes: Ints, *, now: bool, core: Ints = NOBODY, protected: Ints | None = None
    ) -> None:
        """Put pods of one gang on nodes, pairwise; `protected` says how far the gang's core grows by it."""
        takes = self._takes(pods)
        if now:
            np.subtract.at(self.idle.T, nodes, takes.T)
        np.subtract.at(self.future.T, nodes, takes.T)
        self.placements.append(Placement(pods, nodes, now, core))
        self.node[pods] = nodes
        self.state[pods] = HOLDS
        gang = int(self.snapshot.pods.gang[pods[0]])
        if not now:
            self.waiting.add(gang)
        self._charge(gang, takes, protected)
        self._count(pods, 1)
        self._touched.append(nodes)

    def seat_now(self, at: int) -> None:
        """Let a placement that waits wait no longer."""
        placement = self.placements[at]
        self.placements[at] = replace(placement, now=True)
        np.subtract.at(self.idle.T, placement.nodes, self._takes(placement.pods).T)
        self._touched.append(placement.nodes)

    def evict(self, pods: Ints) -> None:
        """Ask active pods of any gangs to leave: their seats are free in `future`, not now.

        Pods that this trial placed only lose their seat again.
        """
        if len(pods) == 1 and self.snapshot.pods.state[pods[0]] == HOLDS:
            self._evict_one(pods)
            return
        fresh = self.snapshot.pods.state[pods] != HOLDS
        if fresh.any():
            self._withdraw(pods[fresh])
            pods = pods[~fresh]
        if len(pods):
            self._evict(pods)

    def _evict_one(self, pods: Ints) -> None:
        """`_evict` of a single pod without its detours: victims are drawn by the thousand, most of them alone."""
        snapshot, pod = self.snapshot, int(pods[0])
        shape, node = snapshot.pods.shape[pod], int(self.node[pod])
        if node != NONE:
            self.future[:, node] += snapshot.requests[shape]
            self._touched.append(np.array([node]))
        self.evictions.append(pods)
        self.state[pod] = LEAVES
        gang = int(snapshot.pods.gang[pod])
        is_kept = snapshot.pods.is_core[pod] or snapshot.gangs.preemptibility[gang] == NON
        given = -snapshot.shared_requests[shape]
        self.accounts.charge(int(snapshot.gangs.queue[gang]), given, protected=given if is_kept else None)
        row = int(snapshot.pods.leaf[pod])
        while row != NONE:
            self.active[row] -= 1
            self._pending.pop(row, None)
            row = int(snapshot.groups.parent[row])

    def _evict(self, pods: Ints) -> None:
        takes = self._takes(pods)
        nodes = self.node[pods].astype(np.int64)
        there = nodes != NONE
        np.add.at(self.future.T, nodes[there], takes.T[there])
        self.evictions.append(pods)
        self.state[pods] = LEAVES
        gangs = self.snapshot.pods.gang[pods]
        kept = self.snapshot.pods.is_core[pods] | (self.snapshot.gangs.preemptibility[gangs] == NON)
        queues = self.snapshot.gangs.queue[gangs]
        for queue in distinct([queues]).tolist():
            mine = queues == queue
            self.accounts.charge(
                queue,
                -takes[SHARED][:, mine].sum(axis=1),
                protected=-takes[SHARED][:, mine & kept].sum(axis=1),
            )
        self._discount(pods)
        self._touched.append(nodes[there])

    def overdrawn(self, pods: Ints) -> Ints:
        """The budgets that allow fewer evictions than there are of their pods among these."""
        if not len(self.allowed):
            return NOBODY
        under = self.snapshot.pods.budget[pods]
        budgets, counts = np.unique(under[under != NONE], return_counts=True)
        over: Ints = budgets[counts > self.allowed[budgets]]
        return over

    def spend(self, pods: Ints) -> None:
        """These pods will be evicted: their budgets allow so many fewer."""
        under = self.snapshot.pods.budget[pods]
        if (under != NONE).any():
            self.allowed = self.allowed - np.bincount(under[under != NONE], minlength=len(self.allowed))
            self.stays = _stay(self.snapshot, self.allowed)

    def revive(self, pods: Ints) -> None:
        """Evicted pods want a node again, as their controllers will create them anew."""
        self.state[pods] = WAITS
        self._pending.clear()

    def dismiss(self, pods: Ints) -> None:
        """Evicted pods that were revived want no node after all."""
        self.state[pods] = LEAVES
        self._pending.clear()

    def pending(self, group: int) -> Ints:
        """Rows of the pods below a group that want a node, in member order."""
        known = self._pending.get(group)
        if known is None:
            groups = self.snapshot.groups
            first, last = int(groups.first_pod[group]), int(groups.last_pod[group])
            known = self._pending[group] = (self.state[first:last] == WAITS).nonzero()[0] + first
        return known

    def _withdraw(self, pods: Ints) -> None:
        kept: list[Placement] = []
        self.gave_back = True
        gang_of = self.snapshot.pods.gang
        gangs = set(gang_of[pods].tolist())
        for placement in self.placements:
            if gang_of[placement.pods[0]] not in gangs:
                kept.append(placement)
                continue
            mine = np.isin(placement.pods, pods)
            if not mine.any():
                kept.append(placement)
                continue
            if not mine.all():
                kept.append(replace(placement, pods=placement.pods[~mine], nodes=placement.nodes[~mine]))
            self._give_back(replace(placement, pods=placement.pods[mine], nodes=placement.nodes[mine]))
        self.placements = kept

    def _give_back(self, placement: Placement) -> None:
        takes = self._takes(placement.pods)
        for row in np.flatnonzero(takes.any(axis=1)):
            if placement.now:
                np.add.at(self.idle[row], placement.nodes, takes[row])
            np.add.at(self.future[row], placement.nodes, takes[row])
        self.node[placement.pods] = NONE
        self.state[placement.pods] = State.PENDING
        gang = int(self.snapshot.pods.gang[placement.pods[0]])
        kept = takes[SHARED][:, np.isin(placement.pods, placement.core)].sum(axis=1)
        self._charge(gang, -takes, -kept)
        self._count(placement.pods, -1)
        self._touched.append(placement.nodes)

    @property
    def has_releasing(self) -> bool:
        """Whether anything will be freed that is not free now."""
        return bool((self.future > self.idle).any())

    def free(self, nodes: Ints | slice = EVERY, *, now: bool) -> Ints:
        """What is free on the nodes, [R, nodes]; not to be written to."""
        free = self.future[:, nodes]
        return np.minimum(self.idle[:, nodes], free) if now else free

    def column(self, shape: int, *, now: bool) -> Column:
        """Counts and scores of a shape, brought up to date for the nodes touched since the last read."""
        known = self._columns.get((shape, now))
        if known is None:
            counts = self._fresh_counts(shape, EVERY, now=now)
            score = self._score(self, shape, EVERY)
            known = self._columns[shape, now] = Column(counts, score, len(self._touched))
        elif known.position < len(self._touched):
            nodes = distinct(self._touched[known.position :])
            counts = self._fresh_counts(shape, nodes, now=now)
            known.update(nodes, counts, self._score(self, shape, nodes), len(self._touched))
        return known

    def mask(self, shape: int) -> Bools:
        """Nodes that pods of the shape may use as far as nothing placed matters."""
        if shape not in self._masks:
            self._masks[shape] = self._mask(self.snapshot, shape)
        return self._masks[shape]

    def counts(self, shape: int, free: Ints, nodes: Ints | slice = EVERY) -> Ints:
        """How many pods of a shape each of the nodes takes, given what is free on them, [R, nodes]."""
        self.tally.nodes += free.shape[1]
        rows, amounts = self._ask(shape)
        counts = (free[rows] // amounts).min(axis=0, initial=ENDLESS)
        return np.where(self.mask(shape)[nodes], np.maximum(counts, 0), 0)

    def _ask(self, shape: int) -> tuple[Ints, Ints]:
        if shape not in self._asks:
            request = self.snapshot.requests[shape]
            rows = np.flatnonzero(request)
            self._asks[shape] = rows, request[rows, None]
        return self._asks[shape]

    def weight(self, shape: int) -> int:
        """The size of a pod for ordering: GPUs first, then CPU."""
        request = self.snapshot.requests[shape]
        return int(request[GPU]) * 1_000_000 + int(request[CPU])

    def _fresh_counts(self, shape: int, nodes: Ints | slice, *, now: bool) -> Ints:
        return self.counts(shape, self.free(nodes, now=now), nodes)

    def _takes(self, pods: Ints) -> Ints:
        takes: Ints = self.snapshot.requests[self.snapshot.pods.shape[pods]].T
        return takes

    def _charge(self, gang: int, takes: Ints, protected: Ints | None) -> None:
        queue = int(self.snapshot.gangs.queue[gang])
        self.accounts.charge(queue, takes[SHARED].sum(axis=1), protected=protected)

    def _count(self, pods: Ints, sign: int) -> None:
        parent = self.snapshot.groups.parent
        for leaf, count in Counter(self.snapshot.pods.leaf[pods].tolist()).items():
            row = leaf
            while row != NONE:
                self._pending.pop(row, None)
                self.active[row] += sign * count
                row = int(parent[row])

    def _discount(self, pods: Ints) -> None:
        """Take pods of any number of leaves out of the counts, all groups above them included."""
        rows = self.snapshot.pods.leaf[pods]
        while len(rows):
            np.subtract.at(self.active, rows, 1)
            for row in distinct([rows]).tolist() if self._pending else ():
                self._pending.pop(row, None)
            rows = self.snapshot.groups.parent[rows]
            rows = rows[rows != NONE]


def distinct(parts: list[Ints]) -> Ints:
    """Every number in the parts once, sorted; a set is quicker than sorting while there are few."""
    numbers = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if len(numbers) > FEW:
        return np.unique(numbers)
    return np.array(sorted(set(numbers.tolist())), dtype=np.int64)


def _stay(snapshot: Snapshot, allowed: Ints) -> Bools:
    """Pods that nobody may take: the core, those whose eviction was just refused, those of budgets that are spent."""
    pods = snapshot.pods
    spent: Bools = np.append(allowed <= 0, [False])[pods.budget]
    return pods.stays | spent


def _protected(snapshot: Snapshot) -> Bools:
    gangs, pods = snapshot.gangs, snapshot.pods
    is_non = np.append(gangs.preemptibility == Preemptibility.NON, [False])
    kept: Bools = is_non[pods.gang] | pods.is_core
    return kept
