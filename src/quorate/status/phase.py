"""The phase of a gang: where it is in its life, and why in one line.

Pending → Starting → Running → Succeeded or Failed; a gang that ran and fell below a minimum is Degraded, and
Stale once its grace is over.
"""

from quorate.api.duration import DurationError, seconds
from quorate.api.podgroup import Phase, PodGroup, SchedulingCondition
from quorate.api.timestamps import epoch
from quorate.rules.conditions import find, is_true
from quorate.rules.membership import ACTIVE, MemberState
from quorate.rules.tree import ROOT, Tree, satisfied
from quorate.status.members import Roll

DEFAULT_GRACE_SECONDS = 60.0

_RUNNING = frozenset({MemberState.RUNNING, MemberState.SUCCEEDED})


def life(podgroup: PodGroup, tree: Tree, found: Roll, *, holds: bool, now: float) -> Phase:
    ended = found.count(MemberState.SUCCEEDED) + found.count(MemberState.FAILED)
    if ended and ended == len(found.members):
        return "Succeeded" if holds else "Failed"
    if not found.count(*ACTIVE):
        return "Pending"  # an optional gang is satisfied, but nothing of it has started
    if holds:
        return "Running" if satisfied(tree, found.by_leaf(_RUNNING))[ROOT] else "Starting"
    if not found.count(MemberState.STARTING, MemberState.RUNNING):
        return "Pending"
    if not is_true(podgroup.status.conditions, "Scheduled"):
        return "Starting"
    due = stale_at(podgroup)
    return "Degraded" if due is None or now < due else "Stale"


def reason(phase: Phase, found: Roll, refused: list[SchedulingCondition] | None, short: str) -> str:
    """Why the gang is in its phase, for one line: first what keeps members waiting, then which minimum is `short`."""
    if refused:
        return refused[-1].message
    ended = f"{found.count(MemberState.SUCCEEDED)} pods succeeded, {found.count(MemberState.FAILED)} failed"
    return {
        "Pending": _nobody(found),
        "Starting": f"{found.count(MemberState.STARTING)} pods are starting",
        "Degraded": short,
        "Stale": f"{short}, for longer than its grace",
        "Failed": f"{ended}: {short}",
    }.get(phase, "")


def _nobody(found: Roll) -> str:
    if found.members:
        return ""
    return f"{len(found.strays)} pods are in no group" if found.strays else "no pods exist"


def stale_at(podgroup: PodGroup) -> float | None:
    """When a degraded gang becomes stale, in epoch seconds; None: never, or it is satisfied."""
    condition = find(podgroup.status.conditions, "Satisfied")
    grace = grace_seconds(podgroup)
    if condition is None or condition.status == "True" or not condition.last_transition_time or grace < 0:
        return None
    return epoch(condition.last_transition_time) + grace


def grace_seconds(podgroup: PodGroup) -> float:
    """Negative: for ever; what cannot be read is the default, as admission has said so."""
    try:
        return seconds(podgroup.spec.staleness_grace_period or "")
    except DurationError:
        return DEFAULT_GRACE_SECONDS
