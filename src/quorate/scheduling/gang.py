"""A gang's tree read against a trial: satisfied, eligible, who is still to be placed.

The meaning is that of `rules.tree` (a test holds the two together); here it is asked of arrays. Children come
in the order in which the search prefers them: satisfied, then already holding members, then spec order.
"""

from collections.abc import Mapping

import numpy as np

from quorate.scheduling.snapshot import NONE, Bools, Groups, Ints
from quorate.scheduling.trial import Trial

Signature = tuple[object, ...]
Added = Mapping[int, int]  # members that a draft adds, by group and all groups above it
NOTHING: Added = {}


def is_satisfied(trial: Trial, group: int, added: Added = NOTHING) -> bool:
    """Whether the group's minimum holds with what is active in the trial and what a draft adds to it."""
    groups, active = trial.snapshot.groups, trial.active
    if active[group] + added.get(group, 0) < groups.min_member[group]:
        return False
    end = int(groups.end[group])
    if end == group + 1:
        return True
    held: dict[int, int] = {}  # by group: its children that are satisfied
    for row in range(end - 1, group, -1):
        if active[row] + added.get(row, 0) < groups.min_member[row]:
            continue
        if held.get(row, 0) >= groups.min_subgroup[row]:
            parent = int(groups.parent[row])
            held[parent] = held.get(parent, 0) + 1
    return bool(held.get(group, 0) >= groups.min_subgroup[group])


def all_satisfied(groups: Groups, active: Ints) -> Bools:
    """`is_satisfied` for every group of every gang at once, level by level from the deepest."""
    depth = groups.depth
    held = np.zeros(len(groups.parent), dtype=np.int64)
    holds = np.zeros(len(groups.parent), dtype=np.bool_)
    for level in range(int(depth.max(initial=0)), -1, -1):
        rows = np.flatnonzero(depth == level)
        holds[rows] = (active[rows] >= groups.min_member[rows]) & (held[rows] >= groups.min_subgroup[rows])
        parents = groups.parent[rows[holds[rows]]]
        np.add.at(held, parents[parents != NONE], 1)
    return holds


def is_eligible(trial: Trial, group: int) -> bool:
    """Whether the members that exist could meet the group's minimum, were there room for them."""
    groups = trial.snapshot.groups
    reach: dict[int, list[int]] = {}  # by group: how many members of each able child could be active at most
    for row in range(int(groups.end[group]) - 1, group - 1, -1):
        below = reach.get(row, [])
        most = int(trial.active[row]) + len(trial.pending(row)) if groups.is_leaf(row) else sum(below)
        if len(below) >= groups.min_subgroup[row] and most >= groups.min_member[row]:
            reach.setdefault(int(groups.parent[row]) if row != group else NONE, []).append(most)
    return NONE in reach


def ordered_children(trial: Trial, group: int) -> list[int]:
    """Children in the order of preference in which a minimum is filled."""
    children = trial.snapshot.groups.children(group)
    return sorted(children, key=lambda child: (not is_satisfied(trial, child), not trial.active[child]))


def signature(trial: Trial, group: int) -> Signature:
    """Equal for groups that no placement can tell apart: same minima, constraints and pending shapes."""
    groups = trial.snapshot.groups
    parts: list[object] = []
    for row in range(group, int(groups.end[group])):
        parts.append(
            (
                int(groups.end[row]) - row,
                int(groups.min_member[row]),
                int(groups.min_subgroup[row]),
                int(groups.required[row]),
                int(groups.preferred[row]),
                int(trial.active[row]),
            )
        )
        if groups.is_leaf(row):
            parts.append(tuple(trial.snapshot.pods.shape[trial.pending(row)].tolist()))
    return (*parts, group if trial.active[group] else 0)
