"""Preempt: a gang takes from preemptible gangs of lower priority in its own queue."""

from functools import cache, partial

from quorate.scheduling import minruntime, reasons
from quorate.scheduling.budgets import within_budgets
from quorate.scheduling.composite import kin, party
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.order import Ranking
from quorate.scheduling.pool import Draw, Pool
from quorate.scheduling.room import take
from quorate.scheduling.takers import serve
from quorate.scheduling.trial import Trial

REASON = "Preempted"


def preempt(cycle: Cycle) -> None:
    queues = cycle.snapshot.queues
    pool = cache(lambda: Pool(cycle.trial, Ranking(cycle.shares, queues.priority, queues.created)))
    serve(cycle, lambda cycle, taker: _preempt_for(cycle, pool(), taker))


def _preempt_for(cycle: Cycle, pool: Pool, taker: int) -> bool:
    gangs = cycle.snapshot.gangs
    queue, priority = int(gangs.queue[taker]), int(gangs.priority[party(cycle.trial, taker)].min())
    if not pool.has_below(queue, priority):
        return False

    claims = _Claims(cycle, taker, priority)
    room = within_budgets(cycle, taker, partial(Draw, pool, claims=claims, only=queue))
    if room is None:
        return False
    refs, name = cycle.snapshot.pods.refs, gangs.refs[taker].key
    take(cycle, taker, room, lambda pod: (REASON, reasons.preempted(refs[pod].key, name)))
    return True


class _Claims:
    """Gangs of lower priority; the lowest are drawn first."""

    def __init__(self, cycle: Cycle, taker: int, priority: int) -> None:
        snapshot = cycle.snapshot
        self._kin = kin(cycle.trial, taker)
        self._gangs, self._now = snapshot.gangs, snapshot.now
        self._priority = priority
        self._seconds = minruntime.against_preemption(
            snapshot.queues.lineage, snapshot.queues.preempt_min_runtime, int(snapshot.gangs.queue[taker])
        )

    def on_queue(self, _scout: Trial, _queue: int) -> bool:
        return True

    def on_gang(self, victim: int) -> bool:
        return bool(self._gangs.priority[victim] < self._priority) and victim not in self._kin

    def only_extras(self, victim: int) -> bool:
        return minruntime.is_protected(self._now, float(self._gangs.last_start[victim]), self._seconds)
