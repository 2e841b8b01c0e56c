"""Whose turn it is: queues against their siblings, and gangs inside a queue, as keys that sort.

A queue is judged with the gang it would start next. The smaller key goes first; victims are drawn in the
reverse order.
"""

from typing import NamedTuple

import numpy as np

from quorate.scheduling.fairness import Shares
from quorate.scheduling.snapshot import Floats, Ints

QueueKey = tuple[bool, bool, float, bool, float, float, float, float, float]


class Standing(NamedTuple):
    """What of a queue's own fields decides: rows of the snapshot's queues."""

    priority: Ints
    created: Floats


def queue_key(queues: Standing, shares: Shares, queue: int, held: Floats, requested: Floats) -> QueueKey:
    """What a queue holds now, and what its next gang asks for, less what victims give back: [3] each."""
    ceiling = shares.allocatable[queue]
    after = held + requested
    return (
        bool(np.all(held > shares.fair[queue])),
        bool(np.any(after > shares.quota[queue])),
        -float(queues.priority[queue]),
        bool(np.any((ceiling == 0) & (held > 0))),
        shares.dominant(queue, after),
        shares.dominant(queue, held),
        float(ceiling[np.isfinite(ceiling)].sum()) if np.isfinite(ceiling).all() else float("inf"),
        float(queues.created[queue]),
        float(queue),
    )
