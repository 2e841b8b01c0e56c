"""The phase of a gang: where it is in its life, and why in one line.

Pending → Starting → Running → Succeeded or Failed; a gang that ran and fell below a minimum is Degraded, and
Stale once its grace is over.
"""

from typing import NamedTuple

from quorate.api.duration import DurationError, seconds
from quorate.api.podgroup import Phase, PodGroup
from quorate.api.timestamps import epoch
from quorate.rules.membership import MemberState
from quorate.rules.tree import ROOT, Tree, satisfied
from quorate.status.conditions import find, is_true
from quorate.status.members import Roll

DEFAULT_GRACE_SECONDS = 60.0

_RUNNING = frozenset({MemberState.RUNNING, MemberState.SUCCEEDED})


class Life(NamedTuple):
    phase: Phase
    reason: str = ""


def life(podgroup: PodGroup, tree: Tree, found: Roll, *, holds: bool, now: float) -> Life:
    ended = found.count(MemberState.SUCCEEDED) + found.count(MemberState.FAILED)
    if ended and ended == len(found.members):
        return _ended(found, holds=holds)
    if holds:
        runs = satisfied(tree, found.by_leaf(_RUNNING))[ROOT]
        return Life("Running") if runs else Life("Starting", _waiting(found))
    bound = found.count(MemberState.STARTING, MemberState.RUNNING)
    if not is_true(podgroup.status.conditions, "Scheduled"):
        return Life("Starting", _waiting(found)) if bound else Life("Pending", _refusal(podgroup))
    if not bound:
        return Life("Pending", _refusal(podgroup))
    due = stale_at(podgroup)
    if due is not None and now >= due:
        return Life("Stale", "below its minimum for longer than its grace")
    return Life("Degraded", "below its minimum")


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


def _ended(found: Roll, *, holds: bool) -> Life:
    failed = found.count(MemberState.FAILED)
    if holds:
        return Life("Succeeded")
    return Life("Failed", f"{failed} of {len(found.members)} pods failed")


def _waiting(found: Roll) -> str:
    return f"{found.count(MemberState.STARTING)} pods are starting"


def _refusal(podgroup: PodGroup) -> str:
    refused = podgroup.status.scheduling_conditions
    return refused[-1].message if refused else ""
