"""Conditions that keep their transition time for as long as their status stays."""

from collections.abc import Iterable

from quorate.api.meta import Condition


def transitioned(wanted: Iterable[Condition], previous: list[Condition] | None, now: str) -> list[Condition]:
    """The wanted conditions, each with the time since which it has its status."""
    before = {condition.type: condition for condition in previous or ()}
    found: list[Condition] = []
    for condition in wanted:
        old = before.get(condition.type)
        since = old.last_transition_time if old is not None and old.status == condition.status else None
        found.append(
            Condition(
                type=condition.type,
                status=condition.status,
                reason=condition.reason,
                message=condition.message,
                observed_generation=condition.observed_generation,
                last_transition_time=since or now,
            )
        )
    return found


def find(conditions: list[Condition] | None, kind: str) -> Condition | None:
    return next((condition for condition in conditions or () if condition.type == kind), None)


def is_true(conditions: list[Condition] | None, kind: str) -> bool:
    found = find(conditions, kind)
    return found is not None and found.status == "True"
