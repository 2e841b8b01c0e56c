"""Gangs that were not tried at all, and why: no such queue, no tree, or too few members exist."""

from collections.abc import Iterator

import numpy as np

from quorate.plan import Refusal
from quorate.scheduling import gang
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import NO_TREE, NONE, Snapshot, State
from quorate.scheduling.trial import Trial


def unready(cycle: Cycle) -> Iterator[Refusal]:
    snapshot, trial = cycle.snapshot, cycle.trial
    broken = {one.about: one.message for one in snapshot.problems if one.reason == NO_TREE}
    owners = snapshot.pods.gang[(trial.state == State.PENDING) & (snapshot.pods.gang != NONE)]
    for number in np.unique(owners).tolist():
        ref, root = snapshot.gangs.refs[number], int(snapshot.gangs.root[number])
        if ref in broken:
            yield Refusal(gang=ref, gate=NO_TREE, message=broken[ref])
        elif snapshot.gangs.queue[number] == NONE:
            name = snapshot.gangs.queue_names[number]
            yield Refusal(
                gang=ref,
                gate="QueueDoesNotExist",
                message=_no_queue(snapshot, name),
                numbers={"queue": name},
            )
        elif not gang.is_satisfied(trial, root) and not gang.is_eligible(trial, root):
            yield _not_ready(trial, number, root)


def _no_queue(snapshot: Snapshot, name: str) -> str:
    """A queue is not there, has a broken way up, or has queues below it that gangs name instead."""
    told = (one for one in snapshot.problems if (one.about.kind.kind, one.about.name) == ("Queue", name))
    fault = next((one.message for one in told), "")
    if name in snapshot.queues.names:
        return f"Queue '{name}' has queues below it: set spec.queue to one of those that have none"
    if fault:
        return f"Queue '{name}' cannot be used: {fault}"
    return f"Queue '{name}' does not exist: create it, or set spec.queue to a queue that has none below it"


def _not_ready(trial: Trial, number: int, root: int) -> Refusal:
    """Name the first group, from the leaves up, whose members do not exist yet."""
    snapshot = trial.snapshot
    groups = snapshot.groups
    rows = range(root, int(groups.end[root]))
    group = next(row for row in reversed(rows) if not gang.is_eligible(trial, row))
    found = int(trial.active[group]) + len(trial.pending(group))
    needed = int(groups.min_member[group])
    name = groups.names[group]
    where = f" of sub-group {name}" if name else ""
    lacking = f"{found} of {needed} pods{where} exist"
    if found >= needed:
        able = sum(gang.is_eligible(trial, child) for child in groups.children(group))
        lacking = f"{able} of {groups.min_subgroup[group]} sub-groups{where} have the pods of their minimums"
        found, needed = able, int(groups.min_subgroup[group])
    return Refusal(
        gang=snapshot.gangs.refs[number],
        gate="NotReady",
        group=name,
        message=f"Job is not ready for scheduling. Waiting for pods: {lacking}",
        numbers={"found": found, "required": needed},
    )
