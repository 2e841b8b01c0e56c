"""Seats that were meant to wait and need not: what they take is idle after all, so they are bound in this cycle.

A victim that was placed in the same cycle frees its seat at once.
"""

import numpy as np

from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import NONE, State
from quorate.scheduling.trial import Placement


def bind_ready(cycle: Cycle) -> None:
    """A gang is bound in the order of its placements, so that no extra comes before its core."""
    trial, snapshot = cycle.trial, cycle.snapshot
    trial.waiting.clear()
    for at, placement in enumerate(trial.placements):
        if placement.now:
            continue
        gang = int(snapshot.pods.gang[placement.pods[0]])
        is_alone = snapshot.gangs.composite[gang] == NONE
        if is_alone and gang not in trial.waiting and _is_idle(cycle, placement):
            trial.seat_now(at)
        else:
            trial.waiting.add(gang)


def _is_idle(cycle: Cycle, placement: Placement) -> bool:
    """Pods that were evicted are made anew first, and neighbours who leave are gone first."""
    snapshot = cycle.snapshot
    if (snapshot.pods.state[placement.pods] != State.PENDING).any():
        return False
    if not cycle.trial.coupled.isdisjoint(snapshot.pods.shape[placement.pods].tolist()):
        return False
    left = cycle.trial.idle[:, placement.nodes].T.copy()
    nodes, at = np.unique(placement.nodes, return_inverse=True)
    takes = np.zeros((len(nodes), left.shape[1]), dtype=np.int64)
    np.add.at(takes, at, snapshot.requests[snapshot.pods.shape[placement.pods]])
    return bool(((takes[at] == 0) | (left >= takes[at])).all())
