"""Who may cause evictions: gangs that wait for a step, whose delay has passed, in the order of their turns."""

from collections.abc import Callable, Iterable
from functools import cache, partial

import numpy as np

from quorate.scheduling import composite, gang, growth
from quorate.scheduling.allocate import new_turns, push, waiting_gangs
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import NONE, SHARED, Ints, Preemptibility, Snapshot
from quorate.scheduling.trial import distinct

Try = Callable[[Cycle, int], bool]


def serve(cycle: Cycle, tries: Try) -> None:
    """Give every taker one try; gangs that nothing tells apart from one that failed are not tried again.

    A composite takes for all of its gangs at the first turn of one of them. Who took by another action of the cycle
    takes in the next one again, when it is known what it lacks yet.
    """
    turns, trial = new_turns(cycle, cycle.trial), cycle.trial
    holders = {number: composite.holder_of(trial, number) for number in waiting_gangs(trial).tolist()}
    may_take_together = cache(partial(_may_take_together, cycle))
    took = {cause.taker for cause in cycle.causes.values()}
    for number, holder in holders.items():
        if number not in took and (may_evict(cycle, number) if holder == NONE else may_take_together(holder)):
            push(turns, trial, number)
    over: dict[object, int] = {}  # kinds that failed and composites that had their try, with the first gang
    while (turn := turns.pop()) is not None:
        holder = holders[turn.gang]
        kind = _kind(cycle, turn.gang) if holder == NONE else holder
        if kind in over:
            if (first := over[kind]) in cycle.behind:
                cycle.behind[turn.gang] = cycle.behind[first]
            continue
        has_room = tries(cycle, turn.gang)
        if has_room:
            turns.refresh(int(cycle.snapshot.gangs.queue[turn.gang]))
        if holder != NONE or not has_room:
            over[kind] = turn.gang


def _may_take_together(cycle: Cycle, holder: int) -> bool:
    """Whether the gangs of a composite may cause evictions: all of them, and for one queue, whose share bounds them."""
    gangs = composite.gangs_below(cycle.trial, holder)
    in_one_queue = len(distinct([cycle.snapshot.gangs.queue[gangs]])) == 1
    return in_one_queue and all(may_evict(cycle, number) for number in gangs.tolist())


def may_evict(cycle: Cycle, number: int) -> bool:
    """Whether the gang's preemption delay has passed since it came, or since it was evicted itself."""
    return cycle.snapshot.now >= delay_ends(cycle.snapshot, number)


def delay_ends(snapshot: Snapshot, number: int) -> float:
    """When a gang may cause evictions, if it does not lose members before."""
    gangs = snapshot.gangs
    since = np.fmax(gangs.created[number], gangs.last_evicted[number])
    return float(since + gangs.preemption_delay[number])


def least_of(cycle: Cycle, gangs: Iterable[int]) -> Ints:
    """What any next step of these gangs asks for at least, of each shared resource by itself: [3]."""
    roots = (int(cycle.snapshot.gangs.root[number]) for number in gangs)
    asked = [growth.least(cycle.trial, goal) for root in roots for goal in growth.steps(cycle.trial, root)]
    least: Ints = np.min(asked or np.zeros((1, len(SHARED)), dtype=np.int64), axis=0)
    return least


def is_protected_step(cycle: Cycle, number: int) -> bool:
    """Whether what the step places may not be taken back: it must be in quota."""
    gangs = cycle.snapshot.gangs
    kind = gangs.preemptibility[number]
    starts = not gang.is_satisfied(cycle.trial, int(gangs.root[number]))
    return bool(kind == Preemptibility.NON or (kind == Preemptibility.SEMI and starts))


def _kind(cycle: Cycle, number: int) -> object:
    """Equal for gangs of which none can succeed where another failed."""
    gangs = cycle.snapshot.gangs
    root = int(gangs.root[number])
    return (
        int(gangs.queue[number]),
        int(gangs.priority[number]),
        int(gangs.preemptibility[number]),
        gang.signature(cycle.trial, root),
    )
