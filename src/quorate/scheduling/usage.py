"""What queues used of the cluster over time, half of it forgotten every half-life: what time-based shares read.

With half-life h, an amount a held for Δ seconds and d = 2^(-Δ/h), a sum S of amount times time becomes

    S' = S·d + a·(1 - d)·h/ln 2

for each queue and for the capacity alike. The usage of a queue is its sum over that of the capacity, so a
queue that always had a third of the cluster has used a third, whatever h is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

import numpy as np

from quorate.scheduling.accounts import sum_by_queue
from quorate.scheduling.fairness import cluster_total
from quorate.scheduling.snapshot import Floats, Snapshot, State

NOTHING: Floats = np.zeros(3)


@dataclass(frozen=True, eq=False)
class Holding:
    """Amounts by shared resource [3] that the cluster has and that each queue, all below it included, holds."""

    capacity: Floats
    queues: Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class Usage:
    """Sums of amount times seconds by shared resource [3], as of a point in time."""

    at: float
    capacity: Floats
    queues: Mapping[str, Floats]

    def advanced(self, holding: Holding, now: float, half_life: float) -> "Usage":
        """The sums at a later time, all of it spent with the same holding."""
        decay = 2.0 ** (-max(now - self.at, 0.0) / half_life)
        gain = (1 - decay) * half_life / log(2)
        names = {*self.queues, *holding.queues}
        sums = {
            name: self.queues.get(name, NOTHING) * decay + holding.queues.get(name, NOTHING) * gain
            for name in names
        }
        kept = {name: total for name, total in sums.items() if total.any()}
        return Usage(max(now, self.at), self.capacity * decay + holding.capacity * gain, kept)

    def fractions(self) -> dict[str, Floats]:
        """What each queue used of the capacity; nothing of a resource that there is none of."""
        whole = np.where(self.capacity > 0, self.capacity, np.inf)
        return {name: total / whole for name, total in self.queues.items()}


def holding(snapshot: Snapshot) -> Holding:
    """What is held as the snapshot shows it."""
    held = sum_by_queue(snapshot, snapshot.pods.state == State.ACTIVE).astype(np.float64)
    rows = np.flatnonzero(held.any(axis=1)).tolist()
    return Holding(cluster_total(snapshot), {snapshot.queues.names[row]: held[row] for row in rows})
