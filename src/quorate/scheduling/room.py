"""Make room for a gang by taking units from others: as few as the order of victims allows, none to spare.

1. Nothing is taken unless the whole step of the taker then fits.
2. Units are taken in the order they are drawn; of the shortest run of draws that makes room, every unit whose
   seats the taker does not use is left alone, then every unit without which a place is found all the same.
3. A unit of a gang is left alone only together with the later units of that gang.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from quorate.scheduling import gang, growth
from quorate.scheduling.attempt import Attempt, commit
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.pool import Unit
from quorate.scheduling.snapshot import NONE, Ints, Snapshot, State
from quorate.scheduling.trial import Trial

# Units that are tried one by one for being spared by another placement; beyond that the arithmetic decides.
SPARED_BY_SEARCH = 64


@dataclass(frozen=True, slots=True)
class Room:
    """Who goes, and where the taker's pods will be."""

    units: tuple[Unit, ...]
    attempt: Attempt


def make_room(cycle: Cycle, taker: int, draws: Iterable[Unit]) -> Room | None:
    """The units to take so that the taker's next step fits; None if all that may be drawn is not enough."""
    drawn: list[Unit] = []
    tried, size = 0, 1
    for unit in draws:
        drawn.append(unit)
        if len(drawn) < size:
            continue
        if _fits(cycle, taker, drawn):
            return _least(cycle, taker, drawn, tried)
        tried, size = len(drawn), size * 2
    if len(drawn) > tried and _fits(cycle, taker, drawn):
        return _least(cycle, taker, drawn, tried)
    return None


def take(cycle: Cycle, taker: int, room: Room, cause: Callable[[int], tuple[str, str]]) -> None:
    """Write the exchange into the trial of the cycle; `cause` words the eviction of a pod.

    Victims that fit elsewhere keep a seat there, gang by gang.
    """
    was_there = cycle.snapshot.pods.state == State.ACTIVE
    for unit in room.units:
        cycle.causes.update((pod, cause(pod)) for pod in unit.pods[was_there[unit.pods]].tolist())
    exchange(cycle.trial, taker, room)
    cycle.refused.pop(taker, None)
    by_gang: dict[int, list[Unit]] = {}
    for unit in room.units:
        by_gang.setdefault(unit.gang, []).append(unit)
    stuck: set[object] = set()  # kinds of gangs that found no seat: room only shrinks here
    for number, mine in by_gang.items():
        kind = _kind(cycle.trial, number, mine)
        if kind in stuck:
            continue
        if resettle(cycle, cycle.trial.fork(), mine):
            resettle(cycle, cycle.trial, mine)
        else:
            stuck.add(kind)


def _kind(trial: Trial, number: int, units: list[Unit]) -> object:
    """Equal for gangs that lost the same and so find a seat or none together; a gang of its own if some stay."""
    root = int(trial.snapshot.gangs.root[number])
    if trial.active[root]:
        return number
    shapes = trial.snapshot.pods.shape
    lost = tuple(sorted(int(shape) for unit in units for shape in shapes[unit.pods]))
    return int(trial.snapshot.gangs.queue[number]), gang.signature(trial, root), lost


def exchange(trial: Trial, taker: int, room: Room) -> None:
    """The units go, the taker gets their room."""
    if room.units:
        trial.evict(np.concatenate([unit.pods for unit in room.units]))
    assert room.attempt.draft is not None, "room is found together with a draft"
    commit(trial, taker, room.attempt.draft, now=False)


def resettle(cycle: Cycle, trial: Trial, units: Sequence[Unit]) -> bool:
    """Place evicted pods again, as their controllers will create them anew; False if somebody is left over."""
    moved = np.concatenate([unit.pods for unit in units])
    trial.revive(moved)
    for number in dict.fromkeys(unit.gang for unit in units):
        while True:
            attempt = cycle.solver.attempt(trial, number, now=False)
            if attempt.draft is None or not attempt.draft.steps:
                break
            commit(trial, number, attempt.draft, now=False)
    return bool((trial.state[moved] == State.ACTIVE).all())


def without(trial: Trial, units: Sequence[Unit]) -> Trial:
    """A fork in which the units are gone."""
    fork = trial.fork()
    if units:
        fork.evict(np.concatenate([unit.pods for unit in units]))
    return fork


def _fits(cycle: Cycle, taker: int, units: Sequence[Unit]) -> bool:
    return _try(cycle, taker, units).draft is not None


def _try(cycle: Cycle, taker: int, units: Sequence[Unit]) -> Attempt:
    found = cycle.solver.attempt(without(cycle.trial, units), taker, now=False)
    cycle.states += found.states
    return found


def _least(cycle: Cycle, taker: int, drawn: list[Unit], low: int) -> Room:
    """`low` draws were not enough, all of them are: the shortest run, then nobody in it that can be spared."""
    high = len(drawn)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fits(cycle, taker, drawn[:middle]) else (middle, high)
    units = drawn[:high]
    attempt = _try(cycle, taker, units)
    used = _used(cycle, attempt, units)
    if len(used) < len(units):
        # A queue's limit may need what no seat does.
        again = _try(cycle, taker, used)
        units, attempt = (used, again) if again.draft is not None else (units, attempt)
    last = {unit.gang: at for at, unit in enumerate(units)}
    for unit in [units[at] for at in sorted(last.values())][:SPARED_BY_SEARCH]:
        fewer = [other for other in units if other is not unit]
        found = _try(cycle, taker, fewer)
        if found.draft is not None:
            units, attempt = fewer, found
    return Room(tuple(units), attempt)


def _used(cycle: Cycle, attempt: Attempt, units: list[Unit]) -> list[Unit]:
    """The units whose seats the draft needs; the last drawn are the first to be left alone."""
    assert attempt.draft is not None, "only called with a draft"
    trial = cycle.trial
    pods, nodes = growth.seats(trial, attempt.draft)
    free = without(trial, units).future
    _add(free, trial.snapshot, pods, nodes, -1)
    kept: list[Unit] = []
    needed: set[int] = set()
    for unit in reversed(units):
        held = trial.node[unit.pods].astype(np.int64)
        there = held != NONE
        touched = np.unique(held[there])
        back = free[:, touched].copy()
        _add(free, trial.snapshot, unit.pods[there], held[there], -1)
        if unit.gang in needed or bool((free[:, touched] < 0).any()):
            free[:, touched] = back
            needed.add(unit.gang)
            kept.append(unit)
    return kept[::-1]


def _add(free: Ints, snapshot: Snapshot, pods: Ints, nodes: Ints, sign: int) -> None:
    takes = snapshot.requests[snapshot.pods.shape[pods]].T
    for row in np.flatnonzero(takes.any(axis=1)):
        np.add.at(free[row], nodes, sign * takes[row])
