"""Seats that were meant to wait and need not: what they take is idle after all, so they are bound in this cycle.

A victim that was placed in the same cycle frees its seat at once. Runs last: nobody reads capacities afterwards.
"""

from dataclasses import replace

import numpy as np

from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import NONE, Ints, State
from quorate.scheduling.trial import Placement, distinct


def bind_ready(cycle: Cycle) -> None:
    """A gang is bound in the order of its placements, so that no extra comes before its core."""
    trial, snapshot = cycle.trial, cycle.snapshot
    if not trial.gave_back:
        return
    waiting: set[int] = set()
    for at, placement in enumerate(trial.placements):
        gang = int(snapshot.pods.gang[placement.pods[0]])
        if placement.now:
            continue
        if gang in waiting or snapshot.gangs.composite[gang] != NONE or not _is_idle(cycle, placement):
            waiting.add(gang)
            continue
        trial.placements[at] = replace(placement, now=True)
        np.subtract.at(trial.idle.T, placement.nodes, _takes(cycle, placement))


def _is_idle(cycle: Cycle, placement: Placement) -> bool:
    """Pods that were evicted are made anew first."""
    if (cycle.snapshot.pods.state[placement.pods] != State.PENDING).any():
        return False
    nodes = distinct([placement.nodes])
    takes = np.zeros((len(nodes), len(cycle.trial.idle)), dtype=np.int64)
    np.add.at(takes, np.searchsorted(nodes, placement.nodes), _takes(cycle, placement))
    return bool(((takes == 0) | (cycle.trial.idle.T[nodes] >= takes)).all())


def _takes(cycle: Cycle, placement: Placement) -> Ints:
    """What each pod takes: [pods, R]."""
    takes: Ints = cycle.snapshot.requests[cycle.snapshot.pods.shape[placement.pods]]
    return takes
