"""Reclaim: a gang within its fair share takes from other queues what they hold beyond theirs.

`reclaimable` says who may take from whom, `minruntime` who is left in peace, `room` how little is enough. Where
nobody holds too much, others may still be moved for a gang that consolidation does not serve.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from quorate.scheduling import consolidate, minruntime, reasons, reclaimable
from quorate.scheduling.attempt import requested_by
from quorate.scheduling.budgets import within_budgets
from quorate.scheduling.composite import kin, party
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.order import Ranking
from quorate.scheduling.policy import Action
from quorate.scheduling.pool import Draw, Pool
from quorate.scheduling.room import Room, take
from quorate.scheduling.snapshot import SHARED, Ints
from quorate.scheduling.spare import joined
from quorate.scheduling.takers import is_protected_step, least_of, serve
from quorate.scheduling.trial import Trial, distinct

REASON = "Reclaimed"


def reclaim(cycle: Cycle) -> None:
    queues = cycle.snapshot.queues
    pool = cache(lambda: Pool(cycle.trial, Ranking(cycle.shares, queues.priority, queues.created)))
    serve(cycle, lambda cycle, taker: _reclaim_for(cycle, pool, taker))


def _reclaim_for(cycle: Cycle, pool: Callable[[], Pool], taker: int) -> bool:
    queue = int(cycle.snapshot.gangs.queue[taker])
    room = _room(cycle, pool, taker, queue)
    if room is None:
        return _move_for(cycle, taker, queue)
    pods, name = cycle.snapshot.pods, cycle.snapshot.gangs.refs[taker].key
    use = cache(partial(_use, cycle))

    def cause(pod: int) -> tuple[str, str]:
        victim = int(cycle.snapshot.gangs.queue[pods.gang[pod]])
        return REASON, reasons.reclaimed(pods.refs[pod].key, name, [use(victim), use(queue)])

    take(cycle, taker, room, cause)
    return True


def _move_for(cycle: Cycle, taker: int, queue: int) -> bool:
    """Whether others were moved for a gang within its fair share; nobody loses anything by it."""
    if Action.CONSOLIDATE in cycle.policy.actions and consolidate.is_served(cycle, taker):
        return False
    protected, requested = _asked(cycle, taker)
    if not reclaimable.may_start(cycle.trial.accounts, cycle.shares, queue, requested, protected=protected):
        return False
    return consolidate.move_for(cycle, taker)


def _asked(cycle: Cycle, taker: int) -> tuple[bool, Ints]:
    """Whether all of what would be placed may not be taken back, and the least that is asked for."""
    gangs = party(cycle.trial, taker)
    return all(is_protected_step(cycle, one) for one in gangs), least_of(cycle, gangs)


def _room(cycle: Cycle, pool: Callable[[], Pool], taker: int, queue: int) -> Room | None:
    """Room for a step within the fair share.

    What a step with a choice asks for is known with its place: if it is more than was thought, there is less to claim.
    """
    within = replace(cycle, solver=replace(cycle.solver, shares=reclaimable.up_to_fair(cycle.shares, queue)))
    protected, requested = _asked(cycle, taker)
    while reclaimable.may_start(cycle.trial.accounts, cycle.shares, queue, requested, protected=protected):
        claims = _Claims(cycle, taker, requested)
        room = within_budgets(within, taker, partial(Draw, pool(), claims=claims))
        if room is None:
            return None
        gets = room.gets(cycle.trial)
        if (gets <= requested).all():
            return room if _stays_fair(cycle, queue, gets, room) else None
        requested = np.maximum(requested, gets)
    return None


class _Claims:
    """What one taker may claim from whom; what does not change while it draws is found once for each queue."""

    def __init__(self, cycle: Cycle, taker: int, requested: Ints) -> None:
        self._cycle = cycle
        self._kin = kin(cycle.trial, taker)
        self._queue = int(cycle.snapshot.gangs.queue[taker])
        self._requested: list[int] = requested.tolist()
        self._sides: dict[int, tuple[int, int, float]] = {}

    def on_queue(self, scout: Trial, queue: int) -> bool:
        if queue == self._queue:
            return False
        ours, theirs, _ = self._side(queue)
        allocated = scout.accounts.allocated
        held = [has + asks for has, asks in zip(allocated[ours].tolist(), self._requested, strict=True)]
        left: list[int] = allocated[theirs].tolist()
        shares = self._cycle.shares
        if not reclaimable.may_take(shares, ours, held, theirs, left):
            return False
        is_short = reclaimable.is_short(shares, theirs, left, self._requested)
        return not (is_short and reclaimable.is_within_quota(shares, ours, held))

    def on_gang(self, victim: int) -> bool:
        return victim not in self._kin

    def only_extras(self, victim: int) -> bool:
        gangs = self._cycle.snapshot.gangs
        _, _, seconds = self._side(int(gangs.queue[victim]))
        return minruntime.is_protected(self._cycle.snapshot.now, float(gangs.last_start[victim]), seconds)

    def _side(self, victim: int) -> tuple[int, int, float]:
        """The two queues below the common ancestor, and how long gangs of the victim's queue are in peace."""
        if victim not in self._sides:
            queues = self._cycle.snapshot.queues
            method = self._cycle.policy.reclaim_min_runtime
            seconds = minruntime.against_reclaim(
                queues.lineage, queues.reclaim_min_runtime, self._queue, victim, method=method
            )
            self._sides[victim] = *reclaimable.fork_of(queues.lineage, self._queue, victim), seconds
        return self._sides[victim]


def _stays_fair(cycle: Cycle, queue: int, requested: Ints, room: Room) -> bool:
    """No queue above the taker ends beyond its share and better off than a sibling it took from."""
    accounts = cycle.trial.accounts.fork()
    gone = joined(room.units)
    queues = cycle.snapshot.gangs.queue[cycle.snapshot.pods.gang[gone]]
    gave = distinct([queues]).tolist()
    for victim in gave:
        accounts.charge(victim, -requested_by(cycle.trial, gone[queues == victim]))
    accounts.charge(queue, requested)
    asked = requested > 0
    for victim in gave:
        ours, theirs = reclaimable.fork_of(accounts.lineage, queue, victim)
        held, left = accounts.allocated[ours].astype(float), accounts.allocated[theirs].astype(float)
        if not reclaimable.stays_fair(
            cycle.shares, ours, held, theirs, left, asked, multiplier=cycle.policy.saturation_multiplier
        ):
            return False
    return True


def _use(cycle: Cycle, queue: int) -> str:
    held = cycle.trial.accounts.allocated[queue]
    names = [cycle.snapshot.resources[row] for row in SHARED.tolist()]
    return reasons.queue_use(
        cycle.snapshot.queues.display_names[queue],
        names,
        held.tolist(),
        cycle.shares.quota[queue].tolist(),
        cycle.shares.fair[queue].tolist(),
        int(cycle.snapshot.queues.priority[queue]),
    )
