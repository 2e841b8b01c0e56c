"""Allocate: give idle room, and room that is being freed, to gangs in the order of their turns.

A gang takes one step at a time, so that the growth of one does not outrun the start of another.
"""

import numpy as np

from quorate.scheduling import composite, gang, growth
from quorate.scheduling.attempt import Attempt, commit, requested_by
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.order import Ranking, Standing, Turns, Waiting
from quorate.scheduling.snapshot import NONE, Ints, State
from quorate.scheduling.together import start
from quorate.scheduling.trial import Trial


def allocate(cycle: Cycle) -> None:
    """Gangs for which seats were held go first: they paid for them."""
    pods = cycle.snapshot.pods
    waiting = waiting_gangs(cycle.trial)
    paid = np.unique(pods.gang[(pods.nominated != NONE) & (pods.state == State.PENDING)])
    if len(paid):
        _serve(cycle, np.intersect1d(waiting, paid))
    _serve(cycle, waiting_gangs(cycle.trial) if len(paid) else waiting)


def _serve(cycle: Cycle, gangs: Ints) -> None:
    trial = cycle.trial
    turns = new_turns(cycle, trial)
    refused: set[int] = set()  # composites
    failed = Failures(trial)
    for number in gangs.tolist():
        push(turns, trial, number)
    while (turn := turns.pop()) is not None:
        holder = composite.holder_of(trial, turn.gang)
        if holder == NONE:
            moved = [turn.gang] if _step(cycle, turn.gang, failed) else []
        elif holder in refused:
            moved = []
        else:
            moved = _start_together(cycle, holder)
            refused.update([] if moved else [holder])
        for number in moved:
            push(turns, trial, number)
        for queue in {int(cycle.snapshot.gangs.queue[number]) for number in (turn.gang, *moved)}:
            turns.refresh(queue)


class Failures:
    """Tries that found no room: room only shrinks while allocating, so gangs of the same kind need no try.

    Where pods draw other pods near, room can also open, and every gang is tried.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._found: dict[object, Attempt] = {}

    def of(self, number: int) -> Attempt | None:
        """The failure of a gang that nothing tells apart from this one."""
        return self._found.get(self._kind(number)) if self._found else None

    def add(self, number: int, attempt: Attempt) -> None:
        if not self._trial.coupled:
            self._found[self._kind(number)] = attempt

    def _kind(self, number: int) -> object:
        """Names too, because the refusal tells them."""
        snapshot = self._trial.snapshot
        rows = snapshot.gang_groups(number)
        names = snapshot.groups.names[rows.start : rows.stop]
        return int(snapshot.gangs.composite[number]), names, gang.signature(self._trial, rows.start)


def _step(cycle: Cycle, number: int, failed: Failures) -> bool:
    """Give a gang its next step, now or in seats that are being freed; whether it may take another.

    A gang whose start waits for seats grows in no other way: nobody is bound before the minimum is.
    """
    trial = cycle.trial
    known = failed.of(number)
    if known is not None:
        cycle.refused[number] = known
        return False
    found = Attempt()
    for now in (False,) if composite.waits(trial, number) else (True, False):
        found = cycle.solver.attempt(trial, number, now=now)
        if found.draft is not None:
            commit(trial, number, found.draft, now=now)
            cycle.refused.pop(number, None)
            return now
        if found.goal is not None:
            cycle.refused[number] = found
        if not trial.has_releasing:
            break
    if found.stop is None and found.goal is not None:
        failed.add(number, found)
    return False


def _start_together(cycle: Cycle, holder: int) -> list[int]:
    """Start a composite, all or nothing; the gangs that moved."""
    trial, held = cycle.trial, 0
    below = composite.gangs_below(trial, holder).tolist()
    for now in (True, False):
        starts, held = start(cycle.solver, trial, holder, now=now)
        if starts is not None:
            for number, draft in starts:
                commit(trial, number, draft, now=now)
                cycle.refused.pop(number, None)
            return below if now else []
        if not trial.has_releasing:
            break
    needed = int(cycle.snapshot.composites.minimum[holder])
    cycle.refused.update({number: Attempt(together=(held, needed)) for number in below})
    return []


def new_turns(cycle: Cycle, trial: Trial) -> Turns:
    queues = cycle.snapshot.queues
    return Turns(Ranking(cycle.shares, queues.priority, queues.created), trial.accounts)


def waiting_gangs(trial: Trial) -> Ints:
    """Gangs with pods to place whose queue exists and that no back-off holds."""
    pods, gangs = trial.snapshot.pods, trial.snapshot.gangs
    waits = np.zeros(len(gangs.refs), dtype=np.bool_)
    waits[pods.gang[(trial.state == State.PENDING) & (pods.gang != NONE)]] = True
    found: Ints = np.flatnonzero(waits & (gangs.queue != NONE) & ~gangs.is_held_back)
    return found


def push(turns: Turns, trial: Trial, number: int) -> None:
    """Queue a gang for its next step, if it has one."""
    gangs = trial.snapshot.gangs
    goal = next(growth.steps(trial, int(gangs.root[number])), None)
    if goal is None:
        return
    requested = requested_by(trial, growth.first_choice(trial, goal))
    key = (-int(gangs.priority[number]), standing(trial, number), float(gangs.created[number]), number)
    turns.push(int(gangs.queue[number]), Waiting(key, number, tuple(requested.tolist())))


def standing(trial: Trial, number: int) -> Standing:
    """How far a gang has come."""
    groups, root = trial.snapshot.groups, int(trial.snapshot.gangs.root[number])
    if not gang.is_satisfied(trial, root):
        return Standing.BELOW
    leaves = [row for row in range(root, int(groups.end[root])) if groups.is_leaf(row)]
    return (
        Standing.ABOVE if any(trial.active[row] > groups.min_member[row] for row in leaves) else Standing.AT
    )


def standings(trial: Trial) -> Ints:
    """`standing` of every gang at once."""
    groups = trial.snapshot.groups
    is_leaf = groups.end == np.arange(1, len(groups.end) + 1)
    grown = np.zeros(len(trial.snapshot.gangs.refs), dtype=np.bool_)
    grown[groups.gang[is_leaf & (trial.active > groups.min_member)]] = True
    holds = gang.all_satisfied(groups, trial.active)[trial.snapshot.gangs.root]
    return np.where(holds, np.where(grown, Standing.ABOVE, Standing.AT), Standing.BELOW)
