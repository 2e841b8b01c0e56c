"""Gangs of gangs: which composite holds a gang back, who is in it, and where its members keep to.

A composite has started once any pod below it is active, so that a start whose binds partly failed is completed
gang by gang. Afterwards each gang lives alone; `together` starts those that have not.
"""

import numpy as np

from quorate.scheduling.snapshot import NONE, Ints, State
from quorate.scheduling.topology import ANYWHERE, Place
from quorate.scheduling.trial import Trial


def holder_of(trial: Trial, number: int) -> int:
    """The highest composite above a gang that has not started; NONE if the gang may start by itself."""
    found, at = NONE, int(trial.snapshot.gangs.composite[number])
    while at != NONE:
        if not len(active_pods(trial, at)):
            found = at
        at = int(trial.snapshot.composites.parent[at])
    return found


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
