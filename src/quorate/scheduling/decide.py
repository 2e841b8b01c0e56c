"""One cycle of the scheduler: a snapshot in, the plan of binds, evictions and refusals out. READ ME FIRST.

shares    what fairness grants each queue                        fairness
turns     whose gang is next                                     order
step      start the gang, or grow it by one unit                 growth
gates     what its queues may not exceed                         gates
place     nodes for the step, all or nothing                     placement
else      consolidate, reclaim, preempt, end stale gangs         actions over forks of the trial
plan      what changed in the trial, and why gangs were refused  render
"""

from collections.abc import Callable, Mapping

from quorate.plan import Plan
from quorate.scheduling.allocate import allocate
from quorate.scheduling.consolidate import consolidate
from quorate.scheduling.cycle import Cycle, open_cycle
from quorate.scheduling.policy import Action, Policy
from quorate.scheduling.preempt import preempt
from quorate.scheduling.ready import bind_ready
from quorate.scheduling.reclaim import reclaim
from quorate.scheduling.render import plan_of
from quorate.scheduling.snapshot import Snapshot
from quorate.scheduling.stale import evict_stale

ACTIONS: Mapping[Action, Callable[[Cycle], None]] = {
    Action.ALLOCATE: allocate,
    Action.CONSOLIDATE: consolidate,
    Action.RECLAIM: reclaim,
    Action.PREEMPT: preempt,
    Action.EVICT_STALE: evict_stale,
}

# A pass that takes back what it placed itself leaves room that nobody was asked about.
PASSES = 4


def decide(snapshot: Snapshot, policy: Policy = Policy()) -> Plan:  # noqa: B008  the default is frozen
    """The ordered writes that this cycle asks for."""
    return plan_of(solve(snapshot, policy))


def solve(snapshot: Snapshot, policy: Policy) -> Cycle:
    """The cycle behind a plan, for those who ask why."""
    cycle = open_cycle(snapshot, policy)
    for _ in range(PASSES):
        cycle.trial.gave_back = False
        for action in policy.actions:
            ACTIONS[action](cycle)
        if not cycle.trial.gave_back:
            break
        bind_ready(cycle)
    return cycle
