"""Make room for a gang by taking units from others: as few as the order of victims allows, none to spare.

1. Nothing is taken unless the whole step of the taker then fits.
2. Units are taken in the order they are drawn; of the shortest run of draws that makes room, every unit whose
   seats the taker does not use is left alone, then every unit without which a place is found all the same.
3. A unit is left alone only where that leaves its gang whole as far as it was.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from quorate.scheduling import gang, growth, spare
from quorate.scheduling.agenda import Draft
from quorate.scheduling.attempt import Attempt, commit, requested_by
from quorate.scheduling.cycle import Cause, Cycle
from quorate.scheduling.pool import Unit
from quorate.scheduling.snapshot import Ints, State
from quorate.scheduling.spare import joined
from quorate.scheduling.trial import Trial, distinct
from quorate.scheduling.victims import Absence

# Units that are tried for being spared by another placement, whole and in parts; beyond that arithmetic decides.
SPARED_BY_SEARCH = 64


@dataclass(frozen=True, slots=True)
class Room:
    """Who goes, and where the taker's pods will be."""

    units: tuple[Unit, ...]
    attempt: Attempt

    @property
    def draft(self) -> Draft:
        """The place that was found."""
        assert self.attempt.draft is not None, "room is found together with a draft"
        return self.attempt.draft

    def seats(self, trial: Trial) -> tuple[Ints, Ints]:
        """The taker's pods and their nodes, pairwise."""
        return growth.seats(trial, self.draft)


class Draws(Protocol):
    """Units one after another; what was drawn is gone from `scout`."""

    scout: Trial

    def __iter__(self) -> Iterator[Unit]: ...


def make_room(cycle: Cycle, taker: int, draws: Draws) -> Room | None:
    """The units to take so that the taker's next step fits; None if all that may be drawn is not enough."""
    drawn: list[Unit] = []
    tried, size = 0, 1
    for unit in draws:
        drawn.append(unit)
        if len(drawn) < size:
            continue
        attempt = _attempt(cycle, draws.scout, taker)
        if attempt.draft is not None:
            return _bounded(cycle, taker, _Drawn(drawn, draws.scout, tried, attempt))
        tried, size = len(drawn), size * 2
    if len(drawn) == tried:
        return None
    attempt = _attempt(cycle, draws.scout, taker)
    if attempt.draft is None:
        return None
    return _bounded(cycle, taker, _Drawn(drawn, draws.scout, tried, attempt))


def take(cycle: Cycle, taker: int, room: Room, cause: Callable[[int], tuple[str, str]]) -> None:
    """Write the exchange into the trial of the cycle; `cause` words the eviction of a pod.

    Victims that fit elsewhere keep a seat there, gang by gang.
    """
    gone = joined(room.units)
    gone = gone[cycle.snapshot.pods.state[gone] == State.ACTIVE]
    cycle.trial.spend(gone[[pod not in cycle.causes for pod in gone.tolist()]])
    cycle.causes.update((pod, Cause(*cause(pod), taker)) for pod in gone.tolist())
    exchange(cycle.trial, taker, room)
    cycle.refused.pop(taker, None)
    by_gang: dict[int, list[Unit]] = {}
    for unit in room.units if _has_seat(cycle.trial, joined(room.units)) else ():
        by_gang.setdefault(unit.gang, []).append(unit)
    stuck: set[object] = set()  # kinds of gangs that found no seat: room only shrinks here
    for number, mine in by_gang.items():
        if not _may_settle(cycle.trial, mine):
            continue
        kind = _kind(cycle.trial, number, mine)
        if kind in stuck:
            continue
        if resettle(cycle, cycle.trial.fork(), mine):
            resettle(cycle, cycle.trial, mine)
        else:
            stuck.add(kind)


def _has_seat(trial: Trial, pods: Ints) -> bool:
    """Whether any of the pods fits anywhere."""
    shapes = distinct([trial.snapshot.pods.shape[pods]]).tolist()
    return any(trial.column(shape, now=False).total for shape in shapes)


def _may_settle(trial: Trial, units: Sequence[Unit]) -> bool:
    """Whether enough seats are left somewhere, as far as counting them tells."""
    lost = Counter(trial.snapshot.pods.shape[joined(units)].tolist())
    return all(trial.column(shape, now=False).total >= pods for shape, pods in lost.items())


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
        trial.evict(joined(room.units))
    commit(trial, taker, room.draft, now=False)


def resettle(cycle: Cycle, trial: Trial, units: Sequence[Unit]) -> bool:
    """Place evicted pods again, as their controllers will create them anew; False if somebody is left over."""
    moved = joined(units)
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
        fork.evict(joined(units))
    return fork


def _attempt(cycle: Cycle, trial: Trial, taker: int) -> Attempt:
    return cycle.solver.attempt(trial, taker, now=False)


def _try(cycle: Cycle, taker: int, units: Sequence[Unit]) -> Attempt:
    return _attempt(cycle, without(cycle.trial, units), taker)


class _Drawn(NamedTuple):
    """Units after which a place was found, the trial in which they are gone, and a number that was too few."""

    units: list[Unit]
    scout: Trial
    too_few: int
    attempt: Attempt


def _bounded(cycle: Cycle, taker: int, drawn: "_Drawn") -> Room | None:
    """The least room, unless it costs others too many times what the taker gets."""
    room = _least(cycle, taker, drawn)
    gets = requested_by(cycle.trial, room.seats(cycle.trial)[0])
    costs = requested_by(cycle.trial, joined(room.units))
    asked = gets > 0
    is_dear = (costs[asked] > cycle.policy.evicted_per_requested * gets[asked]).any()
    return None if is_dear else room


def _least(cycle: Cycle, taker: int, drawn: _Drawn) -> Room:
    """The shortest run of the draws that makes room, then nobody in it that can be spared."""
    low, high, attempt = drawn.too_few, len(drawn.units), drawn.attempt
    while high - low > 1:
        middle = (low + high) // 2
        found = _try(cycle, taker, drawn.units[:middle])
        if found.draft is None:
            low = middle
        else:
            high, attempt = middle, found
    units = drawn.units[:high]
    assert attempt.draft is not None, "the last try that is kept found a place"
    used = spare.used(cycle.trial, attempt.draft, units)
    if len(used) < len(units):
        # A queue's limit may need what no seat does.
        again = _try(cycle, taker, used)
        units, attempt = (used, again) if again.draft is not None else (units, attempt)
    scout = drawn.scout if len(units) == len(drawn.units) else without(cycle.trial, units)
    return _spared(cycle, taker, scout, Room(tuple(units), attempt))


def _spared(cycle: Cycle, taker: int, scout: Trial, room: Room) -> Room:
    """Leave alone, part by part, those without whom a place is found all the same; all are gone in `scout`."""
    assert room.attempt.goal is not None, "a draft is found for a step"
    count, gone = spare.Count(scout, room.attempt.goal), joined(room.units)
    absence = Absence(cycle.trial, gone)
    for part in spare.parts(cycle.trial, _last_first(room.units)[:SPARED_BY_SEARCH])[: 2 * SPARED_BY_SEARCH]:
        pods = part[np.isin(part, gone)]
        if not len(pods) or not absence.may_stay(pods):
            continue
        if count.needs(cycle.trial.node[pods].astype(np.int64), pods):
            continue
        fewer = spare.without(room.units, pods)
        found = _try(cycle, taker, fewer)
        if found.draft is not None and found.goal is not None:
            room, gone = Room(fewer, found), joined(fewer)
            count = spare.Count(without(cycle.trial, fewer), found.goal)
            absence.keep(pods)
    return room


def _last_first(units: Sequence[Unit]) -> list[Unit]:
    """The last unit of each gang, then the others: what was drawn late is missed most."""
    last = {unit.gang: at for at, unit in enumerate(units)}
    return sorted(units, key=lambda unit: units[last[unit.gang]] is not unit)
