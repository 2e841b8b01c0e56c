"""Seats that were meant to wait and need not: what they take is idle after all, so they are bound in this cycle.

A victim that was placed in the same cycle frees its seat at once. Runs last: nobody reads capacities afterwards.
"""

from dataclasses import replace

import numpy as np

from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import NONE, State
from quorate.scheduling.trial import Placement


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
        trial.idle -= _takes(cycle, placement)


def _is_idle(cycle: Cycle, placement: Placement) -> bool:
    """Pods that were evicted are made anew first."""
    if (cycle.snapshot.pods.state[placement.pods] != State.PENDING).any():
        return False
    takes = _takes(cycle, placement)
    return bool(((takes == 0) | (cycle.trial.idle >= takes)).all())


def _takes(cycle: Cycle, placement: Placement) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """What the placement takes of each node: [R, N]."""
    snapshot = cycle.snapshot
    takes = np.zeros_like(cycle.trial.idle)
    requests = snapshot.requests[snapshot.pods.shape[placement.pods]].T
    for row in np.flatnonzero(requests.any(axis=1)):
        np.add.at(takes[row], placement.nodes, requests[row])
    return takes
