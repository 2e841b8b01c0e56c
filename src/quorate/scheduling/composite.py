"""Gangs of gangs: which composite holds a gang back, who is in it, and where its members keep to.

A composite has started once any pod below it is active, so that a start whose binds partly failed is completed
gang by gang. Afterwards each gang lives alone; `together` starts those that have not.
"""

import numpy as np

from quorate.scheduling.snapshot import NONE, Ints, Snapshot, State
from quorate.scheduling.topology import ANYWHERE, Place
from quorate.scheduling.trial import Trial


def holder_of(trial: Trial, number: int) -> int:
    """The highest composite above a gang that has not started; NONE if the gang may start by itself."""
    composites = trial.snapshot.composites
    found, at = NONE, int(trial.snapshot.gangs.composite[number])
    while at != NONE:
        if composites.minimum[at] and not len(active_pods(trial, at)):
            found = at
        at = int(composites.parent[at])
    return found


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
