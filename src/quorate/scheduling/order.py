"""Whose turn it is: queues against their siblings, and gangs inside a queue.

A queue is judged with the gang it would start next, at every level of the queue tree with the best one below.
The smaller key goes first; `Turns` draws gangs in that order while the accounts change under it.
"""

from collections.abc import Sequence
from enum import IntEnum
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

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
        self._total: list[float] = shares.total.tolist()
        self._priority: list[float] = priority.tolist()
        self._created: list[float] = created.tolist()

    def key(self, queue: int, held: Amounts, requested: Amounts) -> QueueKey:
        """Smaller goes first.

        First who is not beyond its share in everything, then who stays in quota with the gang, then priority,
        then who holds nothing it may not hold, then by the fraction held with and without the gang.
        """
        after = [has + asks for has, asks in zip(held, requested, strict=True)]
        ceiling = self._ceiling[queue]
        return (
            all(has > fair for has, fair in zip(held, self._fair[queue], strict=True)),
            any(amount > quota for amount, quota in zip(after, self._quota[queue], strict=True)),
            -self._priority[queue],
            any(bound == 0 and has > 0 for bound, has in zip(ceiling, held, strict=True)),
            self._dominant(ceiling, after),
            self._dominant(ceiling, held),
            sum(ceiling),
            self._created[queue],
            queue,
        )

    def dominant(self, queue: int, held: Amounts) -> float:
        """The largest fraction of what the queue may hold that `held` is, over the resources."""
        return self._dominant(self._ceiling[queue], held)

    def _dominant(self, ceiling: Amounts, held: Amounts) -> float:
        return max(map(_fraction, held, ceiling, self._total))


def _fraction(held: float, bound: float, total: float) -> float:
    """Of the bound, of the whole cluster if there is none; what may not be held weighs a thousand times."""
    ceiling = total if bound == inf else bound
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

    def push(self, queue: int, waiting: Waiting) -> None:
        heappush(self._gangs.setdefault(queue, []), waiting)
        self.refresh(queue)

    def pop(self) -> Waiting | None:
        """The gang whose turn it is, or none if nobody waits."""
        queue = self._first(_TOP)
        if queue is None:
            return None
        while not self._gangs.get(queue):
            below = self._first(queue)
            assert below is not None, "a queue is offered only while a gang waits in it"
            queue = below
        waiting = heappop(self._gangs[queue])
        self.refresh(queue)
        return waiting

    def refresh(self, queue: int) -> None:
        """Judge a queue and all above it again."""
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
