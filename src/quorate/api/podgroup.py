"""PodGroup: a gang as users, the grouper and workload controllers write it; `rules.tree` gives it meaning."""

from typing import Annotated, Literal

import msgspec

from quorate.api.described import DNS_LABEL, DURATION, INT32_MAX, SIGNED_DURATION, described
from quorate.api.meta import Condition, Json, Kind, Object, Part, Wire
from quorate.api.podspec import ResourceList

POD_GROUP = Kind("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups")
# The group that the preemptibility design writes; same schema, same meaning.
POD_GROUP_ALIAS = Kind("scheduling.kai.nvidia.com", "v2alpha2", "PodGroup", "podgroups")
POD_GROUP_KINDS = (POD_GROUP, POD_GROUP_ALIAS)

MAX_SUB_GROUPS = 512  # the largest list for which the API server accepts our CEL rules
PREEMPTIBILITIES = ("preemptible", "non-preemptible", "semi-preemptible")

Phase = Literal["Pending", "Starting", "Running", "Degraded", "Stale", "Succeeded", "Failed", ""]

Minimum = Annotated[
    int, msgspec.Meta(extra_json_schema={"minimum": 0, "maximum": INT32_MAX, "format": "int32"})
]


class TopologyConstraint(Part, frozen=True):
    topology: Annotated[str, described("Name of the Topology; inherited from the nearest group above.")] = ""
    required_topology_level: Annotated[
        str,
        described("All members run inside one domain of this level (a node label or its alias)."),
    ] = ""
    preferred_topology_level: Annotated[
        str,
        described("Members run inside one domain of this level where that is possible."),
    ] = ""

    def __bool__(self) -> bool:
        return bool(self.topology or self.required_topology_level or self.preferred_topology_level)


class SubGroup(Part, frozen=True):
    name: Annotated[
        str,
        described(
            "Name of the group, unique in the PodGroup.",
            required=True,
            minLength=1,
            maxLength=63,
            pattern=DNS_LABEL,
        ),
    ] = ""
    parent: Annotated[
        str | None,
        described("Group that holds this one; none: the PodGroup itself.", maxLength=63),
    ] = None
    min_member: Annotated[
        Minimum | None,
        described("Pods that must run together; on a group with children, pods below it. 0: optional."),
    ] = None
    min_sub_group: Annotated[
        Minimum | None,
        described("Children that must be satisfied; none: all of them. Only on a group with children."),
    ] = None
    topology_constraint: TopologyConstraint | None = None


class PodGroupSpec(Wire):
    min_member: Annotated[
        Minimum | None,
        described("Pods that must run together, over all groups below. A flat PodGroup defaults to 1."),
    ] = None
    min_sub_group: Annotated[
        Minimum | None,
        described("Groups directly below that must be satisfied; none: all of them."),
    ] = None
    sub_groups: Annotated[
        list[SubGroup] | None,
        described(
            "Groups below this one, a tree by `parent`.",
            maxItems=MAX_SUB_GROUPS,
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
    ] = None
    queue: Annotated[str, described("Queue the gang is charged to.", maxLength=253)] = ""
    priority_class_name: Annotated[str, described("PriorityClass that orders the gang in its queue.")] = ""
    preemptibility: Annotated[
        str,
        described(
            "Whether running members may be evicted for others; none: preemptible below priority 100.",
            enum=["", *PREEMPTIBILITIES],
        ),
    ] = ""
    topology_constraint: TopologyConstraint | None = None
    mark_unschedulable: Annotated[
        bool | None,
        described("Whether pods of a gang that cannot start get a condition that says why; default true."),
    ] = None
    scheduling_backoff: Annotated[
        int | None,
        described("Tries after which the gang is left alone until it changes; -1: never."),
    ] = None
    preemption_delay: Annotated[
        str | None,
        described("How long the gang waits before it may cause evictions, as in `90s`.", pattern=DURATION),
    ] = None
    staleness_grace_period: Annotated[
        str | None,
        described(
            "How long a running gang may stay below a minimum, as in `60s`; negative: for ever.",
            pattern=SIGNED_DURATION,
        ),
    ] = None


class ResourcesStatus(Wire):
    requested: ResourceList | None = None
    allocated: ResourceList | None = None
    allocated_non_preemptible: ResourceList | None = None


class GroupStatus(Wire):
    """One row of the table of groups; the root has the name `""`."""

    name: str = ""
    min_member: int | None = None
    min_sub_group: int | None = None
    satisfied: bool | None = None  # no default of ours, so that false is written too
    pending: int = 0
    starting: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0


class PreemptibilityStatus(Wire):
    value: str = ""
    source: Annotated[str, described("Where the value came from.")] = ""


class SchedulingCondition(Wire):
    """Upstream's own form of a refusal, one per node pool."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    node_pool: str = ""
    reasons: list[Json] | None = None
    transition_id: str = msgspec.field(default="", name="transitionID")
    last_transition_time: str | None = None


class PodGroupStatus(Wire):
    phase: Phase = ""
    reason: Annotated[str, described("Why the gang is in this phase, in one line.")] = ""
    satisfied_groups: Annotated[str, described("Satisfied groups that hold pods, as in `3/4`.")] = ""
    active_members: Annotated[str, described("Bound or succeeded pods of all that exist, as in `26/28`.")] = (
        ""
    )
    groups: list[GroupStatus] | None = None
    resources_status: ResourcesStatus | None = None
    preemptibility: PreemptibilityStatus | None = None
    conditions: list[Condition] | None = None
    scheduling_conditions: list[SchedulingCondition] | None = None
    observed_generation: int = 0


class PodGroup(Object):
    spec: PodGroupSpec = msgspec.field(default_factory=PodGroupSpec)
    status: PodGroupStatus = msgspec.field(default_factory=PodGroupStatus)
