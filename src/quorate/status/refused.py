"""A refusal of the scheduler as it stands in a PodGroup's status, in upstream's form with our numbers."""

from typing import NamedTuple

import msgspec

from quorate.api.podgroup import SchedulingCondition
from quorate.plan import Refusal


class Said(NamedTuple):
    """What the scheduler said last of a gang; nothing is known before it decided once."""

    is_known: bool = False
    refusal: Refusal | None = None


NOTHING = Said()


def scheduling_conditions(
    previous: list[SchedulingCondition] | None, said: Said, now: str
) -> list[SchedulingCondition] | None:
    """Kept while nothing is known, gone with the refusal, renewed where the refusal says something else."""
    if not said.is_known:
        return previous
    if said.refusal is None:
        return None
    last = previous[-1] if previous else None
    reasons = [_reason(said.refusal)]
    if last is not None and last.message == said.refusal.message and last.reasons == reasons:
        return previous
    return [
        SchedulingCondition(
            type="UnschedulableOnNodePool",
            status="True",
            reason="Unschedulable",
            message=said.refusal.message,
            reasons=reasons,
            transition_id=str(_number(last) + 1),
            last_transition_time=now,
        )
    ]


def _reason(refusal: Refusal) -> dict[str, object]:
    details = {
        "group": refusal.group,
        "domain": refusal.domain,
        "resource": refusal.resource,
        **msgspec.to_builtins(refusal.numbers),
    }
    shown = {name: value for name, value in details.items() if value not in ("", None)}
    return {"reason": refusal.gate, "message": refusal.message} | ({"details": shown} if shown else {})


def _number(last: SchedulingCondition | None) -> int:
    return int(last.transition_id) if last is not None and last.transition_id.isdigit() else 0
