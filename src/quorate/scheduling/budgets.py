"""Room within what disruption budgets allow, and which of them a gang waits for.

1. A plan evicts no more pods of a budget than it allows: whom a spent budget guards is not drawn, nor a unit of which
   it allows only some.
2. What was drawn before does not count while others are drawn, since most of it is left alone in the end. A room that
   takes too many of a budget is looked for again without those of its pods that are too many.
"""

from collections.abc import Callable

import numpy as np

from quorate.scheduling.cycle import Cycle
from quorate.scheduling.pool import Unit
from quorate.scheduling.room import Draws, Room, make_room
from quorate.scheduling.snapshot import Bools, Ints
from quorate.scheduling.spare import joined
from quorate.scheduling.trial import NOBODY, Trial

ENDLESS = 2**31


def within_budgets(cycle: Cycle, taker: int, draws: Callable[[Trial], Draws]) -> Room | None:
    """The room that the draws make; where only budgets are in the way, they are noted."""
    trial = cycle.trial.fork()
    room = make_room(cycle, taker, draws(trial))
    while room is not None and len(over := cycle.trial.overdrawn(joined(room.units))):
        stays = trial.stays | _surplus(cycle.trial, room.units, over)
        trial = cycle.trial.fork()
        trial.stays = stays
        room = make_room(cycle, taker, draws(trial))
    if room is None and len(missing := _missing(cycle, taker, draws)):
        cycle.behind[taker] = missing
    return room


def _surplus(trial: Trial, units: tuple[Unit, ...], over: Ints) -> Bools:
    """All pods of these budgets but those that go in the first units that they allow."""
    kept: list[Unit] = []
    for unit in units:
        if not len(trial.overdrawn(joined([*kept, unit]))):
            kept.append(unit)
    surplus = np.isin(trial.snapshot.pods.budget, over)
    surplus[joined(kept)] = False
    return surplus


def _missing(cycle: Cycle, taker: int, draws: Callable[[Trial], Draws]) -> Ints:
    """The budgets that would have to allow more; nobody's if there is no room even then."""
    if not len(cycle.trial.allowed):
        return NOBODY
    free = cycle.trial.fork()
    free.allowed, free.stays = np.full_like(free.allowed, ENDLESS), cycle.snapshot.pods.stays
    room = make_room(cycle, taker, draws(free))
    return cycle.trial.overdrawn(joined(room.units)) if room is not None else NOBODY
