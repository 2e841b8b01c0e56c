"""The hard limits of queues: what a gang may not exceed at its queue nor at any above; `reasons` words them.

Only resources that are asked for are looked at: a queue above its limit in CPU still takes a gang of GPUs.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from quorate.scheduling.accounts import Accounts
from quorate.scheduling.fairness import Shares
from quorate.scheduling.snapshot import Floats, Ints


class Gate(StrEnum):
    LIMIT = (
        "OverLimit"  # nothing helps but a smaller request, a higher limit, or the queue's own gangs ending
    )
    QUOTA = "NonPreemptibleOverQuota"  # a preemptible gang could go over quota


@dataclass(frozen=True)
class Stop:
    """A queue that says no: to which resource (column of the shared ones), and with which numbers."""

    gate: Gate
    queue: int
    column: int
    bound: float
    held: float
    requested: float


def check(
    accounts: Accounts, shares: Shares, queue: int, requested: Ints, *, protected: Ints | None = None
) -> Stop | None:
    """The first queue from the leaf upward that cannot take the request; `protected` is its core part."""
    rows = accounts.rows(queue)
    over = accounts.allocated[rows] + requested > shares.limit[rows]
    if protected is not None:
        over |= accounts.protected[rows] + protected > shares.quota[rows]
    if not over.any():
        return None
    for row in rows.tolist():
        stop = _first(Gate.LIMIT, row, shares.limit[row], accounts.allocated[row], requested)
        if stop is None and protected is not None:
            stop = _first(Gate.QUOTA, row, shares.quota[row], accounts.protected[row], protected)
        if stop is not None:
            return stop
    return None


def _first(gate: Gate, queue: int, bound: Floats, held: Ints, requested: Ints) -> Stop | None:
    over = np.flatnonzero((requested > 0) & (held + requested > bound))
    if not len(over):
        return None
    at = int(over[0])
    return Stop(gate, queue, at, float(bound[at]), float(held[at]), float(requested[at]))
