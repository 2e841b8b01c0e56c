"""Which members of a gang may not be taken from it again: all of a non-preemptible gang, the core of a semi one.

The meaning is that of `rules.tree.core` (a test holds the two together); here it is asked of a trial and of pods
that would be added to it, so that the gates see how far the core grows.
"""

from collections import Counter

import numpy as np

from quorate.scheduling import gang
from quorate.scheduling.snapshot import NONE, Ints
from quorate.scheduling.trial import HOLDS, NOBODY, NON, SEMI, Trial


def protected_part(trial: Trial, number: int, pods: Ints) -> tuple[Ints, Ints | None]:
    """Those of the pods that would be protected, and by how much that of the gang grows: [3], None for nothing."""
    kind = trial.snapshot.gangs.preemptibility[number]
    if kind == NON:
        return pods, _sum(trial, pods)
    if kind != SEMI:
        return NOBODY, None
    root = int(trial.snapshot.gangs.root[number])
    before, after = core_of(trial, root, NOBODY), core_of(trial, root, pods)
    return np.intersect1d(pods, after), _sum(trial, after) - _sum(trial, before)


def core_of(trial: Trial, root: int, more: Ints) -> Ints:
    """Pods of the core if `more` pods of the gang were active too, in member order leaf by leaf."""
    added: dict[int, int] = {}
    for leaf, count in Counter(trial.snapshot.pods.leaf[more].tolist()).items():
        row = leaf
        while row != NONE:
            added[row] = added.get(row, 0) + count
            row = int(trial.snapshot.groups.parent[row])
    groups, found = trial.snapshot.groups, [NOBODY]
    for leaf, count in _needs(trial, root, added).items():
        first, last = int(groups.first_pod[leaf]), int(groups.last_pod[leaf])
        held = np.flatnonzero(trial.state[first:last] == HOLDS) + first
        mine = more[trial.snapshot.pods.leaf[more] == leaf]
        found.append(np.union1d(held, mine)[:count])
    return np.concatenate(found)


def _needs(trial: Trial, group: int, added: gang.Added) -> dict[int, int]:
    """Members by leaf: those of the first K children, satisfied ones first, then more up to `minMember`."""
    groups = trial.snapshot.groups
    if groups.is_leaf(group):
        return {group: min(int(groups.min_member[group]), _have(trial, group, added))}
    children = sorted(groups.children(group), key=lambda child: not gang.is_satisfied(trial, child, added))
    needs: dict[int, int] = {}
    for child in children[: int(groups.min_subgroup[group])]:
        needs |= _needs(trial, child, added)
    short = int(groups.min_member[group]) - sum(needs.values())
    for child in children if short > 0 else ():
        for leaf in (row for row in range(child, int(groups.end[child])) if groups.is_leaf(row)):
            more = min(short, _have(trial, leaf, added) - needs.get(leaf, 0))
            needs[leaf] = needs.get(leaf, 0) + more
            short -= more
    return needs


def _have(trial: Trial, leaf: int, added: gang.Added) -> int:
    return int(trial.active[leaf]) + added.get(leaf, 0)


def _sum(trial: Trial, pods: Ints) -> Ints:
    asked: Ints = trial.snapshot.shared_requests.take(trial.snapshot.pods.shape[pods], axis=0).sum(axis=0)
    return asked
