"""The conditions of a set: what a rollout and its groups amount to.

| condition | holds when |
|---|---|
| Available | every wanted group is ready and of the newest revision |
| UpdateInProgress | a group that the partition lets go is still of another revision |
| Progressing | not available |
| Degraded | a group keeps failing and waits, a pod cannot be made, or one does not go |

Available excludes Progressing and UpdateInProgress. One that never held is absent.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from quorate.api.meta import Condition
from quorate.rules.conditions import find, transitioned

AVAILABLE, PROGRESSING, UPDATING, DEGRADED = "Available", "Progressing", "UpdateInProgress", "Degraded"
_LONGEST = 80  # characters of a list of groups in a message
_NAMING = ", not ready: "


class Counts(NamedTuple):
    """Wanted groups; `held` are kept at an earlier revision by the partition, `old` are not yet updated.

    `unready` names those that are not ready, as `0,2-4`.
    """

    wanted: int
    existing: int
    ready: int
    updated: int
    held: int
    old: int
    fit: int
    unready: str = ""


def conditions_of(
    counts: Counts, trouble: str, previous: list[Condition] | None, generation: int, now: str
) -> list[Condition]:
    """The next conditions; what was never true is left out."""
    held = {found.type: found for found in _holding(counts, trouble)}
    known = [found.type for found in previous or ()]
    order = [*known, *(kind for kind in held if kind not in known)]
    wanted = [_put(kind, held.get(kind), find(previous, kind), generation) for kind in order]
    return transitioned(wanted, previous, now)


def _put(kind: str, held: Condition | None, old: Condition | None, generation: int) -> Condition:
    source = held or old or Condition()
    return Condition(
        type=kind,
        status="True" if held else "False",
        reason=source.reason,
        message=source.message if held else source.message.partition(_NAMING)[0],
        observed_generation=generation,
    )


def _holding(counts: Counts, trouble: str) -> Iterator[Condition]:
    if counts.fit == counts.wanted:
        yield Condition(type=AVAILABLE, reason="AllGroupsReady", message="All replicas are ready")
    else:
        if counts.old:
            yield Condition(type=UPDATING, reason="GroupsUpdating", message="Rolling Upgrade is in progress")
        yield Condition(type=PROGRESSING, reason="GroupsProgressing", message=_progress(counts))
    if trouble:
        yield Condition(type=DEGRADED, reason="GroupsFailing", message=trouble)


def _progress(counts: Counts) -> str:
    if counts.held and counts.ready == counts.wanted and not counts.old:
        return f"groups kept at an earlier revision by the partition: {counts.held}"
    named = counts.unready if len(counts.unready) <= _LONGEST else f"{counts.unready[:_LONGEST]}..."
    return f"Replicas are progressing{_NAMING}{named}" if named else "Replicas are progressing"


def changed(previous: list[Condition] | None, wanted: Sequence[Condition]) -> Iterator[Condition]:
    """Conditions that begin to hold."""
    for condition in wanted:
        old = find(previous, condition.type)
        if condition.status == "True" and (old is None or old.status != "True"):
            yield condition
