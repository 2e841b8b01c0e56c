"""Gangs of gangs: which composite holds a gang back, who is in it, and where its members keep to.

A composite has started once any pod below it is active or has succeeded, so that a start whose binds partly failed
is completed gang by gang. Afterwards each gang lives alone; `together` starts those that have not.
"""

import numpy as np

from quorate.scheduling.gang import is_satisfied
from quorate.scheduling.snapshot import NONE, Bools, Ints, Snapshot, State
from quorate.scheduling.topology import ANYWHERE, Place
from quorate.scheduling.trial import Trial


def holder_of(trial: Trial, number: int) -> int:
    """The highest composite above a gang that has not started; NONE if the gang may start by itself."""
    composites = trial.snapshot.composites
    found, at = NONE, int(trial.snapshot.gangs.composite[number])
    while at != NONE:
        if composites.minimum[at] and not has_started(trial, at) and not is_met(trial, at):
            found = at
        at = int(composites.parent[at])
    return found


def has_started(trial: Trial, composite: int) -> bool:
    return bool(trial.active[trial.snapshot.gangs.root[gangs_below(trial, composite)]].any())


def is_met(trial: Trial, composite: int) -> bool:
    """Whether enough groups of a composite are satisfied as it is: those without a minimum need nobody."""
    composites, gangs = trial.snapshot.composites, trial.snapshot.gangs
    held = sum(is_satisfied(trial, root) for root in gangs.root[gangs.composite == composite].tolist())
    held += sum(is_met(trial, below) for below in np.flatnonzero(composites.parent == composite).tolist())
    return bool(held >= composites.minimum[composite])


def party(trial: Trial, number: int) -> list[int]:
    """The gang, or all that can only start together with it."""
    holder = holder_of(trial, number)
    below: list[int] = [number] if holder == NONE else gangs_below(trial, holder).tolist()
    return below


def kin(trial: Trial, number: int) -> frozenset[int]:
    """The gangs of the highest composite above a gang: they take nothing from each other."""
    parent, at = trial.snapshot.composites.parent, int(trial.snapshot.gangs.composite[number])
    if at == NONE:
        return frozenset()
    while parent[at] != NONE:
        at = int(parent[at])
    return frozenset(gangs_below(trial, at).tolist())


def starting(snapshot: Snapshot) -> Bools:
    """Gangs that a composite held back when the cycle began: what they get in it they get together."""
    composites, lineage = snapshot.composites, _lineage(snapshot)
    started = np.zeros(len(composites.refs) + 1, dtype=np.bool_)
    started[lineage[snapshot.groups.active[snapshot.gangs.root] > 0]] = True
    waits = np.append(~started[:-1] & (composites.minimum > 0), [False])
    found: Bools = np.logical_or.reduce(waits[lineage], axis=1)
    return found


def waits(trial: Trial, number: int) -> bool:
    """Whether the start of a gang waits for seats that are being freed, or that of a gang which starts with it."""
    if number in trial.waiting or not trial.waiting:
        return number in trial.waiting
    has_kin = trial.snapshot.gangs.composite[number] != NONE
    return bool(
        has_kin and not trial.waiting.isdisjoint(kin(trial, number)) and starting(trial.snapshot)[number]
    )


def bound_to_a_domain(snapshot: Snapshot) -> Bools:
    """Gangs that a composite keeps to one domain."""
    is_bound = np.append(snapshot.composites.required != NONE, [False])
    found: Bools = np.logical_or.reduce(is_bound[_lineage(snapshot)], axis=1)
    return found


def _lineage(snapshot: Snapshot) -> Ints:
    """The composites above each gang: [G, depth], padded with NONE."""
    above = [snapshot.gangs.composite]
    while (above[-1] != NONE).any():
        above.append(np.append(snapshot.composites.parent, [NONE])[above[-1]])
    return np.stack(above, axis=1)


def members(snapshot: Snapshot, composite: int) -> int:
    """How many gangs and composites stand directly below."""
    below = (snapshot.gangs.composite == composite).sum() + (snapshot.composites.parent == composite).sum()
    return int(below)


def gangs_below(trial: Trial, composite: int) -> Ints:
    """All gangs of a composite and of the composites in it."""
    composites, gangs = trial.snapshot.composites, trial.snapshot.gangs
    rows, pending = [composite], [composite]
    while pending:
        below = np.flatnonzero(composites.parent == pending.pop()).tolist()
        rows += below
        pending += below
    found: Ints = np.flatnonzero(np.isin(gangs.composite, rows))
    return found


def active_pods(trial: Trial, composite: int) -> Ints:
    """Pods below a composite that hold a node."""
    pods = [
        np.flatnonzero(trial.state[rows] == State.ACTIVE) + rows.start
        for rows in map(trial.snapshot.gang_pods, gangs_below(trial, composite).tolist())
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *pods])


def pods_beside(trial: Trial, composite: int, level: int) -> Ints:
    """Per domain of the level, the running pods of the composites from which this one keeps apart."""
    spread = trial.snapshot.composites.spread
    beside = np.flatnonzero((spread == spread[composite]) & (spread != NONE)).tolist()
    pods = [active_pods(trial, other) for other in beside if other != composite]
    nodes = trial.node[np.concatenate([np.empty(0, dtype=np.int64), *pods])]
    one = trial.snapshot.levels[level]
    domains = one.of_node[nodes[nodes != NONE]]
    counts: Ints = np.bincount(domains[domains != NONE], minlength=len(one.domains))
    return counts


def place_of(trial: Trial, composite: int) -> Place:
    """The domains in which the running members of a composite, and of those above it, keep new ones."""
    composites, place, at = trial.snapshot.composites, ANYWHERE, composite
    while at != NONE:
        level = int(composites.required[at])
        nodes = trial.node[active_pods(trial, at)] if level >= 0 else np.empty(0, dtype=np.int32)
        domains = trial.snapshot.levels[level].of_node[nodes[nodes != NONE]] if level >= 0 else nodes
        place = (*((level, one) for one in np.unique(domains[domains != NONE])[:1].tolist()), *place)
        at = int(composites.parent[at])
    return place
