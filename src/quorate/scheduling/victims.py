"""What a gang gives up next, as rows of pods: an extra member, a whole optional child, or all of it.

A model of the same on counts of members stands in the tests, which hold the two together.

1. The core is never in a unit, nor is any member of a non-preemptible gang or one that a budget guards.
2. Taking a unit leaves every group above it satisfied that was so before, unless the unit is the whole gang.
3. Members go in the reverse of the order in which they came: last leaf first, last member first.
"""

from collections import Counter
from collections.abc import Iterator

from quorate.scheduling.gang import is_satisfied
from quorate.scheduling.snapshot import NONE, Ints
from quorate.scheduling.trial import HOLDS, NOBODY, NON, Trial


def next_unit(trial: Trial, gang: int) -> Ints:
    """The pods to take together; nobody if nothing may be taken."""
    snapshot = trial.snapshot
    kind = snapshot.gangs.preemptibility[gang]
    root = int(snapshot.gangs.root[gang])
    held = _held(trial, root)
    if kind == NON or not len(held):
        return NOBODY
    if is_satisfied(trial, root):
        partial = _spare_member(trial, root) if _has_spare(trial, root) else NOBODY
        if not len(partial):
            partial = _spare_child(trial, root)
        if len(partial):
            return partial
    return held if may_go(trial, held) else NOBODY


def may_go(trial: Trial, pods: Ints) -> bool:
    """Whether these may be taken together."""
    return not trial.stays[pods].any() and not len(trial.overdrawn(pods))


def is_extra(trial: Trial, gang: int, pods: Ints) -> bool:
    """Whether the minimum of the gang holds without these of its pods."""
    return Absence(trial, pods).leaves_whole(gang)


def _has_spare(trial: Trial, root: int) -> bool:
    groups = trial.snapshot.groups
    return bool(trial.active[root] > groups.min_member[root])


def _spare_member(trial: Trial, root: int) -> Ints:
    groups = trial.snapshot.groups
    for leaf in reversed(range(root, int(groups.end[root]))):
        if not groups.is_leaf(leaf) or trial.active[leaf] <= groups.min_member[leaf]:
            continue
        free = _held(trial, leaf)
        free = free[~trial.stays[free]]
        if len(free) and _still_holds(trial, leaf, {}, 1):
            return free[-1:]
    return NOBODY


def _spare_child(trial: Trial, root: int) -> Ints:
    """Deepest first, a broken child before a satisfied one, then last in the spec."""
    groups = trial.snapshot.groups
    rows = range(root + 1, int(groups.end[root]))
    ranked = sorted(rows, key=lambda row: (-_depth(trial, row), is_satisfied(trial, row), -row))
    for row in ranked:
        held = _held(trial, row)
        if not len(held) or not may_go(trial, held):
            continue
        lost = {below: -len(_held(trial, below)) for below in range(row, int(groups.end[row]))}
        if _still_holds(trial, int(groups.parent[row]), lost, len(held)):
            return held
    return NOBODY


def _still_holds(trial: Trial, group: int, lost: dict[int, int], taken: int) -> bool:
    """Whether the group and all above it that are satisfied stay so without the taken members.

    `lost` says what that takes from groups below.
    """
    path: list[int] = []
    row = group
    while row != NONE:
        path.append(row)
        lost[row] = -taken
        row = int(trial.snapshot.groups.parent[row])
    return all(is_satisfied(trial, row, lost) or not is_satisfied(trial, row) for row in path)


def _held(trial: Trial, group: int) -> Ints:
    """Pods below a group that hold a node, in order."""
    groups = trial.snapshot.groups
    first, last = int(groups.first_pod[group]), int(groups.last_pod[group])
    rows: Ints = (trial.state[first:last] == HOLDS).nonzero()[0] + first
    return rows


def _depth(trial: Trial, group: int) -> int:
    depth, row = 0, group
    while row != NONE:
        depth, row = depth + 1, int(trial.snapshot.groups.parent[row])
    return depth


class Absence:
    """What is gone from gangs, and who may stay after all: no group that held may be left with too few."""

    def __init__(self, trial: Trial, gone: Ints) -> None:
        self._trial = trial
        self._lost: dict[int, dict[int, int]] = {}  # by gang, by group
        pods = trial.snapshot.pods
        for (gang, leaf), count in Counter(
            zip(pods.gang[gone].tolist(), pods.leaf[gone].tolist(), strict=True)
        ).items():
            self._add(self._lost.setdefault(gang, {}), leaf, -count)

    def leaves_whole(self, gang: int) -> bool:
        """Whether the minimum of a gang holds all the same."""
        return is_satisfied(self._trial, int(self._trial.snapshot.gangs.root[gang]), self._lost[gang])

    def may_stay(self, pods: Ints) -> bool:
        """Whether these of one gang could stay, the others gone."""
        lost, trial = self._with(pods), self._trial
        leaves = set(trial.snapshot.pods.leaf[pods].tolist())
        rows = {row for leaf in leaves for row in self._upward(leaf)}
        return all(is_satisfied(trial, row, lost) or not is_satisfied(trial, row) for row in rows)

    def keep(self, pods: Ints) -> None:
        self._lost[int(self._trial.snapshot.pods.gang[pods[0]])] = self._with(pods)

    def _with(self, pods: Ints) -> dict[int, int]:
        lost = dict(self._lost[int(self._trial.snapshot.pods.gang[pods[0]])])
        for leaf, count in Counter(self._trial.snapshot.pods.leaf[pods].tolist()).items():
            self._add(lost, leaf, count)
        return lost

    def _add(self, lost: dict[int, int], leaf: int, count: int) -> None:
        for row in self._upward(leaf):
            lost[row] = lost.get(row, 0) + count

    def _upward(self, leaf: int) -> Iterator[int]:
        row = leaf
        while row != NONE:
            yield row
            row = int(self._trial.snapshot.groups.parent[row])
