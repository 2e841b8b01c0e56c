"""Consolidate: move preemptible gangs together so that a waiting one fits, without anybody losing their seats.

Nobody is moved unless everybody who is moved has a new place beside the taker, whoever of them chooses first. The node
that lacks the least for one more pod of the taker is cleared first, of equals the one with the gang of the lowest
priority, then the last; there the least and youngest gang moves first that has where to go, and of its pods only those
that end up elsewhere.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from quorate.scheduling import composite, reasons, spare, victims
from quorate.scheduling.budgets import within_budgets
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.packing import shapes_below
from quorate.scheduling.pool import Unit, holders
from quorate.scheduling.room import Room, exchange, find, resettle, spared, take, without
from quorate.scheduling.snapshot import GPU, NONE, Floats, Ints, Preemptibility, State
from quorate.scheduling.spare import joined
from quorate.scheduling.takers import serve
from quorate.scheduling.trial import Trial

REASON = "Consolidated"


def consolidate(cycle: Cycle) -> None:
    serve(cycle, lambda cycle, taker: is_served(cycle, taker) and move_for(cycle, taker))


def is_served(cycle: Cycle, taker: int) -> bool:
    """Whether others are moved for the gang here; reclaim does it for the rest."""
    kinds = cycle.snapshot.gangs.preemptibility[composite.party(cycle.trial, taker)]
    return bool((kinds == Preemptibility.PREEMPTIBLE).all())


def move_for(cycle: Cycle, taker: int) -> bool:
    """Move others for the gang, if everybody finds a place."""
    gangs = cycle.snapshot.gangs
    shape = _shape(cycle, taker)
    if shape == NONE:
        return False
    if cycle.trial.future[GPU].clip(min=0).sum() < cycle.snapshot.requests[shape, GPU]:
        return False
    room = _room(cycle, taker, shape)
    if room is None:
        return False
    refs, name = cycle.snapshot.pods.refs, gangs.refs[taker].key
    take(cycle, taker, room, lambda pod: (REASON, reasons.moved(refs[pod].key, name)))
    return True


def _room(cycle: Cycle, taker: int, shape: int) -> Room | None:
    """The first room for which everybody who makes it finds a new place; each try starts on another node.

    Members of one size take the seats that are cleared for them. Smaller ones have a choice, and it may be wrong.
    """
    has_choice = len(_shapes(cycle, taker)) > 1
    shunned: set[int] = set()
    draws = partial(_Clearing, taker=taker, shape=shape, shunned=shunned, limit=cycle.policy.moved_units)
    for _ in range(cycle.policy.moving_tries):
        room = within_budgets(cycle, taker, draws)
        if room is None:
            return None
        settled = _settled(cycle, room)
        if settled is None and has_choice and (behind := _behind(cycle, taker, room.units)) is not None:
            room, settled = behind, _settled(cycle, behind)
        if settled is not None:
            return _without_returning(cycle, taker, room, settled)
        shunned.update(cycle.trial.node[room.units[0].pods].tolist())
    return None


def _behind(cycle: Cycle, taker: int, units: tuple[Unit, ...]) -> Room | None:
    """What is left for the taker once everybody who goes has chosen a new place."""
    fork = without(cycle.trial, units)
    if not resettle(cycle, fork, units):
        return None
    fit = find(cycle, fork, taker)
    return None if fit is None else Room(units, fit)


def _settled(cycle: Cycle, room: Room) -> Trial | None:
    """A fork after the exchange, if everybody found a place in it."""
    fork = cycle.trial.fork()
    exchange(fork, room)
    return fork if resettle(cycle, fork, room.units) else None


def _without_returning(cycle: Cycle, taker: int, room: Room, settled: Trial) -> Room:
    """The room without those who would only come back to where they are, and without whom they kept from staying.

    Who was seated in this cycle waits for the others of the gang.
    """
    moved = joined(room.units)
    runs = cycle.snapshot.pods.state[moved] == State.ACTIVE
    back = moved[runs & (settled.node[moved] == cycle.trial.node[moved])]
    fewer = Room(spare.without(room.units, back), room.fit)
    if not len(back) or not _settled(cycle, fewer):
        return room
    fewest = spared(cycle, taker, without(cycle.trial, fewer.units), fewer)
    return fewest if fewest is fewer or _settled(cycle, fewest) else fewer


def _shape(cycle: Cycle, taker: int) -> int:
    """The largest of the taker's waiting pods: what room is cleared for."""
    return max(_shapes(cycle, taker), key=cycle.trial.weight, default=NONE)


def _shapes(cycle: Cycle, taker: int) -> list[int]:
    roots = cycle.snapshot.gangs.root[composite.party(cycle.trial, taker)].tolist()
    return sorted({shape for root in roots for shape in shapes_below(cycle.trial, root)})


class _Clearing:
    """Draws the units whose going clears nodes for one more pod of the taker's shape."""

    def __init__(self, scout: Trial, *, taker: int, shape: int, shunned: set[int], limit: int) -> None:
        self.scout = scout
        self._limit = limit
        self._shape = shape
        self._shunned = shunned
        gangs = holders(self.scout)
        self._movable = np.zeros(len(scout.snapshot.gangs.refs) + 1, dtype=np.bool_)
        self._movable[gangs[~composite.bound_to_a_domain(scout.snapshot)[gangs]]] = True
        self._movable[[taker, *composite.kin(scout, taker)]] = False
        self._movable[NONE] = False

    def __iter__(self) -> Iterator[Unit]:
        for _ in range(self._limit):
            unit = _next(self.scout, self._candidates(), self._shape, self._shunned)
            if unit is None:
                return
            self.scout.evict(unit.pods)
            yield unit

    def _candidates(self) -> Ints:
        """Pods that may be moved and find room on another node."""
        scout, pods = self.scout, self.scout.snapshot.pods
        here = np.flatnonzero((scout.state == State.ACTIVE) & self._movable[pods.gang] & (scout.node != NONE))
        elsewhere = np.zeros(len(here), dtype=np.bool_)
        for shape in np.unique(pods.shape[here]).tolist():
            counts, mine = scout.column(shape, now=False).counts, pods.shape[here] == shape
            elsewhere[mine] = counts.sum() > counts[scout.node[here[mine]]]
        return here[elsewhere]


def _next(scout: Trial, here: Ints, shape: int, shunned: set[int]) -> Unit | None:
    """A unit of the least gang of these pods, on the cheapest node that can be cleared."""
    pods = scout.snapshot.pods
    lacks = _lacks(scout, shape)
    lacks[list(shunned)] = np.inf
    nodes = scout.node[here]
    usable = here[np.isfinite(lacks[nodes])]
    while len(usable):
        nodes = scout.node[usable]
        cheapest = usable[lacks[nodes] == lacks[nodes].min()]
        priority = scout.snapshot.gangs.priority[pods.gang[cheapest]]
        node = int(scout.node[cheapest[priority == priority.min()]].max())
        for number in _least_first(scout, pods.gang[usable[nodes == node]]):
            unit = victims.next_unit(scout, number)
            if len(unit) and (scout.node[unit] == node).any():
                return Unit(number, unit)
        usable = usable[nodes != node]
    return None


def _lacks(scout: Trial, shape: int) -> Floats:
    """How far each node is from room for one more pod than it has now; infinite where none may go."""
    request = scout.snapshot.requests[shape]
    asked = np.flatnonzero(request)
    fits = scout.future[asked] / request[asked, None]
    room = np.floor(fits.min(axis=0)).clip(min=0)
    return np.where(scout.mask(shape), (room + 1 - fits).max(axis=0), np.inf)


def _least_first(scout: Trial, numbers: Ints) -> list[int]:
    """The lowest priority first, of equals the youngest."""
    gangs, found = scout.snapshot.gangs, np.unique(numbers)
    order: Ints = np.lexsort((found, gangs.created[found], -gangs.priority[found]))[::-1]
    return [int(number) for number in found[order]]
