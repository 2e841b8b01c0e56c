"""Who may cause evictions: gangs that wait for a step, whose delay has passed, in the order of their turns."""

from collections.abc import Callable

import numpy as np

from quorate.scheduling import gang, growth
from quorate.scheduling.allocate import new_turns, push, waiting_gangs
from quorate.scheduling.composite import holder_of
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import NONE, SHARED, Ints, Preemptibility, Snapshot

Try = Callable[[Cycle, int], bool]


def serve(cycle: Cycle, tries: Try) -> None:
    """Give every taker one try; gangs that nothing tells apart from one that failed are not tried again."""
    turns = new_turns(cycle, cycle.trial)
    for number in waiting_gangs(cycle.trial).tolist():
        if may_evict(cycle, number) and holder_of(cycle.trial, number) == NONE:
            push(turns, cycle.trial, number)
    failed: dict[object, int] = {}  # by kind, the first that failed
    while (turn := turns.pop()) is not None:
        kind = _kind(cycle, turn.gang)
        if kind in failed:
            if (first := failed[kind]) in cycle.behind:
                cycle.behind[turn.gang] = cycle.behind[first]
            continue
        if tries(cycle, turn.gang):
            turns.refresh(int(cycle.snapshot.gangs.queue[turn.gang]))
        else:
            failed[kind] = turn.gang


def may_evict(cycle: Cycle, number: int) -> bool:
    """Whether the gang's preemption delay has passed since it came, or since it was evicted itself."""
    return cycle.snapshot.now >= delay_ends(cycle.snapshot, number)


def delay_ends(snapshot: Snapshot, number: int) -> float:
    """When a gang may cause evictions, if it does not lose members before."""
    gangs = snapshot.gangs
    since = np.fmax(gangs.created[number], gangs.last_evicted[number])
    return float(since + gangs.preemption_delay[number])


def least_of(cycle: Cycle, number: int) -> Ints:
    """What any next step of the gang asks for at least, of each shared resource by itself: [3]."""
    root = int(cycle.snapshot.gangs.root[number])
    asked = [growth.least(cycle.trial, goal) for goal in growth.steps(cycle.trial, root)]
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
