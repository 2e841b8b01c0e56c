"""Refusals as people see them: the scheduling condition of a gang, and an event when its text changes.

The status controller shows the condition; the scheduler alone writes it, and only where it differs.
"""

import hashlib
from collections.abc import Iterable, Iterator

import msgspec

from quorate.api import timestamps
from quorate.api.meta import Json
from quorate.api.podgroup import PodGroup, SchedulingCondition
from quorate.plan import Change, Emit, EventType, Ref, Refusal, SetStatus

UNSCHEDULABLE = "UnschedulableOnNodePool"  # upstream's name: its tools look for it
NODE_POOL = "default"
# With each node that comes or goes, every gang that waits is short in other words.
REWORD_SECONDS = 5.0


def refused(refusal: Refusal, podgroup: PodGroup, now: float) -> Iterator[Change]:
    """What makes the gang show this refusal; nothing if it does already, or has just shown it in other words."""
    shown = podgroup.status.scheduling_conditions or []
    if any(_says(one, refusal, now) for one in shown[:1]):
        return
    condition = SchedulingCondition(
        type=UNSCHEDULABLE,
        status="True",
        reason=refusal.gate,
        message=refusal.message,
        node_pool=NODE_POOL,
        reasons=[reason_of(refusal)],
        transition_id=hashlib.sha256(f"{refusal.gate}/{refusal.message}".encode()).hexdigest()[:8],
        last_transition_time=timestamps.text(now),
    )
    yield SetStatus(whole(refusal.gang, podgroup), {"schedulingConditions": [msgspec.to_builtins(condition)]})
    yield Emit(refusal.gang, EventType.WARNING, "Unschedulable", refusal.message)


def _says(condition: SchedulingCondition, refusal: Refusal, now: float) -> bool:
    if condition.reason != refusal.gate:
        return False
    if condition.message == refusal.message:
        return True
    try:
        return now - timestamps.epoch(condition.last_transition_time or "") < REWORD_SECONDS
    except timestamps.TimestampError:
        return False


def no_longer_refused(gang: Ref, podgroup: PodGroup) -> Iterator[Change]:
    if podgroup.status.scheduling_conditions:
        yield SetStatus(whole(gang, podgroup), {"schedulingConditions": None})


def reason_of(refusal: Refusal) -> Json:
    """The refusal itself, for programs: fields without a value are left out."""
    fields: Json = {
        "reason": refusal.gate,
        "message": refusal.message,
        "group": refusal.group,
        "domain": refusal.domain,
        "resource": refusal.resource,
        "details": refusal.numbers,
        "explanation": refusal.explanation,
    }
    return {name: value for name, value in fields.items() if value}


def whole(gang: Ref, podgroup: PodGroup) -> Ref:
    """The reference with the identity that the write is meant for."""
    return msgspec.structs.replace(gang, uid=podgroup.metadata.uid, resource_version="")


def by_gang(refusals: Iterable[Refusal]) -> dict[tuple[str, str], Refusal]:
    return {(one.gang.namespace, one.gang.name): one for one in refusals}
