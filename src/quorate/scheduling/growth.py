"""The next step of a gang: start it, or grow it by one unit; and turning a draft into pods on nodes.

A unit is a missing member of a satisfied leaf, or a whole optional child. Children that are not satisfied come
first, then those with the fewest members for their minimum.
"""

from collections.abc import Iterator

import numpy as np

from quorate.scheduling import gang, topology
from quorate.scheduling.agenda import Add, Draft, Start
from quorate.scheduling.snapshot import Ints
from quorate.scheduling.trial import Trial


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


def _units(trial: Trial, group: int) -> Iterator[Start | Add]:
    groups = trial.snapshot.groups
    if groups.is_leaf(group):
        if len(gang.pending(trial, group)):
            yield Add(group, 1, topology.place_of(trial, group))
        return
    for child in sorted(groups.children(group), key=lambda child: _need(trial, child)):
        if gang.is_satisfied(trial, child):
            yield from _units(trial, child)
        elif gang.is_eligible(trial, child):
            yield Start(child, topology.place_of(trial, group))


def _need(trial: Trial, group: int) -> tuple[bool, bool, float]:
    minimum = int(trial.snapshot.groups.min_member[group])
    is_satisfied = gang.is_satisfied(trial, group)
    return is_satisfied, is_satisfied and not minimum, int(trial.active[group]) / max(minimum, 1)


def _kind(trial: Trial, unit: Start | Add) -> object:
    """Units of one kind fit or fail together."""
    if isinstance(unit, Add):
        return "add", int(trial.snapshot.pods.shape[gang.pending(trial, unit.leaf)[0]]), unit.place
    return gang.signature(trial, unit.group), unit.place


def seats(trial: Trial, draft: Draft) -> tuple[Ints, Ints]:
    """The pods of a draft and their nodes, pairwise: members in order get the nodes in order."""
    pods: list[Ints] = []
    nodes: list[Ints] = []
    used: dict[tuple[int, int], int] = {}
    for step in draft.steps:
        waiting = gang.pending(trial, step.leaf)
        waiting = waiting[trial.snapshot.pods.shape[waiting] == step.shape]
        first = used.get((step.leaf, step.shape), 0)
        count = int(step.counts.sum())
        used[step.leaf, step.shape] = first + count
        pods.append(waiting[first : first + count])
        nodes.append(np.repeat(step.nodes, step.counts))
    return np.concatenate(pods), np.concatenate(nodes)
