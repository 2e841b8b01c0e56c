"""The next step of a gang: start it, or grow it by one unit; and turning a draft into pods on nodes.

Optional children come first, each as a whole, then single members, so that siblings grow evenly. A model of the same
on counts of members stands in the tests, which hold the two together.
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np

from quorate.scheduling import gang, topology
from quorate.scheduling.agenda import Add, Draft, Start
from quorate.scheduling.snapshot import NONE, SHARED, Ints
from quorate.scheduling.trial import Trial

Grown = tuple[int, float]


def steps(trial: Trial, root: int) -> Iterator[Start | Add]:
    """What the gang could do next, best first; nothing if its members are placed or too few exist."""
    if not gang.is_satisfied(trial, root):
        if gang.is_eligible(trial, root):
            yield Start(root)
        return
    tried: set[object] = set()
    for unit in _units(trial, root):
        kind = _kind(trial, unit)
        if kind not in tried:
            tried.add(kind)
            yield unit


def _units(trial: Trial, root: int) -> list[Start | Add]:
    groups = trial.snapshot.groups
    found: list[tuple[list[Grown], int, Start | Add]] = []
    reached: list[tuple[int, list[Grown]]] = [(root, [])]
    while reached:
        group, path = reached.pop()
        if groups.is_leaf(group):
            if len(trial.pending(group)):
                goal = Add(group, 1, topology.place_of(trial, group), above=_choosing(trial, group))
                found.append((path, group, goal))
            continue
        for child in groups.children(group):
            below = [*path, _grown(trial, child)]
            if gang.is_satisfied(trial, child):
                reached.append((child, below))
            elif gang.is_eligible(trial, child):
                start = Start(child, topology.place_of(trial, group), _choosing(trial, group))
                found.append((below, child, start))
    return [goal for _, _, goal in sorted(found, key=lambda one: one[:2])]


def _grown(trial: Trial, group: int) -> Grown:
    """Sorts siblings for growing: unsatisfied ones, then the least grown, then those without a minimum."""
    groups = trial.snapshot.groups
    if not gang.is_satisfied(trial, group):
        return 0, 0.0
    if groups.is_leaf(group):
        minimum, have = int(groups.min_member[group]), int(trial.active[group])
    else:
        minimum = int(groups.min_subgroup[group])
        have = sum(gang.is_satisfied(trial, child) for child in groups.children(group))
    return (1, have / minimum) if minimum else (2, 0.0)


def _choosing(trial: Trial, group: int) -> tuple[int, ...]:
    """The group and those above it whose next member is not bound to one domain, outermost first."""
    found, row = list[int](), group
    while row != NONE:
        if topology.has_choice(trial.snapshot, row, is_empty=not trial.active[row]):
            found.append(row)
        row = int(trial.snapshot.groups.parent[row])
    return tuple(reversed(found))


def first_choice(trial: Trial, goal: Start | Add) -> Ints:
    """The pods of a step if the first choice among children fits."""
    if isinstance(goal, Add):
        return trial.pending(goal.leaf)[: goal.count]
    return np.array(_first(trial, goal.group), dtype=np.int64)


def _first(trial: Trial, group: int) -> list[int]:
    groups = trial.snapshot.groups
    missing = max(int(groups.min_member[group] - trial.active[group]), 0)
    if groups.is_leaf(group):
        first: list[int] = trial.pending(group)[:missing].tolist()
        return first
    children = [child for child in gang.ordered_children(trial, group) if gang.is_eligible(trial, child)]
    pods: list[int] = []
    for child in children[: int(groups.min_subgroup[group])]:
        pods += _first(trial, child)
    extras = (pod for child in children for pod in trial.pending(child).tolist())
    known = set(pods)
    return [*pods, *islice((pod for pod in extras if pod not in known), max(missing - len(pods), 0))]


def has_choice(trial: Trial, goal: Start | Add) -> bool:
    """Whether the step could be made of other pods than its first choice."""
    groups = trial.snapshot.groups
    if isinstance(goal, Add):
        return _is_mixed(trial, goal.leaf)
    rows = range(goal.group, int(groups.end[goal.group]))
    return any(
        _is_mixed(trial, row)
        if groups.is_leaf(row)
        else groups.min_member[row] > 0 or groups.min_subgroup[row] < len(list(groups.children(row)))
        for row in rows
    )


def least(trial: Trial, goal: Start | Add) -> Ints:
    """What every choice of the step asks for at least, of each shared resource by itself: [3]."""
    if isinstance(goal, Add):
        return _least_members(trial, goal.leaf, goal.count)
    return _least(trial, goal.group)


def _least(trial: Trial, group: int) -> Ints:
    groups = trial.snapshot.groups
    if groups.is_leaf(group):
        return _least_members(trial, group, max(int(groups.min_member[group] - trial.active[group]), 0))
    children = list(groups.children(group))
    waiting = [child for child in children if not gang.is_satisfied(trial, child)]
    missing = int(groups.min_subgroup[group]) - (len(children) - len(waiting))
    able = [child for child in waiting if missing > 0 and gang.is_eligible(trial, child)]
    if not able:
        return np.zeros(len(SHARED), dtype=np.int64)
    asked = list(map(partial(_least, trial), able))
    smallest: Ints = np.sort(asked, axis=0)[:missing].sum(axis=0)
    return smallest


def _least_members(trial: Trial, leaf: int, count: int) -> Ints:
    snapshot = trial.snapshot
    asked = snapshot.shared_requests.take(snapshot.pods.shape[trial.pending(leaf)], axis=0)
    smallest: Ints = np.sort(asked, axis=0)[:count].sum(axis=0)
    return smallest


def _is_mixed(trial: Trial, leaf: int) -> bool:
    """Whether pods of more than one shape wait in the leaf."""
    shapes = trial.snapshot.pods.shape[trial.pending(leaf)]
    return bool((shapes != shapes[:1]).any())


def _kind(trial: Trial, unit: Start | Add) -> object:
    """Units of one kind fit or fail together: what is only preferred is given up before they fail."""
    bound = tuple(trial.snapshot.groups.required[list(unit.above)].tolist())
    if isinstance(unit, Add):
        return "add", int(trial.snapshot.pods.shape[trial.pending(unit.leaf)[0]]), unit.place, bound
    return gang.signature(trial, unit.group), unit.place, bound


def seats(trial: Trial, draft: Draft) -> tuple[Ints, Ints]:
    """The pods of a draft and their nodes, pairwise: members in order get the nodes in order."""
    pods: list[Ints] = []
    nodes: list[Ints] = []
    used: dict[tuple[int, int], int] = {}
    for step in draft.steps:
        waiting = trial.pending(step.leaf)
        shapes = trial.snapshot.pods.shape[waiting]
        if (shapes != step.shape).any():
            waiting = waiting[shapes == step.shape]
        first = used.get((step.leaf, step.shape), 0)
        count = int(step.counts.sum())
        used[step.leaf, step.shape] = first + count
        pods.append(waiting[first : first + count])
        nodes.append(np.repeat(step.nodes, step.counts))
    if len(pods) == 1:
        return pods[0], nodes[0]
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *pods]), np.concatenate([none, *nodes])
