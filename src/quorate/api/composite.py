"""CompositePodGroup: a gang of PodGroups that start together; PodGroups name it by label."""

from typing import Annotated

import msgspec

from quorate.api.described import described
from quorate.api.meta import Condition, Kind, Object, Wire
from quorate.api.podgroup import Minimum, TopologyConstraint

COMPOSITE_POD_GROUP = Kind("scheduling.quorate.dev", "v1alpha1", "CompositePodGroup", "compositepodgroups")
SATISFIED = "Satisfied"  # the condition
REFUSED = "Unschedulable"  # its reason once the scheduler has found no room


class CompositePodGroupSpec(Wire):
    min_group_count: Annotated[
        Minimum | None,
        described("Child groups that must be satisfied before any member starts; none: all of them."),
    ] = None
    parent: Annotated[
        str,
        described("CompositePodGroup of this namespace that holds this one.", maxLength=253),
    ] = ""
    topology_constraint: TopologyConstraint | None = None
    spread: Annotated[
        str,
        described(
            "CompositePodGroups of this namespace that say the same here choose different domains of the "
            "constrained level where they can.",
            maxLength=253,
        ),
    ] = ""


class CompositePodGroupStatus(Wire):
    groups: int = 0
    satisfied_groups: int = 0
    conditions: list[Condition] | None = None
    observed_generation: int = 0


class CompositePodGroup(Object):
    spec: CompositePodGroupSpec = msgspec.field(default_factory=CompositePodGroupSpec)
    status: CompositePodGroupStatus = msgspec.field(default_factory=CompositePodGroupStatus)
