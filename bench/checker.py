"""Judges a decision with code of its own: nothing of the scheduler is called, only the snapshot is read.

1. No node is over-committed, and no queue beyond its limit by what was placed.
2. A gang that holds anybody after the plan meets every minimum of the groups that hold anybody, or did not before.
3. A group that requires a level has all its members in one domain.
4. No gang that was evicted could have stayed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from quorate.plan import Bind, Evict, Plan, SetStatus
from quorate.scheduling.snapshot import NONE, SHARED, Ints, Snapshot, State


@dataclass(frozen=True)
class Expected:
    """Counts that must come out; None = not fixed."""

    pods: int | None = None
    refused: int | None = 0
    evicted: int | None = 0


def faults(snapshot: Snapshot, plan: Plan, expected: Expected) -> list[str]:
    """What is wrong with a plan; nothing if it is right."""
    after = _After(snapshot, plan)
    found = [
        *after.over_committed(),
        *after.over_limit(),
        *after.broken(),
        *after.needless(),
    ]
    for word, wanted, got in (
        ("placed", expected.pods, len(after.seats)),
        ("refused", expected.refused, len(plan.refusals)),
        ("evicted", expected.evicted, len(after.evicted)),
    ):
        if wanted is not None and wanted != got:
            found.append(f"expected {wanted} {word}, got {got}")
    return found


class _After:
    """The world once the plan is carried out."""

    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self.snapshot = snapshot
        at = {name: number for number, name in enumerate(snapshot.nodes.names)}
        rows = {(ref.namespace, ref.name): row for row, ref in enumerate(snapshot.pods.refs)}
        self.seats: dict[int, int] = {}
        self.evicted: set[int] = set()
        for change in plan.changes:
            match change:
                case Bind():
                    self.seats[rows[change.pod.namespace, change.pod.name]] = at[change.node]
                case SetStatus():
                    node = change.status["nominatedNodeName"]
                    if node is not None:
                        self.seats[rows[change.target.namespace, change.target.name]] = at[node]
                case Evict():
                    self.evicted.add(rows[change.pod.namespace, change.pod.name])
        self.node = np.where(snapshot.pods.state == State.ACTIVE, snapshot.pods.node, NONE)
        self.before = self.node.copy()
        self.node[list(self.evicted)] = NONE
        self.node[list(self.seats)] = list(self.seats.values())
        self.free = self._free()

    def _free(self) -> Ints:
        nodes = self.snapshot.nodes
        free: Ints = nodes.allocatable - nodes.used + nodes.releasing
        for rows, sign in ((list(self.evicted), 1), (list(self.seats), -1)):
            where = (self.before if sign > 0 else self.node)[rows]
            there = where != NONE
            takes = self._takes(np.array(rows, dtype=np.int64))
            np.add.at(free.T, where[there], sign * takes[there])
        return free

    def _takes(self, rows: Ints) -> Ints:
        takes: Ints = self.snapshot.requests[self.snapshot.pods.shape[rows]]
        return takes

    def over_committed(self) -> Iterator[str]:
        for node in np.unique(np.nonzero(self.free < 0)[1]).tolist():
            yield f"{self.snapshot.nodes.names[node]} is over-committed"

    def over_limit(self) -> Iterator[str]:
        queues, gangs = self.snapshot.queues, self.snapshot.gangs
        held: dict[int, Ints] = defaultdict(lambda: np.zeros(3, dtype=np.int64))
        fresh: dict[int, Ints] = defaultdict(lambda: np.zeros(3, dtype=np.int64))
        kinds = Counter(self._kinds(np.flatnonzero(self.node != NONE)))
        placed = Counter(self._kinds(np.array(list(self.seats), dtype=np.int64)))
        for sums, counts in ((held, kinds), (fresh, placed)):
            for (gang, shape), pods in counts.items():
                at = int(gangs.queue[gang])
                while at != NONE:
                    sums[at] += self.snapshot.requests[shape][SHARED] * pods
                    at = int(queues.parent[at])
        for queue, amounts in fresh.items():
            limit = queues.limit[queue]
            if ((amounts > 0) & (limit >= 0) & (held[queue] > limit)).any():
                yield f"queue {queues.names[queue]} is over its limit"

    def _kinds(self, rows: Ints) -> list[tuple[int, int]]:
        pods = self.snapshot.pods
        rows = rows[pods.gang[rows] != NONE]
        return list(zip(pods.gang[rows].tolist(), pods.shape[rows].tolist(), strict=True))

    def broken(self) -> Iterator[str]:
        groups, pods = self.snapshot.groups, self.snapshot.pods
        size = len(groups.names)
        now, then = self._members(self.node, size), self._members(self.before, size)
        touched = {int(pods.gang[row]) for row in (*self.seats, *self.evicted)} - {NONE}
        for gang in sorted(touched):
            rows = self.snapshot.gang_groups(gang)
            if now[rows.start] and not self._holds(rows.start, now) and self._holds(rows.start, then):
                yield f"{self.snapshot.gangs.refs[gang]} lost its minimum"
            elif now[rows.start] > then[rows.start] and not self._holds(rows.start, now):
                yield f"{self.snapshot.gangs.refs[gang]} runs below its minimum"
            for row in rows:
                if groups.required[row] >= 0 and now[row] > then[row]:
                    yield from self._spread_out(gang, row)

    def _members(self, node: Ints, size: int) -> Ints:
        """Pods of each group and all below it."""
        groups, pods = self.snapshot.groups, self.snapshot.pods
        rows = np.flatnonzero((node != NONE) & (pods.gang != NONE))
        counts = np.bincount(pods.leaf[rows], minlength=size)
        for row in range(size - 1, -1, -1):
            if groups.parent[row] != NONE:
                counts[groups.parent[row]] += counts[row]
        return counts

    def _holds(self, group: int, members: Ints) -> bool:
        """Whether a group and enough of its children meet their minimums."""
        groups = self.snapshot.groups
        if members[group] < groups.min_member[group]:
            return False
        if groups.end[group] == group + 1:
            return True
        children = [row for row in range(group + 1, int(groups.end[group])) if groups.parent[row] == group]
        return sum(self._holds(row, members) for row in children) >= int(groups.min_subgroup[group])

    def _spread_out(self, gang: int, group: int) -> Iterator[str]:
        groups = self.snapshot.groups
        nodes = self.node[groups.first_pod[group] : groups.last_pod[group]]
        level = self.snapshot.levels[groups.required[group]]
        domains = np.unique(level.of_node[nodes[nodes != NONE]])
        if len(domains) > 1 or NONE in domains:
            name = f"{self.snapshot.gangs.refs[gang]} {self.snapshot.groups.names[group]}".rstrip()
            yield f"{name} spans more than one domain"

    def needless(self) -> Iterator[str]:
        """Gangs whose evicted pods would all still fit where they were."""
        by_gang: dict[int, list[int]] = defaultdict(list)
        for row in self.evicted:
            by_gang[int(self.snapshot.pods.gang[row])].append(row)
        for gang, rows in by_gang.items():
            if self.snapshot.gangs.refs and all(row in self.seats for row in rows):
                continue
            found = np.array(rows, dtype=np.int64)
            nodes, at = np.unique(self.before[found], return_inverse=True)
            left = self.free[:, nodes].T.copy()
            np.subtract.at(left, at, self._takes(found))
            if (left >= 0).all():
                yield f"{self.snapshot.gangs.refs[gang]} was evicted for nothing"
