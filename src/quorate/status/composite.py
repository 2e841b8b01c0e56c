"""The status of a CompositePodGroup: how many of its groups are satisfied, and why they do not start."""

from collections.abc import Iterator, Sequence

from quorate.api import timestamps
from quorate.api.composite import (
    COMPOSITE_POD_GROUP,
    REFUSED,
    SATISFIED,
    CompositePodGroup,
    CompositePodGroupStatus,
)
from quorate.api.labels import COMPOSITE_GROUP
from quorate.api.meta import Condition
from quorate.api.podgroup import PodGroup
from quorate.plan import SetStatus
from quorate.rules.conditions import is_true, transitioned
from quorate.rules.statuschange import status_change


def change(
    composite: CompositePodGroup,
    composites: Sequence[CompositePodGroup],
    podgroups: Sequence[PodGroup],
    now: float,
) -> SetStatus | None:
    """What to write, if anything; groups of other namespaces and other composites may be among the given."""
    new = status_of(composite, composites, podgroups, now)
    return status_change(COMPOSITE_POD_GROUP, composite, old=composite.status, new=new)


def status_of(
    composite: CompositePodGroup,
    composites: Sequence[CompositePodGroup],
    podgroups: Sequence[PodGroup],
    now: float,
) -> CompositePodGroupStatus:
    """Children count as satisfied by their own status, so that each level is decided in one place."""
    held = [is_true(conditions, SATISFIED) for conditions in _children(composite, composites, podgroups)]
    minimum = composite.spec.min_group_count
    needed = len(held) if minimum is None else minimum
    met = bool(held) and sum(held) >= needed
    refusal = "" if met else _refusal(composite, podgroups)
    counts = f"{sum(held)} of {len(held)} groups are satisfied, {needed} are needed"
    condition = Condition(
        type=SATISFIED,
        status="True" if met else "False",
        reason=REFUSED if refusal else "MinimumMet" if met else "BelowMinimum",
        message=f"{counts}; {refusal}" if refusal else counts,
        observed_generation=composite.metadata.generation,
    )
    return CompositePodGroupStatus(
        groups=len(held),
        satisfied_groups=sum(held),
        conditions=transitioned([condition], composite.status.conditions, timestamps.text(now)),
        observed_generation=composite.metadata.generation,
    )


def _children(
    composite: CompositePodGroup, composites: Sequence[CompositePodGroup], podgroups: Sequence[PodGroup]
) -> Iterator[list[Condition] | None]:
    """What is said of each gang and of each composite directly below."""
    for group in _gangs(composite, podgroups):
        yield group.status.conditions
    for other in composites:
        if (
            other.metadata.namespace == composite.metadata.namespace
            and other.spec.parent == composite.metadata.name
        ):
            yield other.status.conditions


def _refusal(composite: CompositePodGroup, podgroups: Sequence[PodGroup]) -> str:
    """What the scheduler said of the gangs; they are refused together, so the first speaks for all."""
    said = (one for group in _gangs(composite, podgroups) for one in group.status.scheduling_conditions or ())
    return next((one.message for one in said), "")


def _gangs(composite: CompositePodGroup, podgroups: Sequence[PodGroup]) -> Iterator[PodGroup]:
    """Those directly below."""
    for group in podgroups:
        is_near = group.metadata.namespace == composite.metadata.namespace
        if is_near and group.metadata.label(COMPOSITE_GROUP) == composite.metadata.name:
            yield group
