"""What every queue holds while a cycle decides: charged along the whole lineage, forked with the trial."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from quorate.scheduling.snapshot import NONE, SHARED, Bools, Ints, Queues, Snapshot, State


@dataclass(eq=False)
class Accounts:
    """Amounts of CPU, memory and GPU held by each queue and everything below it: [Q, 3]."""

    lineage: Ints
    allocated: Ints
    protected: Ints  # the part held by members that may not be victims
    _rows: dict[int, Ints] = field(default_factory=dict)  # by queue: itself and all above it

    def fork(self) -> "Accounts":
        return Accounts(self.lineage, self.allocated.copy(), self.protected.copy(), self._rows)

    def charge(self, queue: int, amount: Ints, *, protected: Ints | None = None) -> None:
        """Add an amount (negative gives back) to a queue and all queues above it; no queue, no account."""
        rows = self.rows(queue)
        self.allocated[rows] += amount
        if protected is not None:
            self.protected[rows] += protected

    def rows(self, queue: int) -> Ints:
        """The queue and all queues above it."""
        if queue not in self._rows:
            line = self.lineage[queue] if queue != NONE else np.empty(0, dtype=np.int64)
            self._rows[queue] = line[line != NONE]
        return self._rows[queue]


def open_accounts(snapshot: Snapshot, protected: Bools) -> Accounts:
    """What the pods of each queue hold now; `protected` marks pods that may not be victims: [P]."""
    held = snapshot.pods.state == State.ACTIVE
    return Accounts(
        snapshot.queues.lineage,
        sum_by_queue(snapshot, held),
        sum_by_queue(snapshot, held & protected),
    )


def sum_by_queue(snapshot: Snapshot, chosen: Bools) -> Ints:
    """Requests of the chosen pods by queue, summed up the tree: [Q, 3]."""
    queues, shapes = len(snapshot.queues.names), len(snapshot.shapes)
    rows = np.flatnonzero(chosen & (snapshot.pods.gang != NONE))
    queue = snapshot.gangs.queue[snapshot.pods.gang[rows]]
    kinds = (queue * shapes + snapshot.pods.shape[rows])[queue != NONE]
    if queues * shapes <= len(rows):
        counts = np.bincount(kinds, minlength=queues * shapes).reshape(queues, shapes)
        sums: Ints = counts @ snapshot.shared_requests
    else:
        sums = np.zeros((queues, len(SHARED)), dtype=np.int64)
        found, pods = np.unique(kinds, return_counts=True)
        np.add.at(sums, found // shapes, snapshot.shared_requests[found % shapes] * pods[:, None])
    for children, parent in levels(snapshot.queues, bottom_up=True):
        np.add.at(sums, parent, sums[children])
    return sums


def levels(queues: Queues, *, bottom_up: bool = False) -> Iterator[tuple[Ints, Ints]]:
    """Queues that have a parent with that parent, one depth after the other."""
    depth = (queues.lineage != NONE).sum(axis=1) if len(queues.names) else np.empty(0, dtype=np.int64)
    found = sorted(set(depth.tolist()) - {1}, reverse=bottom_up)
    for at in found:
        children = np.flatnonzero(depth == at)
        yield children, queues.parent[children]
