"""Reclaim: a gang within its fair share takes from other queues what they hold beyond theirs.

`reclaimable` says who may take from whom, `minruntime` who is left in peace, `room` how little is enough.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from quorate.scheduling import minruntime, reasons, reclaimable
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.order import Ranking
from quorate.scheduling.pool import Draw, Pool
from quorate.scheduling.room import Room, make_room, take, without
from quorate.scheduling.snapshot import SHARED, Ints
from quorate.scheduling.takers import is_protected_step, request_of, serve
from quorate.scheduling.trial import Trial

REASON = "Reclaimed"


def reclaim(cycle: Cycle) -> None:
    queues = cycle.snapshot.queues
    pool = cache(lambda: Pool(cycle.trial, Ranking(cycle.shares, queues.priority, queues.created)))
    serve(cycle, lambda cycle, taker: _reclaim_for(cycle, pool, taker))


def _reclaim_for(cycle: Cycle, pool: Callable[[], Pool], taker: int) -> bool:
    queue = int(cycle.snapshot.gangs.queue[taker])
    requested = request_of(cycle, taker)
    accounts = cycle.trial.accounts
    protected = is_protected_step(cycle, taker)
    if not reclaimable.may_start(accounts, cycle.shares, queue, requested, protected=protected):
        return False

    def allows(scout: Trial, victim: int) -> bool:
        return (
            int(cycle.snapshot.gangs.queue[victim]) != queue
            and not _in_peace(cycle, queue, victim)
            and _may_take(cycle, scout, queue, requested, victim)
        )

    room = make_room(cycle, taker, Draw(pool(), cycle.trial.fork(), allows))
    if room is None or not _stays_fair(cycle, queue, requested, room):
        return False
    gang = cycle.snapshot.gangs.refs[taker]

    def cause(pod: int) -> tuple[str, str]:
        ref = cycle.snapshot.pods.refs[pod]
        victim = int(cycle.snapshot.gangs.queue[cycle.snapshot.pods.gang[pod]])
        uses = [_use(cycle, victim), _use(cycle, queue)]
        name = f"{gang.namespace}/{gang.name}"
        return REASON, reasons.reclaimed(f"{ref.namespace}/{ref.name}", name, uses)

    take(cycle, taker, room, cause)
    return True


def _may_take(cycle: Cycle, scout: Trial, queue: int, requested: Ints, victim: int) -> bool:
    theirs = int(cycle.snapshot.gangs.queue[victim])
    ours, other = reclaimable.fork_of(scout.accounts.lineage, queue, theirs)
    held = (scout.accounts.allocated[ours] + requested).astype(np.float64)
    return reclaimable.may_take(
        cycle.shares, ours, held, other, scout.accounts.allocated[other].astype(np.float64)
    )


def _in_peace(cycle: Cycle, queue: int, victim: int) -> bool:
    snapshot = cycle.snapshot
    seconds = minruntime.against_reclaim(
        snapshot.queues.lineage,
        snapshot.queues.reclaim_min_runtime,
        queue,
        int(snapshot.gangs.queue[victim]),
        method=cycle.policy.reclaim_min_runtime,
    )
    return minruntime.is_protected(snapshot.now, float(snapshot.gangs.last_start[victim]), seconds)


def _stays_fair(cycle: Cycle, queue: int, requested: Ints, room: Room) -> bool:
    """No queue above the taker ends beyond its share and better off than a sibling it took from."""
    accounts = without(cycle.trial, room.units).accounts
    accounts.charge(queue, requested)
    asked = requested > 0
    gave = {int(cycle.snapshot.gangs.queue[unit.gang]) for unit in room.units}
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
