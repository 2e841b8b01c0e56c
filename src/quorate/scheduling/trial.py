"""A working copy of the snapshot: place and evict pods in it, `fork` it to try something, keep the one that won.

1. Nothing is undone: a try that failed is a fork nobody kept.
2. `idle` is free now; `future` is free once the pods being deleted are gone and the held seats are taken. A
   pod that is placed now takes from both, one that waits takes from `future` only.
3. `place` and `evict` take pods of one gang at a time.
4. Capacity per shape is a column kept up to date for touched nodes only (`capacity`).
5. Queue sums run up the lineage of the gang's queue; a queue never appears twice in a lineage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from quorate.scheduling.snapshot import NONE, SHARED, Bools, Floats, Ints, Preemptibility, Snapshot, State

Mask = Callable[[Snapshot, int], Bools]
Score = Callable[["Trial", int, Ints | slice], Floats]


@dataclass(slots=True)
class Column:
    """How many more pods of one shape each node takes, and how good each node is for one."""

    counts: Ints
    scores: Floats
    position: int  # how much of the touch log is in it
    is_shared: bool = False  # another fork reads it too


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Pods put on nodes, pairwise; `now` is False for pods that wait for seats to be freed."""

    pods: Ints
    nodes: Ints
    now: bool


class Trial:
    def __init__(self, snapshot: Snapshot, mask: Mask, score: Score) -> None:
        nodes = snapshot.nodes
        self.snapshot = snapshot
        self.idle = nodes.allocatable - nodes.used
        self.future = self.idle + nodes.releasing
        self.state = snapshot.pods.state.astype(np.int8)
        self.node = snapshot.pods.node.astype(np.int32)
        self.active = snapshot.groups.active.copy()
        self.allocated, self.protected = _queue_sums(snapshot)
        self.placements: list[Placement] = []
        self.evictions: list[Ints] = []
        self._mask = mask
        self._score = score
        self._masks: dict[int, Bools] = {}
        self._columns: dict[tuple[int, bool], Column] = {}
        self._touched: list[Ints] = []

    def fork(self) -> Self:
        """An independent copy; static masks stay shared, columns are copied when first written."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in ("idle", "future", "state", "node", "active", "allocated", "protected"):
            setattr(twin, name, getattr(self, name).copy())
        for name in ("placements", "evictions", "_touched"):
            setattr(twin, name, list(getattr(self, name)))
        for column in self._columns.values():
            column.is_shared = True
        twin._columns = dict(self._columns)
        return twin

    def place(self, pods: Ints, nodes: Ints, *, now: bool, is_core: bool) -> None:
        """Put pods of one gang on nodes, pairwise; `is_core` says that they start their gang."""
        takes = self.snapshot.requests[self.snapshot.pods.shape[pods]].T
        where = (slice(None), nodes)
        if now:
            np.subtract.at(self.idle, where, takes)
        np.subtract.at(self.future, where, takes)
        self.placements.append(Placement(pods, nodes, now))
        self.node[pods] = nodes
        gang = int(self.snapshot.pods.gang[pods[0]])
        self._count(gang, pods, takes, 1)
        if self._is_protected(gang, is_core=is_core):
            self.protected[self.lineage(gang)] += takes[SHARED].sum(axis=1)
        self.state[pods] = State.ACTIVE
        self._touched.append(nodes)

    def evict(self, pods: Ints) -> None:
        """Ask active pods of one gang to leave: their seats are free in `future`, not now."""
        takes = self.snapshot.requests[self.snapshot.pods.shape[pods]].T
        nodes = self.node[pods].astype(np.int64)
        there = nodes != NONE
        np.add.at(self.future, (slice(None), nodes[there]), takes[:, there])
        self.evictions.append(pods)
        gang = int(self.snapshot.pods.gang[pods[0]])
        self._count(gang, pods, -takes, -1)
        lost = takes[:, self._protected_pods(gang, pods)]
        self.protected[self.lineage(gang)] -= lost[SHARED].sum(axis=1)
        self.state[pods] = State.RELEASING
        self._touched.append(nodes[there])

    def lineage(self, gang: int) -> Ints:
        """The gang's queue and the queues above it; empty if the queue does not exist."""
        queue = self.snapshot.gangs.queue[gang]
        lineage = self.snapshot.queues.lineage[queue] if queue != NONE else np.empty(0, dtype=np.int64)
        return lineage[lineage != NONE]

    def free(self, *, now: bool) -> Ints:
        """What is free on each node, [R, N]."""
        return np.minimum(self.idle, self.future) if now else self.future

    def column(self, shape: int, *, now: bool) -> Column:
        """Counts and scores of a shape, brought up to date for the nodes touched since they were last read."""
        known = self._columns.get((shape, now))
        if known is None:
            column = self._columns[shape, now] = Column(
                self._counts(shape, slice(None), now=now),
                self._score(self, shape, slice(None)),
                len(self._touched),
            )
            return column
        if known.position == len(self._touched):
            return known
        if known.is_shared:
            known = self._columns[shape, now] = Column(
                known.counts.copy(), known.scores.copy(), known.position
            )
        nodes = np.unique(np.concatenate(self._touched[known.position :]))
        known.counts[nodes] = self._counts(shape, nodes, now=now)
        known.scores[nodes] = self._score(self, shape, nodes)
        known.position = len(self._touched)
        return known

    def mask(self, shape: int) -> Bools:
        """Nodes that pods of the shape may use as far as nothing placed matters."""
        if shape not in self._masks:
            self._masks[shape] = self._mask(self.snapshot, shape)
        return self._masks[shape]

    def _counts(self, shape: int, nodes: Ints | slice, *, now: bool) -> Ints:
        request = self.snapshot.requests[shape]
        counts = np.full(self.mask(shape)[nodes].shape, np.iinfo(np.int64).max, dtype=np.int64)
        for row in np.flatnonzero(request):
            free = self.future[row][nodes]
            if now:
                free = np.minimum(self.idle[row][nodes], free)
            np.minimum(counts, free // request[row], out=counts)
        return np.where(self.mask(shape)[nodes], np.maximum(counts, 0), 0)

    def _count(self, gang: int, pods: Ints, takes: Ints, sign: int) -> None:
        self.allocated[self.lineage(gang)] += takes[SHARED].sum(axis=1)
        parent = self.snapshot.groups.parent
        leaves, counts = np.unique(self.snapshot.pods.leaf[pods], return_counts=True)
        for leaf, count in zip(leaves.tolist(), counts.tolist(), strict=True):
            row = leaf
            while row != NONE:
                self.active[row] += sign * count
                row = int(parent[row])

    def _is_protected(self, gang: int, *, is_core: bool) -> bool:
        kind = self.snapshot.gangs.preemptibility[gang]
        return bool(kind == Preemptibility.NON or (kind == Preemptibility.SEMI and is_core))

    def _protected_pods(self, gang: int, pods: Ints) -> Bools:
        return self.snapshot.pods.is_core[pods] | self._is_protected(gang, is_core=False)


def _queue_sums(snapshot: Snapshot) -> tuple[Ints, Ints]:
    """What every queue holds, descendants included: all of it, and the part that may not be taken away."""
    pods, gangs, queues = snapshot.pods, snapshot.gangs, snapshot.queues
    rows = np.flatnonzero((pods.state == State.ACTIVE) & (pods.gang != NONE))
    rows = rows[gangs.queue[pods.gang[rows]] != NONE]
    owner = gangs.queue[pods.gang[rows]]
    takes = snapshot.requests[pods.shape[rows]][:, SHARED]
    kept = (gangs.preemptibility[pods.gang[rows]] == Preemptibility.NON) | pods.is_core[rows]
    return _up(queues.lineage, owner, takes), _up(queues.lineage, owner[kept], takes[kept])


def _up(lineage: Ints, owner: Ints, takes: Ints) -> Ints:
    own = np.zeros((len(lineage), len(SHARED)), dtype=np.int64)
    np.add.at(own, owner, takes)
    total = np.zeros_like(own)
    for column in lineage.T:
        there = column != NONE
        np.add.at(total, column[there], own[there])
    return total
