"""What fairness grants each queue this cycle, from the top of the queue tree down.

Top queues divide what the cluster has, children divide the share of their parent, each resource by itself
(`division`). A queue wants what its gangs hold and wait for, its own and those of all queues below it.
`order`, the gates and the actions read the result.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from quorate.scheduling.accounts import levels, sum_by_queue
from quorate.scheduling.division import Siblings, divide
from quorate.scheduling.snapshot import (
    CPU,
    GPU,
    NONE,
    RESOURCES,
    SHARED,
    UNLIMITED,
    Floats,
    Ints,
    Snapshot,
    State,
)

# What one division hands out at least: a milli-CPU, a byte, a whole GPU.
_UNIT = {CPU: 1.0, GPU: 1000.0}


@dataclass(frozen=True, eq=False)
class Shares:
    """Amounts by queue and shared resource [Q, 3]; unlimited is `inf`."""

    total: Floats  # [3] what the cluster has for our gangs
    quota: Floats
    limit: Floats
    fair: Floats
    requested: Floats

    @cached_property
    def allocatable(self) -> Floats:
        """How far a queue may grow and owe nobody: the larger of quota and share, within its limit."""
        return np.minimum(self.limit, np.maximum(self.quota, self.fair))

    @cached_property
    def quota_rows(self) -> list[list[float]]:
        """`quota` as plain numbers."""
        rows: list[list[float]] = self.quota.tolist()
        return rows

    @cached_property
    def allocatable_rows(self) -> list[list[float]]:
        """`allocatable` as plain numbers."""
        rows: list[list[float]] = self.allocatable.tolist()
        return rows


def shares(snapshot: Snapshot, *, k: float = 1.0) -> Shares:
    queues = snapshot.queues
    quota, limit = unlimited(queues.quota), unlimited(queues.limit)
    wants = np.isin(snapshot.pods.state, (State.ACTIVE, State.PENDING))
    requested = sum_by_queue(snapshot, wants).astype(np.float64)
    total = cluster_total(snapshot)
    fair = np.zeros_like(quota)
    for parent, children in _families(snapshot):
        for column, resource in enumerate(SHARED.tolist()):
            amount = float(total[column] if parent == NONE else fair[parent, column])
            siblings = Siblings(
                quota[children, column],
                limit[children, column],
                queues.weight[children, column],
                requested[children, column],
                queues.usage[children, column],
                queues.priority[children].astype(np.float64),
            )
            fair[children, column] = divide(amount, siblings, unit=_UNIT.get(resource, 1.0), k=k)
    return Shares(total, quota, limit, fair, requested)


def granted(snapshot: Snapshot, found: Shares) -> dict[str, dict[str, int]]:
    """The shares as status shows them: thousandths by queue and resource."""
    names = [RESOURCES[row] for row in SHARED.tolist()]
    scale = [1000 if name == "memory" else 1 for name in names]
    return {
        queue: {name: int(value) * each for name, value, each in zip(names, row, scale, strict=True)}
        for queue, row in zip(snapshot.queues.names, found.fair.tolist(), strict=True)
    }


def cluster_total(snapshot: Snapshot) -> Floats:
    """What ready nodes can give to gangs of ours: [3]."""
    nodes = snapshot.nodes
    capacity = nodes.allocatable[SHARED][:, nodes.schedulable].sum(axis=1)
    left: Floats = np.maximum(capacity - nodes.foreign[SHARED], 0).astype(np.float64)
    return left


def unlimited(amounts: Ints) -> Floats:
    return np.where(amounts == UNLIMITED, np.inf, amounts.astype(np.float64))


def _families(snapshot: Snapshot) -> list[tuple[int, Ints]]:
    """Siblings with their parent, oldest first, parents before their children."""
    queues = snapshot.queues
    oldest = np.lexsort((np.arange(len(queues.names)), queues.created))
    families = [(NONE, oldest[queues.parent[oldest] == NONE])]
    for _, parents in levels(queues):
        families += [(at, oldest[queues.parent[oldest] == at]) for at in np.unique(parents).tolist()]
    return [(parent, children) for parent, children in families if len(children)]
