"""How good a node is for one pod of a shape: higher is better, ties go to the first node by name.

The sum is lexicographic by construction: each part is below the weight of the next. A built-in score reads
only the node's own state, so that `Trial` refreshes it for touched nodes only.
"""

from typing import TYPE_CHECKING

import numpy as np

from quorate.scheduling.fit import SOFT_EFFECTS, matches_term, untolerated
from quorate.scheduling.snapshot import CPU, GPU, Floats, Ints, Snapshot

if TYPE_CHECKING:
    from quorate.scheduling.trial import Trial

PACKING = 9.0  # 0..9
KIND = 10.0  # pods without GPUs keep off nodes with GPUs
PREFERENCE = 100.0  # per full weight of the preferred node affinity
AVOIDANCE = 300.0  # nodes that would rather have others come last


def binpack(trial: "Trial", shape: int, nodes: Ints | slice) -> Floats:
    """The node with the least left over of the resource that matters for the shape comes first."""
    row, most = _main_resource(trial.snapshot, shape)
    packed: Floats = PACKING * (1.0 - np.maximum(trial.future[row][nodes], 0) / most)
    return packed + _steady(trial, shape)[nodes]


def spread(trial: "Trial", shape: int, nodes: Ints | slice) -> Floats:
    """The node with the largest free part comes first."""
    row, _ = _main_resource(trial.snapshot, shape)
    capacity = np.maximum(trial.snapshot.nodes.allocatable[row][nodes], 1)
    free: Floats = np.maximum(trial.future[row][nodes], 0) / capacity
    return free + _steady(trial, shape)[nodes]


def _main_resource(snapshot: Snapshot, shape: int) -> tuple[int, int]:
    """GPU if the shape asks for any, else CPU; and the most that one node has of it."""
    row = GPU if snapshot.requests[shape, GPU] else CPU
    return row, snapshot.nodes.largest[row]


def _steady(trial: "Trial", shape: int) -> Floats:
    """The parts that placing pods does not change, of all nodes."""
    known = trial.memory.get(("steady", shape))
    if known is None:
        known = trial.memory["steady", shape] = _steady_of(trial.snapshot, shape)
    return known


def _steady_of(snapshot: Snapshot, shape: int) -> Floats:
    gpus = snapshot.nodes.allocatable[GPU]
    score: Floats = np.zeros(gpus.shape) if snapshot.requests[shape, GPU] else KIND * (gpus == 0)
    preferences = snapshot.shapes[shape].node_preferences
    total = sum(abs(preference.weight) for preference in preferences) or 1
    for preference in preferences:
        score = score + PREFERENCE * preference.weight / total * matches_term(snapshot.nodes, preference.term)
    avoided = untolerated(snapshot.nodes, snapshot.shapes[shape].tolerations, SOFT_EFFECTS)
    return score - AVOIDANCE * avoided / max(int(avoided.max(initial=0)), 1)
