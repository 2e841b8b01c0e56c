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

from quorate.scheduling import gang, spare, together
from quorate.scheduling.attempt import commit, requested_by
from quorate.scheduling.composite import holder_of
from quorate.scheduling.cycle import Cause, Cycle
from quorate.scheduling.pool import Unit
from quorate.scheduling.snapshot import Ints, State
from quorate.scheduling.spare import joined
from quorate.scheduling.together import Fit
from quorate.scheduling.trial import Trial, distinct
from quorate.scheduling.victims import Absence

# Units that are tried for being spared by another placement, whole and in parts; beyond that arithmetic decides.
SPARED_BY_SEARCH = 64


@dataclass(frozen=True, slots=True)
class Room:
    """Who goes, and where the taker's pods will be."""

    units: tuple[Unit, ...]
    fit: Fit

    def gets(self, trial: Trial) -> Ints:
        """What the taker's pods ask for of the shared resources: [3]."""
        return requested_by(trial, self.fit.seats(trial)[0])


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
        fit = find(cycle, draws.scout, taker)
        if fit is not None:
            return _bounded(cycle, taker, _Drawn(drawn, draws.scout, tried, fit))
        tried, size = len(drawn), size * 2
    if len(drawn) == tried:
        return None
    fit = find(cycle, draws.scout, taker)
    return None if fit is None else _bounded(cycle, taker, _Drawn(drawn, draws.scout, tried, fit))


def take(cycle: Cycle, taker: int, room: Room, cause: Callable[[int], tuple[str, str]]) -> None:
    """Write the exchange into the trial of the cycle; `cause` words the eviction of a pod.

    Victims that fit elsewhere keep a seat there, gang by gang: all of them, else as many as the gang can do with.
    """
    gone = joined(room.units)
    gone = gone[cycle.snapshot.pods.state[gone] == State.ACTIVE]
    cycle.trial.spend(gone[[pod not in cycle.causes for pod in gone.tolist()]])
    cycle.causes.update((pod, Cause(*cause(pod), taker)) for pod in gone.tolist())
    exchange(cycle.trial, room)
    for number, _ in room.fit.drafts:
        cycle.refused.pop(number, None)
    by_gang: dict[int, list[Unit]] = {}
    for unit in room.units if _has_seat(cycle.trial, joined(room.units)) else ():
        by_gang.setdefault(unit.gang, []).append(unit)
    stuck: set[object] = set()  # kinds of gangs that found no seat: room only shrinks here
    for number, mine in by_gang.items():
        if not _may_settle(cycle.trial, number, mine):
            continue
        kind = _kind(cycle.trial, number, mine)
        if kind in stuck:
            continue
        lost, fork = joined(mine), cycle.trial.fork()
        resettle(cycle, fork, mine)
        if (fork.state[lost] == State.ACTIVE).any():
            resettle(cycle, cycle.trial, mine)
            cycle.trial.dismiss(lost[cycle.trial.state[lost] != State.ACTIVE])
        else:
            stuck.add(kind)


def _has_seat(trial: Trial, pods: Ints) -> bool:
    """Whether any of the pods fits anywhere."""
    shapes = distinct([trial.snapshot.pods.shape[pods]]).tolist()
    return any(trial.column(shape, now=False).total for shape in shapes)


def _may_settle(trial: Trial, number: int, units: Sequence[Unit]) -> bool:
    """Whether seats are left somewhere for as many as the gang cannot do without, as far as counting them tells."""
    lost = Counter(trial.snapshot.pods.shape[joined(units)].tolist())
    seats = sum(min(trial.column(shape, now=False).total, pods) for shape, pods in lost.items())
    root = int(trial.snapshot.gangs.root[number])
    return seats >= max(1, int(trial.snapshot.groups.min_member[root] - trial.active[root]))


def _kind(trial: Trial, number: int, units: list[Unit]) -> object:
    """Equal for gangs that lost the same and so find a seat or none together; a gang of its own if some stay."""
    root = int(trial.snapshot.gangs.root[number])
    if trial.active[root]:
        return number
    shapes = trial.snapshot.pods.shape
    lost = tuple(sorted(int(shape) for unit in units for shape in shapes[unit.pods]))
    return int(trial.snapshot.gangs.queue[number]), gang.signature(trial, root), lost


def exchange(trial: Trial, room: Room) -> None:
    """The units go, the taker gets their room."""
    if room.units:
        trial.evict(joined(room.units))
    for number, draft in room.fit.drafts:
        commit(trial, number, draft, now=False)


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


def _try(cycle: Cycle, taker: int, units: Sequence[Unit]) -> Fit | None:
    return find(cycle, without(cycle.trial, units), taker)


def find(cycle: Cycle, trial: Trial, taker: int) -> Fit | None:
    """With units gone, others of the taker's composite among them, the taker is still who it was before."""
    return together.find(cycle.solver, trial, taker, holder_of(cycle.trial, taker))


class _Drawn(NamedTuple):
    """Units after which a place was found, the trial in which they are gone, and a number that was too few."""

    units: list[Unit]
    scout: Trial
    too_few: int
    fit: Fit


def _bounded(cycle: Cycle, taker: int, drawn: "_Drawn") -> Room | None:
    """The least room, unless it costs others too many times what the taker gets."""
    room = _least(cycle, taker, drawn)
    gets = room.gets(cycle.trial)
    costs = requested_by(cycle.trial, joined(room.units))
    asked = gets > 0
    is_dear = (costs[asked] > cycle.policy.evicted_per_requested * gets[asked]).any()
    return None if is_dear else room


def _least(cycle: Cycle, taker: int, drawn: _Drawn) -> Room:
    """The shortest run of the draws that makes room, then nobody in it that can be spared."""
    low, high, fit = drawn.too_few, len(drawn.units), drawn.fit
    while high - low > 1:
        middle = (low + high) // 2
        found = _try(cycle, taker, drawn.units[:middle])
        if found is None:
            low = middle
        else:
            high, fit = middle, found
    units = drawn.units[:high]
    used = spare.used(cycle.trial, fit, units)
    if len(used) < len(units):
        # A queue's limit may need what no seat does.
        again = _try(cycle, taker, used)
        units, fit = (used, again) if again is not None else (units, fit)
    scout = drawn.scout if len(units) == len(drawn.units) else without(cycle.trial, units)
    return spared(cycle, taker, scout, Room(tuple(units), fit))


def spared(cycle: Cycle, taker: int, scout: Trial, room: Room) -> Room:
    """Leave alone, part by part, those without whom a place is found all the same; all are gone in `scout`."""
    count, gone = spare.Count(scout, room.fit.goals), joined(room.units)
    absence = Absence(cycle.trial, gone)
    for part in spare.parts(cycle.trial, _last_first(room.units)[:SPARED_BY_SEARCH])[: 2 * SPARED_BY_SEARCH]:
        pods = part[np.isin(part, gone)]
        if not len(pods) or not absence.may_stay(pods):
            continue
        if count.needs(cycle.trial.node[pods].astype(np.int64), pods):
            continue
        fewer = spare.without(room.units, pods)
        found = _try(cycle, taker, fewer)
        if found is not None:
            room, gone = Room(fewer, found), joined(fewer)
            count = spare.Count(without(cycle.trial, fewer), found.goals)
            absence.keep(pods)
    return room


def _last_first(units: Sequence[Unit]) -> list[Unit]:
    """The last unit of each gang, then the others: what was drawn late is missed most."""
    last = {unit.gang: at for at, unit in enumerate(units)}
    return sorted(units, key=lambda unit: units[last[unit.gang]] is not unit)
