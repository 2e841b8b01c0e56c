"""Whose turn it is: queues against their siblings, and gangs inside a queue.

A queue is judged with the gang it would start next, at every level of the queue tree with the best one below.
The smaller key goes first; `Turns` draws gangs in that order while the accounts change under it.
"""

from collections.abc import Sequence
from enum import IntEnum
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from quorate.scheduling.accounts import Accounts
from quorate.scheduling.fairness import Shares
from quorate.scheduling.snapshot import NONE, Floats, Ints

QueueKey = tuple[bool, bool, float, bool, float, float, float, float, int]
GangKey = tuple[int, int, float, int]
Amounts = Sequence[float]

# The children of no queue are the top queues.
_TOP = NONE


class Standing(IntEnum):
    """How far a gang has come; what grows waits for what has not started."""

    BELOW = 0  # a minimum does not hold
    AT = 1
    ABOVE = 2  # something beyond the minimums is there


class Ranking:
    """The key of a queue, from what it holds and what its next gang asks for."""

    def __init__(self, shares: Shares, priority: Ints | Floats, created: Floats) -> None:
        self._quota: list[list[float]] = shares.quota.tolist()
        self._fair: list[list[float]] = shares.fair.tolist()
        self._ceiling: list[list[float]] = shares.allocatable.tolist()
        # Where a queue has no bound, it is measured against the whole cluster.
        self._measure: list[list[float]] = np.where(
            np.isinf(shares.allocatable), shares.total, shares.allocatable
        ).tolist()
        self._width = [sum(row) for row in self._measure]
        self._priority: list[float] = priority.tolist()
        self._created: list[float] = created.tolist()

    def key(self, queue: int, held: Amounts, requested: Amounts) -> QueueKey:
        """Smaller goes first.

        First who is not beyond its share in everything, then who stays in quota with the gang, then priority,
        then who holds nothing it may not hold, then by the fraction held with and without the gang.
        """
        cpu, memory, gpu = held
        after = (cpu + requested[0], memory + requested[1], gpu + requested[2])
        fair, quota, ceiling = self._fair[queue], self._quota[queue], self._ceiling[queue]
        return (
            cpu > fair[0] and memory > fair[1] and gpu > fair[2],
            after[0] > quota[0] or after[1] > quota[1] or after[2] > quota[2],
            -self._priority[queue],
            0 in ceiling and any(bound == 0 and has > 0 for bound, has in zip(ceiling, held, strict=True)),
            self.dominant(queue, after),
            self.dominant(queue, held),
            self._width[queue],
            self._created[queue],
            queue,
        )

    def dominant(self, queue: int, held: Amounts) -> float:
        """The largest fraction of what the queue may hold that `held` is, over the resources."""
        cpu, memory, gpu = self._measure[queue]
        return max(_fraction(held[0], cpu), _fraction(held[1], memory), _fraction(held[2], gpu))


def _fraction(held: float, ceiling: float) -> float:
    """What may not be held weighs a thousand times."""
    return held / ceiling if ceiling > 0 else held * 1000.0


class Waiting(NamedTuple):
    """A gang that wants its next step: the amounts of that step decide how its queue is judged."""

    key: GangKey
    gang: int
    requested: tuple[float, ...]


class Turns:
    """Draws waiting gangs one by one; whoever charges an account says so by `refresh`."""

    def __init__(self, ranking: Ranking, accounts: Accounts) -> None:
        self._ranking = ranking
        self._accounts = accounts
        self._lineage: list[list[int]] = [
            [queue for queue in row if queue != NONE] for row in accounts.lineage.tolist()
        ]
        self._gangs: dict[int, list[Waiting]] = {}
        self._best: dict[int, Waiting] = {}
        # Siblings under their parent by key; an entry counts only if it carries the queue's current version.
        self._siblings: dict[int, list[tuple[QueueKey, int, int]]] = {}
        self._version = [0] * len(self._lineage)
        self._changed: dict[int, None] = {}  # queues to judge again before the next draw

    def push(self, queue: int, waiting: Waiting) -> None:
        heappush(self._gangs.setdefault(queue, []), waiting)
        self.refresh(queue)

    def pop(self) -> Waiting | None:
        """The gang whose turn it is, or none if nobody waits."""
        for queue in self._changed:
            self._judge(queue)
        self._changed.clear()
        at = self._first(_TOP)
        if at is None:
            return None
        while not self._gangs.get(at):
            below = self._first(at)
            assert below is not None, "a queue is offered only while a gang waits in it"
            at = below
        waiting = heappop(self._gangs[at])
        self.refresh(at)
        return waiting

    def refresh(self, queue: int) -> None:
        """Judge a queue and all above it again, before the next draw."""
        self._changed[queue] = None

    def _judge(self, queue: int) -> None:
        lineage = self._lineage[queue]
        for depth, row in enumerate(lineage):
            self._version[row] += 1
            best = self._next_in(row)
            if best is None:
                continue
            self._best[row] = best
            key = self._ranking.key(row, self._accounts.allocated[row].tolist(), best.requested)
            parent = lineage[depth + 1] if depth + 1 < len(lineage) else _TOP
            heappush(self._siblings.setdefault(parent, []), (key, row, self._version[row]))

    def _next_in(self, queue: int) -> Waiting | None:
        if self._gangs.get(queue):
            return self._gangs[queue][0]
        below = self._first(queue)
        return self._best[below] if below is not None else None

    def _first(self, parent: int) -> int | None:
        siblings = self._siblings.get(parent, [])
        while siblings:
            _, queue, version = siblings[0]
            if version == self._version[queue]:
                return queue
            heappop(siblings)
        return None
