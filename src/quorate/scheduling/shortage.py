"""Why a gang was refused, with the numbers: measured once, for the gangs that were refused at the end.

`attempt` says that nothing fits; here it is found out which group lacks what, and in which domain.
"""

from collections import Counter

import numpy as np

from quorate.plan import Refusal
from quorate.scheduling import composite, reasons, topology
from quorate.scheduling.agenda import Add, Start
from quorate.scheduling.attempt import Attempt
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.filling import fill
from quorate.scheduling.missed import missed
from quorate.scheduling.snapshot import ABSENT, PODS, SHARED, UNKNOWN, Ints
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
        message = f"{above} does not exist: create it, or take its name from the label of this gang"
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
    free = trial.free(now=True).copy()
    leaf, found, needed, shape = _short_leaf(trial, goal, free)
    name = snapshot.groups.names[leaf]
    cause = _cause(trial, shape, free)
    if UNKNOWN in (snapshot.groups.required[group], snapshot.groups.required[leaf]):
        return Refusal(gang=ref, gate=UNKNOWN_LEVEL, group=name, message=_unknown(cycle, number))
    near = missed(trial, number, goal, leaf)
    domain = ""
    if near is not None:
        name, message, domain = snapshot.groups.names[near.group], near.message, near.domain
        found, needed = near.found, near.required
    elif name:
        message = reasons.group_short(found, name, needed, cause)
    else:
        message = reasons.gang_short(found, needed, cause)
    return Refusal(
        gang=ref,
        gate=SHORT,
        group=name,
        domain=domain,
        message=message if attempt.is_proven else message + BOUND_MET,
        numbers={"found": found, "required": needed, "is_proven": attempt.is_proven},
    )


def _unknown(cycle: Cycle, number: int) -> str:
    """What the encoder found wrong with the levels that the gang asks for."""
    ref = cycle.snapshot.gangs.refs[number]
    told = (one.message for one in cycle.snapshot.problems if one.about == ref and "opology" in one.reason)
    return next(told, "The topology level that the gang requires is not known")


def _short_leaf(trial: Trial, goal: Start | Add, free: Ints) -> tuple[int, int, int, int]:
    """The first group of the step that does not find room beside those before it: found, needed, shape.

    What found room is taken out of `free`.
    """
    snapshot = trial.snapshot
    leaves = [goal.leaf] if isinstance(goal, Add) else _leaves(trial, goal.group)
    for leaf in leaves:
        waiting = trial.pending(leaf)
        needed = goal.count if isinstance(goal, Add) else int(snapshot.groups.min_member[leaf])
        missing = needed if isinstance(goal, Add) else needed - int(trial.active[leaf])
        found = 0
        for shape, count in Counter(snapshot.pods.shape[waiting[:missing]].tolist()).items():
            placed = _place(trial, free, shape, count, topology.place_of(trial, leaf))
            found += placed
            if placed < count:
                return leaf, found, needed, shape
    return _short_above(trial, leaves[0] if isinstance(goal, Add) else goal.group, free)


def _short_above(trial: Trial, group: int, free: Ints) -> tuple[int, int, int, int]:
    """The first group, from the top, whose own minimum of members does not find room; else the group itself."""
    groups, shapes = trial.snapshot.groups, trial.snapshot.pods.shape
    free[:] = trial.free(now=True)
    for row in range(group, int(groups.end[group])):
        needed, found = int(groups.min_member[row]), 0
        waiting = trial.pending(row)[: max(needed - int(trial.active[row]), 0)]
        for shape, count in Counter(shapes[waiting].tolist()).items():
            placed = _place(trial, free.copy(), shape, count, topology.place_of(trial, row))
            found += placed
            if placed < count:
                return row, found, needed, shape
    # Nobody is missing here: pods of the gang found no place together although each finds one.
    root = int(trial.snapshot.gangs.root[groups.gang[group]])
    return group, 0, 0, int(shapes[groups.first_pod[root]])


def _leaves(trial: Trial, group: int) -> list[int]:
    groups = trial.snapshot.groups
    return [row for row in range(group, int(groups.end[group])) if groups.is_leaf(row)]


def _place(trial: Trial, free: Ints, shape: int, count: int, place: topology.Place) -> int:
    """Take as many of the pods as fit out of `free`; how many did."""
    counts = np.where(topology.mask_of(trial.snapshot, place), trial.counts(shape, free), 0)
    many = min(count, int(np.minimum(counts, count).sum()))
    seats = fill(counts, trial.column(shape, now=True).scores, many) if many else None
    if seats is not None:
        nodes, taken = seats
        free[:, nodes] -= np.outer(trial.snapshot.requests[shape], taken)
    return many


def _cause(trial: Trial, shape: int, free: Ints) -> str:
    """What keeps pods of the shape from every node, or how many nodes refuse one more for which reason."""
    snapshot = trial.snapshot
    if snapshot.shapes[shape].blocked_by:
        return snapshot.shapes[shape].blocked_by
    mask = trial.mask(shape)
    counts: list[tuple[str, int]] = []
    if not mask.all():
        counts.append(
            ("node(s) didn't match the pod's node selector, affinity or tolerations", int((~mask).sum()))
        )
    request = snapshot.requests[shape]
    for row in np.flatnonzero(request):
        lacking = int((mask & (free[row] < request[row])).sum())
        if lacking:
            resource = "pods" if row == PODS else snapshot.resources[row]
            counts.append((reasons.node_lacks(resource), lacking))
    return reasons.nodes_lack(counts) if counts else "no place for all of them together"
