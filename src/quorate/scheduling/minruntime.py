"""How long a gang is left in peace after its start, as the queues say; the actions skip protected victims.

Against preemption the first value from the victim's queue upward counts. Against reclaim the method decides:
`lca` starts at the queue on the victim's side just below the common ancestor with the taker (different top
queues: only the victim's top queue), `queue` starts at the victim's own queue.
"""

from enum import StrEnum

import numpy as np

from quorate.scheduling.snapshot import NONE, Floats, Ints


class Method(StrEnum):
    LCA = "lca"
    QUEUE = "queue"


def against_preemption(lineage: Ints, seconds: Floats, victim: int, *, default: float = 0.0) -> float:
    return _first(seconds, lineage[victim], default)


def against_reclaim(
    lineage: Ints,
    seconds: Floats,
    taker: int,
    victim: int,
    *,
    method: Method = Method.LCA,
    default: float = 0.0,
) -> float:
    theirs = lineage[victim][lineage[victim] != NONE]
    if method is Method.QUEUE:
        return _first(seconds, theirs, default)
    shared = np.isin(theirs, lineage[taker])
    if not shared.any():
        return _first(seconds, theirs[-1:], default)
    below = int(np.argmax(shared)) - 1
    return _first(seconds, theirs[max(below, 0) :], default)


def is_protected(now: float, last_start: float, seconds: float) -> bool:
    """A gang that never started (NaN) is not protected."""
    return bool(now < last_start + seconds)


def _first(seconds: Floats, rows: Ints, default: float) -> float:
    values = seconds[rows[rows != NONE]]
    known = values[~np.isnan(values)]
    return float(known[0]) if len(known) else default
