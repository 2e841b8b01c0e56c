"""Victims in the order in which they are drawn: worst queue first, in it the worst gang, one unit at a time.

Worst is the reverse of `order`: the queue that would be served last gives first, and in it the gang of the lowest
priority, grown beyond its minimum, youngest. A `Pool` is built once for an action; a `Draw` is one taker's way
through it, on a scout trial of its own in which drawn units are gone.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

import numpy as np

from quorate.scheduling import composite, victims
from quorate.scheduling.allocate import standing, standings
from quorate.scheduling.order import QueueKey, Ranking
from quorate.scheduling.snapshot import NONE, Ints, Preemptibility, State
from quorate.scheduling.trial import Trial


class Unit(NamedTuple):
    """Pods of one gang that go together."""

    gang: int
    pods: Ints


VictimKey = tuple[int, int, float, int]


class Pool:
    """Gangs that may give something up, by the queue they are in."""

    def __init__(self, trial: Trial, ranking: Ranking) -> None:
        self.ranking = ranking
        self.lineage: list[list[int]] = [
            [queue for queue in row if queue != NONE] for row in trial.accounts.lineage.tolist()
        ]
        self._by_queue: dict[int, list[tuple[VictimKey, int]]] = {}
        found, gangs = holders(trial), trial.snapshot.gangs
        columns = (
            gangs.queue[found],
            gangs.priority[found],
            -standings(trial)[found],
            -gangs.created[found],
            -found,
            found,
        )
        for queue, *key, gang in zip(*(column.tolist() for column in columns), strict=True):
            self._by_queue.setdefault(queue, []).append(((key[0], key[1], key[2], key[3]), gang))
        for entries in self._by_queue.values():
            entries.sort()
        self._spent = dict.fromkeys(self._by_queue, 0)

    def queues(self, trial: Trial) -> dict[int, int]:
        """Queues with victims, and how many of their first gangs have nobody left."""
        root = trial.snapshot.gangs.root
        for queue, entries in self._by_queue.items():
            while (at := self._spent[queue]) < len(entries) and not trial.active[root[entries[at][1]]]:
                self._spent[queue] += 1
        return dict(self._spent)

    def has_below(self, queue: int, priority: int) -> bool:
        """Whether a gang of the queue has a lower priority; the lowest is drawn first."""
        return any(key[0] < priority for key, _ in self._by_queue.get(queue, [])[:1])

    def gangs_of(self, queue: int) -> list[tuple[VictimKey, int]]:
        return self._by_queue[queue]


def holders(trial: Trial) -> Ints:
    """Gangs of existing queues that hold nodes and are not wholly protected, by start together in this cycle either."""
    pods, gangs = trial.snapshot.pods, trial.snapshot.gangs
    holds = np.zeros(len(gangs.refs), dtype=np.bool_)
    holds[pods.gang[(trial.state == State.ACTIVE) & (pods.gang != NONE)]] = True
    holds &= ~composite.starting(trial.snapshot)
    found: Ints = np.flatnonzero(holds & (gangs.queue != NONE) & (gangs.preemptibility != Preemptibility.NON))
    return found


def victim_key(trial: Trial, gang: int) -> VictimKey:
    gangs = trial.snapshot.gangs
    return (
        int(gangs.priority[gang]),
        -standing(trial, gang),
        -float(gangs.created[gang]),
        -gang,
    )


class Claims(Protocol):
    """From whom a taker may take."""

    def on_queue(self, scout: Trial, queue: int) -> bool:
        """Whether anything more may go from a queue as it is in the scout."""

    def on_gang(self, victim: int) -> bool:
        """Whether a gang of such a queue may give a unit."""

    def only_extras(self, victim: int) -> bool:
        """Whether a gang is in peace: it gives nothing but members beyond its minimums."""


class Draw:
    """Draws claimed units one after another; what was drawn is gone from `scout`."""

    def __init__(self, pool: Pool, scout: Trial, claims: Claims, *, only: int = NONE) -> None:
        self.scout = scout
        self._pool = pool
        self._claims = claims
        spent = pool.queues(scout).items()
        self._next = {queue: at for queue, at in spent if only in {NONE, queue}}
        # Gangs that gave a unit and may give more, with their new standing.
        self._again: dict[int, list[tuple[VictimKey, int]]] = {}
        self._children: dict[int, set[int]] = {}
        self._keys: dict[int, QueueKey] = {}
        for queue in self._next:
            self._open(queue)

    def __iter__(self) -> Iterator[Unit]:
        while (queue := self._worst_queue()) is not None:
            gang = self._worst_gang(queue) if self._claims.on_queue(self.scout, queue) else None
            if gang is None:
                self._close(queue)
                continue
            if not self._claims.on_gang(gang):
                continue
            pods = victims.next_unit(self.scout, gang)
            if not len(pods):
                continue
            if self._claims.only_extras(gang) and not victims.is_extra(self.scout, gang, pods):
                continue
            self.scout.evict(pods)
            for row in self._pool.lineage[queue]:
                self._keys.pop(row, None)
            if self.scout.active[self.scout.snapshot.gangs.root[gang]]:
                heappush(self._again.setdefault(queue, []), (victim_key(self.scout, gang), gang))
            yield Unit(gang, pods)

    def _worst_queue(self) -> int | None:
        """Down the tree, at each level the queue that would be served last."""
        at = NONE
        while self._children.get(at):
            at = max(self._children[at], key=self._key)
        return at if at != NONE else None

    def _key(self, queue: int) -> QueueKey:
        if queue not in self._keys:
            held = self.scout.accounts.allocated[queue].tolist()
            self._keys[queue] = self._pool.ranking.key(queue, held, (0, 0, 0))
        return self._keys[queue]

    def _worst_gang(self, queue: int) -> int | None:
        fresh = self._pool.gangs_of(queue)
        again = self._again.get(queue)
        at = self._next[queue]
        if again and (at >= len(fresh) or again[0] < fresh[at]):
            return heappop(again)[1]
        if at >= len(fresh):
            return None
        self._next[queue] += 1
        return fresh[at][1]

    def _open(self, queue: int) -> None:
        lineage = self._pool.lineage[queue]
        for below, above in zip(lineage, [*lineage[1:], NONE], strict=True):
            self._children.setdefault(above, set()).add(below)

    def _close(self, queue: int) -> None:
        lineage = self._pool.lineage[queue]
        for below, above in zip(lineage, [*lineage[1:], NONE], strict=True):
            self._children[above].discard(below)
            if self._children[above]:
                return
