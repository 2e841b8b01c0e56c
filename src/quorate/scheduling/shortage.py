"""Why a gang was refused, with the numbers: measured once, for the gangs that were refused at the end.

`attempt` says that nothing fits; here it is found out which group lacks what, and in which domain.
"""

from collections import Counter
from typing import NamedTuple

from quorate.plan import Refusal
from quorate.scheduling import composite, growth, reasons, topology
from quorate.scheduling.agenda import Add, Start
from quorate.scheduling.attempt import Attempt
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.left import Left
from quorate.scheduling.missed import missed
from quorate.scheduling.snapshot import ABSENT, SHARED, UNKNOWN
from quorate.scheduling.trial import Trial

SHORT = "NotEnoughResources"
UNKNOWN_LEVEL = "UnknownTopology"
BOUND_MET = " (a bounded search ended here: a place may exist)"


def refusal_of(cycle: Cycle, number: int, attempt: Attempt) -> Refusal:
    """The refusal of a gang whose last try ended like this."""
    ref = cycle.snapshot.gangs.refs[number]
    if attempt.stop is not None:
        stop = attempt.stop
        queue = cycle.snapshot.queues.display_names[stop.queue]
        return Refusal(
            gang=ref,
            gate=stop.gate.value,
            message=reasons.stop_text(stop, queue),
            resource=cycle.snapshot.resources[int(SHARED[stop.column])],
            numbers=reasons.stop_numbers(stop, queue),
        )
    if attempt.together is not None:
        return _not_together(cycle, number, *attempt.together)
    assert attempt.goal is not None, "a gang is refused only after a step was tried"
    return _shortage(cycle, number, attempt, attempt.goal)


def _not_together(cycle: Cycle, number: int, found: int, needed: int) -> Refusal:
    snapshot = cycle.snapshot
    row = int(snapshot.gangs.composite[number])
    above, there = snapshot.composites.refs[row], composite.members(snapshot, row)
    message = f"{above}: room was found for {found} groups while {needed} must start together"
    if needed > there:
        message = f"{above}: {there} of the {needed} groups that must start together exist"
    if needed == ABSENT:
        absent = f"{above} does not exist: create it, or take its name from the label of this gang"
        told = (f"{above}: {one.message}" for one in snapshot.problems if one.about == above)
        message = next(told, absent)
    return Refusal(
        gang=snapshot.gangs.refs[number],
        gate="CompositeNotSatisfied",
        message=message,
        numbers={"found": found, "required": needed, "composite": above.name},
    )


def _shortage(cycle: Cycle, number: int, attempt: Attempt, goal: Start | Add) -> Refusal:
    snapshot, trial = cycle.snapshot, cycle.trial
    ref = snapshot.gangs.refs[number]
    group = goal.leaf if isinstance(goal, Add) else goal.group
    short = _short_leaf(trial, goal)
    leaf, found, needed = short.group, short.found, short.needed
    name = snapshot.groups.names[leaf]
    if UNKNOWN in (snapshot.groups.required[group], snapshot.groups.required[leaf]):
        return Refusal(gang=ref, gate=UNKNOWN_LEVEL, group=name, message=_unknown(cycle, number))
    suspects = [leaf] if short.needed else [leaf, *_leaves(trial, goal)]
    near = next((one for row in suspects if (one := missed(trial, number, goal, row))), None)
    domain = ""
    if near is not None:
        name, domain, lack = snapshot.groups.names[near.group], near.domain, near.lack
        found, needed, message = near.found, near.required, near.lack.text
    else:
        lack = short.left.lack(short.shape, name)
        message = _message(trial, goal, short, lack.text)
    return Refusal(
        gang=ref,
        gate=SHORT,
        group=name,
        domain=domain,
        resource=lack.resource,
        message=message if attempt.is_proven else message + BOUND_MET,
        numbers={"found": found, "required": needed, "isProven": attempt.is_proven, **lack.numbers},
        explanation=reasons.unable(lack.findings) if lack.findings else "",
    )


class Short(NamedTuple):
    """A group of the step, the shape of it that found no room beside what did, and what that left."""

    group: int
    found: int
    needed: int
    shape: int
    left: Left


def _message(trial: Trial, goal: Start | Add, short: Short, cause: str) -> str:
    """A pod that is no part of a minimum of several is spoken of by itself, and so is one that nothing can help."""
    snapshot = trial.snapshot
    blocked_by = snapshot.shapes[short.shape].blocked_by
    pods = growth.first_choice(trial, goal)
    if isinstance(goal, Add) or len(pods) == 1 or blocked_by:
        waiting = trial.pending(short.group)
        pod = waiting[snapshot.pods.shape[waiting] == short.shape][0]
        ref = snapshot.pods.refs[pod]
        return reasons.pod_refused(ref.key, cause)
    if not short.needed:
        return reasons.not_together(len(pods))
    if name := snapshot.groups.names[short.group]:
        return reasons.group_short(short.found, name, short.needed, cause)
    return reasons.gang_short(short.found, short.needed, cause)


def _unknown(cycle: Cycle, number: int) -> str:
    """What the encoder found wrong with the levels that the gang asks for."""
    ref = cycle.snapshot.gangs.refs[number]
    told = (one.message for one in cycle.snapshot.problems if one.about == ref and "opology" in one.reason)
    return next(told, "The topology level that the gang requires is not known")


def _short_leaf(trial: Trial, goal: Start | Add) -> Short:
    """The first group of the step that does not find room beside those before it."""
    snapshot, left = trial.snapshot, Left(trial)
    for leaf in _leaves(trial, goal):
        waiting = trial.pending(leaf)
        needed = goal.count if isinstance(goal, Add) else int(snapshot.groups.min_member[leaf])
        missing = needed if isinstance(goal, Add) else needed - int(trial.active[leaf])
        found = 0
        for shape, count in Counter(snapshot.pods.shape[waiting[:missing]].tolist()).items():
            placed = left.place(shape, count, (*goal.place, *topology.place_of(trial, leaf)))
            found += placed
            if placed < count:
                return Short(leaf, found, needed, shape, left)
    return _short_above(trial, goal)


def _short_above(trial: Trial, goal: Start | Add) -> Short:
    """The first group, from the top, whose own minimum of members does not find room; else the group itself."""
    groups, shapes = trial.snapshot.groups, trial.snapshot.pods.shape
    group = goal.leaf if isinstance(goal, Add) else goal.group
    for row in range(group, int(groups.end[group])):
        needed, found, left = int(groups.min_member[row]), 0, Left(trial)
        waiting = trial.pending(row)[: max(needed - int(trial.active[row]), 0)]
        for shape, count in Counter(shapes[waiting].tolist()).items():
            placed = left.place(shape, count, (*goal.place, *topology.place_of(trial, row)))
            found += placed
            if placed < count:
                return Short(row, found, needed, shape, left)
    # Nobody is missing here: pods of the gang found no place together although each finds one.
    return Short(group, 0, 0, int(shapes[trial.pending(group)[0]]), Left(trial))


def _leaves(trial: Trial, goal: Start | Add) -> list[int]:
    if isinstance(goal, Add):
        return [goal.leaf]
    groups = trial.snapshot.groups
    return [row for row in range(goal.group, int(groups.end[goal.group])) if groups.is_leaf(row)]
