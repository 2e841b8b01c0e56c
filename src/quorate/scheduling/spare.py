"""Who of those that would make room can be left alone, by arithmetic on what the taker needs.

`used` keeps the units whose seats are needed. `Count` tells which units no other placement can do without,
so that nobody searches for one.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from quorate.scheduling.agenda import Add, Start
from quorate.scheduling.placement import Search
from quorate.scheduling.pool import Unit
from quorate.scheduling.snapshot import NONE, Ints
from quorate.scheduling.together import Fit
from quorate.scheduling.trial import NOBODY, Trial, distinct
from quorate.scheduling.victims import Absence


def used(trial: Trial, fit: Fit, units: Sequence[Unit]) -> list[Unit]:
    """The units whose seats are needed for what fits; the last drawn are the first to be left alone."""
    gone = joined(units)
    left = _Left(trial, gone, *fit.seats(trial))
    absence = Absence(trial, gone)
    kept: list[Unit] = []
    for unit in reversed(units):
        free = left.with_back(unit.pods)
        if free is not None and absence.may_stay(unit.pods):
            left.update(free)
            absence.keep(unit.pods)
        else:
            kept.append(unit)
    return kept[::-1]


def parts(trial: Trial, units: Sequence[Unit]) -> list[Ints]:
    """Pods that might be left alone together: each unit, then of trees what each group loses."""
    groups, leaf_of = trial.snapshot.groups, trial.snapshot.pods.leaf
    found = [unit.pods for unit in units]
    for gang in dict.fromkeys(unit.gang for unit in units):
        root = int(trial.snapshot.gangs.root[gang])
        gone = np.sort(joined([unit for unit in units if unit.gang == gang]))
        if len(gone) == 1 or groups.is_leaf(root):
            continue
        rows = range(root, int(groups.end[root]))
        found += [gone[(leaf_of[gone] >= row) & (leaf_of[gone] < groups.end[row])] for row in rows]
    return [part for part in found if len(part)]


def without(units: Sequence[Unit], pods: Ints) -> tuple[Unit, ...]:
    """The units when these pods stay."""
    left = (Unit(unit.gang, unit.pods[~np.isin(unit.pods, pods)]) for unit in units)
    return tuple(unit for unit in left if len(unit.pods))


def joined(units: Sequence[Unit]) -> Ints:
    """The pods of all units."""
    return np.concatenate([NOBODY, *[unit.pods for unit in units]])


class _Left:
    """What is free on the nodes of pods that go once the taker's pods are placed: plain numbers by node."""

    def __init__(self, trial: Trial, gone: Ints, pods: Ints, nodes: Ints) -> None:
        self._node, self._shape = trial.node, trial.snapshot.pods.shape
        self._requests = trial.snapshot.request_rows
        gone = gone[trial.node[gone] != NONE]
        held = trial.node[gone].astype(np.int64)
        where = distinct([held])
        free = trial.free(where, now=False).T.copy()
        np.add.at(free, np.searchsorted(where, held), trial.snapshot.requests[self._shape[gone]])
        taken = np.isin(nodes, where)
        np.subtract.at(
            free,
            np.searchsorted(where, nodes[taken]),
            trial.snapshot.requests[self._shape[pods[taken]]],
        )
        self._free: dict[int, list[int]] = dict(zip(where.tolist(), free.tolist(), strict=True))

    def with_back(self, pods: Ints) -> dict[int, list[int]] | None:
        """What is free on their nodes if these stay where they are; None if they cannot."""
        after: dict[int, list[int]] = {}
        for node, shape in zip(self._node[pods].tolist(), self._shape[pods].tolist(), strict=True):
            if node != NONE:
                free = after.get(node) or self._free[node]
                after[node] = [has - takes for has, takes in zip(free, self._requests[shape], strict=True)]
        return None if any(min(free) < 0 for free in after.values()) else after

    def update(self, free: dict[int, list[int]]) -> None:
        self._free.update(free)


class Count:
    """How many pods fit in a trial without the units, against how many the taker's steps cannot do without."""

    def __init__(self, scout: Trial, goals: Iterable[Start | Add]) -> None:
        self._scout = scout
        roots = [(goal.leaf if isinstance(goal, Add) else goal.group, goal) for goal in goals]
        searches = [(Search(scout, root, now=False, is_exact=False), goal) for root, goal in roots]
        self._demands = [demand for search, goal in searches for demand in search.demands(goal)]

    def needs(self, seats: Ints, pods: Ints) -> bool:
        """Whether there is too little room, wherever it is, if these pods stay on their seats."""
        nodes = distinct([seats[seats != NONE].astype(np.int64)])
        if not len(nodes):
            return False
        snapshot = self._scout.snapshot
        free = self._scout.free(nodes, now=False).T.copy()
        here = pods[seats != NONE]
        at = np.searchsorted(nodes, seats[seats != NONE])
        np.subtract.at(free, at, snapshot.requests[snapshot.pods.shape[here]])
        for demand in self._demands:
            left = self._scout.counts(demand.shape, free.T, nodes)
            lost = int((demand.view.column.counts[nodes] - left).sum())
            if demand.view.total - lost < demand.pods:
                return True
        return False
