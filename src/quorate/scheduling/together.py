"""Start a composite: enough of its members, all in one go or none; composites in it by the same rule.

Each level has its own minimum and its own domain. Gangs are tried in the order of a queue, those first for which
seats are held.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quorate.scheduling import composite, gang, growth, topology
from quorate.scheduling.agenda import Add, Draft, Start
from quorate.scheduling.attempt import Solver, commit
from quorate.scheduling.snapshot import NONE, Ints, Snapshot, State
from quorate.scheduling.topology import Place
from quorate.scheduling.trial import Trial

Starts = list[tuple[int, Draft]]


class Fit(NamedTuple):
    """Drafts by gang, in the order to commit them; `goals` are the steps of them that have to be taken."""

    drafts: Starts
    goals: tuple[Start | Add, ...]

    def seats(self, trial: Trial) -> tuple[Ints, Ints]:
        """The pods of all drafts and their nodes, pairwise."""
        found = [growth.seats(trial, draft) for _, draft in self.drafts]
        return np.concatenate([pods for pods, _ in found]), np.concatenate([nodes for _, nodes in found])


def find(solver: Solver, trial: Trial, number: int, holder: int) -> Fit | None:
    """Seats, free or being freed, for the next step of a gang, or for the start of the composite that holds it."""
    if holder == NONE:
        found = solver.attempt(trial, number, now=False)
        if found.draft is None or found.goal is None:
            return None
        return Fit([(number, found.draft)], (found.goal,))
    starts, _ = start(solver, trial, holder, now=False)
    return Fit(starts, ()) if starts else None


def start(solver: Solver, trial: Trial, row: int, *, now: bool) -> tuple[Starts | None, int]:
    """Drafts that start the composite together, in the order to commit them; and the most that could start."""
    best = 0
    if composite.members(trial.snapshot, row) < trial.snapshot.composites.minimum[row]:
        return None, best
    for place in _places(trial, row, composite.place_of(trial, row)):
        starts, held = _fill(solver, trial.fork(), row, place, now=now)
        best = max(best, held)
        if starts is not None:
            return starts, held
    return None, best


def _places(trial: Trial, row: int, place: Place) -> Iterator[Place]:
    """Domains to try for a composite that starts, narrowest level first."""
    composites = trial.snapshot.composites
    required, preferred = int(composites.required[row]), int(composites.preferred[row])
    for level in topology.levels_between(trial.snapshot, required, preferred):
        if level == NONE:
            yield place
            continue
        domains = topology.candidates(trial, level, place, [])
        taken = composite.pods_beside(trial, row, level)
        for domain in sorted(domains, key=lambda domain: taken[domain]):
            yield (*place, (level, domain))


def _fill(solver: Solver, scout: Trial, row: int, place: Place, *, now: bool) -> tuple[Starts | None, int]:
    """Start members one after the other in the scout until the minimum is reached."""
    snapshot = scout.snapshot
    starts: Starts = []
    held, needed = 0, int(snapshot.composites.minimum[row])
    for number in _ranked(snapshot, row):
        if held >= needed:
            break
        if gang.is_satisfied(scout, int(snapshot.gangs.root[number])):
            held += 1
            continue
        draft = solver.attempt(scout, number, now=now, place=place).draft
        if draft is not None:
            commit(scout, number, draft, now=now)
            starts.append((number, draft))
            held += 1
    for below in np.flatnonzero(snapshot.composites.parent == row).tolist():
        if held >= needed:
            break
        for inner in _places(scout, below, place):
            found, _ = _fill(solver, scout.fork(), below, inner, now=now)
            if found is not None:
                for number, draft in found:
                    commit(scout, number, draft, now=now)
                starts += found
                held += 1
                break
    return (starts if held >= needed else None), held


def _ranked(snapshot: Snapshot, row: int) -> list[int]:
    """The gangs directly below a composite: those for which seats are held, then in the order of a queue."""
    gangs, pods = snapshot.gangs, snapshot.pods
    paid = np.unique(pods.gang[(pods.nominated != NONE) & (pods.state == State.PENDING)])
    found = np.flatnonzero(gangs.composite == row)
    keys = (found, gangs.created[found], -gangs.priority[found], ~np.isin(found, paid))
    ranked: list[int] = found[np.lexsort(keys)].tolist()
    return ranked
