"""The status of a CompositePodGroup: how many of its groups there are, and how many are satisfied."""

from collections.abc import Sequence

from quorate.api import timestamps
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup, CompositePodGroupStatus
from quorate.api.labels import COMPOSITE_GROUP
from quorate.api.meta import Condition
from quorate.api.podgroup import PodGroup
from quorate.plan import SetStatus
from quorate.status.change import status_change
from quorate.status.conditions import is_true, transitioned


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
    name, namespace = composite.metadata.name, composite.metadata.namespace
    leaves = [
        group.status.conditions
        for group in podgroups
        if group.metadata.namespace == namespace and group.metadata.label(COMPOSITE_GROUP) == name
    ]
    inner = [
        other.status.conditions
        for other in composites
        if other.metadata.namespace == namespace and other.spec.parent == name
    ]
    children = leaves + inner
    held = sum(is_true(conditions, "Satisfied") for conditions in children)
    minimum = composite.spec.min_group_count
    needed = len(children) if minimum is None else minimum
    met = bool(children) and held >= needed
    condition = Condition(
        type="Satisfied",
        status="True" if met else "False",
        reason="MinimumMet" if met else "BelowMinimum",
        message=f"{held} of {len(children)} groups are satisfied, {needed} are needed",
        observed_generation=composite.metadata.generation,
    )
    return CompositePodGroupStatus(
        groups=len(children),
        satisfied_groups=held,
        conditions=transitioned([condition], composite.status.conditions, timestamps.text(now)),
        observed_generation=composite.metadata.generation,
    )
