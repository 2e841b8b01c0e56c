"""The floor: bare NumPy kernels over the same arrays, with nothing of a scheduler around them."""

import time

import numpy as np

from quorate.scheduling.snapshot import NONE, Snapshot


def seconds(snapshot: Snapshot) -> float:
    """For each waiting gang: count what every node takes, rank the nodes, fill them, subtract."""
    idle = snapshot.nodes.allocatable - snapshot.nodes.used
    pods = snapshot.pods
    waiting = np.flatnonzero((pods.node == NONE) & (pods.gang != NONE))
    if not len(waiting):
        return 0.0
    gangs, first, sizes = np.unique(pods.gang[waiting], return_index=True, return_counts=True)
    shapes = pods.shape[waiting[first]]
    begin = time.process_time()
    for shape, size in zip(shapes.tolist(), sizes.tolist(), strict=True):
        request = snapshot.requests[shape]
        rows = np.flatnonzero(request)
        counts = (idle[rows] // request[rows, None]).min(axis=0)
        order = np.argsort(idle[rows[-1]], kind="stable")
        before = np.cumsum(counts[order]) - counts[order]
        taken = np.clip(size - before, 0, counts[order])
        touched = np.flatnonzero(taken)
        idle[np.ix_(rows, order[touched])] -= np.outer(request[rows], taken[touched])
    elapsed = time.process_time() - begin
    assert len(gangs) == len(shapes)
    return elapsed
