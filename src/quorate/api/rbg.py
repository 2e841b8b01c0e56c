"""RoleBasedGroup and its companions, in the group of the segment design and in upstream's; one type for both.

Roles follow upstream's v1alpha2. Coordinations that place segments stand in `coordinationRequirements`;
upstream's coordinated scaling and rolling update stand in a CoordinatedPolicy of the same name.
"""

from typing import Annotated

import msgspec

from quorate.api.described import DNS_LABEL, described
from quorate.api.meta import Condition, Json, Kind, Object, Part, Wire
from quorate.api.rbgcoordination import MAX_INSTANCES, MAX_ROLES, CoordinationRequirement, IntOrPercent

ROLE_BASED_GROUP = Kind("workloads.instai.io", "v1alpha1", "RoleBasedGroup", "rolebasedgroups")
ROLE_BASED_GROUP_UPSTREAM = Kind("workloads.x-k8s.io", "v1alpha2", "RoleBasedGroup", "rolebasedgroups")
ROLE_BASED_GROUP_KINDS = (ROLE_BASED_GROUP, ROLE_BASED_GROUP_UPSTREAM)
COORDINATED_POLICY = Kind("workloads.x-k8s.io", "v1alpha2", "CoordinatedPolicy", "coordinatedpolicies")
SCALING_ADAPTER = Kind(
    "workloads.x-k8s.io", "v1alpha2", "RoleBasedGroupScalingAdapter", "rolebasedgroupscalingadapters"
)


class TemplateRef(Part, frozen=True):
    name: Annotated[str, described("Name in `roleTemplates`.", minLength=1, maxLength=63)] = ""
    patch: Annotated[Json | None, described("Strategic merge patch on the template.")] = None


RestartType = Annotated[
    str,
    described(
        "What a failed pod means: nothing to others, a new instance, or a new group; none: a new instance "
        "where leaders have workers.",
        enum=["", "None", "RecreateRoleInstanceOnPodRestart", "RecreateRBGOnPodRestart"],
    ),
]


class RestartPolicyConfig(Part, frozen=True):
    type: RestartType = ""
    base_delay_seconds: Annotated[
        int,
        described(
            "How long the second restart in a row waits; each after it twice as long.", minimum=0, default=30
        ),
    ] = 30
    max_delay_seconds: Annotated[int, described("Longest delay; 0: no limit.", minimum=0, default=600)] = 600


class StandalonePattern(Wire):
    template: Annotated[Json | None, described("Pod template.")] = None
    template_ref: TemplateRef | None = None
    restart_policy: RestartType = ""
    restart_policy_config: RestartPolicyConfig | None = None


class LeaderWorkerPattern(Wire):
    size: Annotated[int, described("Pods of an instance, leader included.", minimum=1, default=1)] = 1
    template: Annotated[Json | None, described("Pod template.")] = None
    template_ref: TemplateRef | None = None
    leader_template_patch: Annotated[Json | None, described("Strategic merge patch for the leader.")] = None
    worker_template_patch: Annotated[Json | None, described("Strategic merge patch for workers.")] = None
    shared_service_selection: Annotated[
        str, described("Which pods the role's Service selects.", enum=["", "All", "LeaderOnly"])
    ] = ""
    restart_policy: RestartType = ""
    restart_policy_config: RestartPolicyConfig | None = None


class Component(Wire):
    name: Annotated[str, described("Name of the component.", minLength=1, maxLength=63)] = ""
    size: Annotated[int, described("Pods of the component.", minimum=0, default=1)] = 1
    service_name: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    template: Annotated[Json, described("Pod template.")] = msgspec.field(default_factory=dict)


class CustomComponentsPattern(Wire):
    components: Annotated[list[Component] | None, described("Parts of an instance.", maxItems=MAX_ROLES)] = (
        None
    )
    restart_policy: RestartType = ""
    restart_policy_config: RestartPolicyConfig | None = None


class RollingUpdate(Wire):
    type: Annotated[
        str,
        described(
            "How a pod gets its new revision.",
            enum=["RecreatePod", "InPlaceIfPossible", "InPlaceOnly"],
            default="InPlaceIfPossible",
        ),
    ] = "InPlaceIfPossible"
    partition: Annotated[IntOrPercent, described("Instances below it keep their revision.", default=0)] = 0
    max_unavailable: Annotated[IntOrPercent, described("Instances that may be unavailable.", default=1)] = 1
    max_surge: Annotated[IntOrPercent, described("Extra instances while rolling.", default=0)] = 0
    paused: Annotated[bool, described("Instances keep their revision, also those of linked roles.")] = False


class RoleRolloutStrategy(Wire):
    type: Annotated[
        str, described("How instances are updated.", enum=["RollingUpdate"], default="RollingUpdate")
    ] = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class ServicePort(Part, frozen=True):
    name: str = ""
    port: Annotated[int, described("Port.", minimum=1, maximum=65535)] = 0
    protocol: str = "TCP"
    target_port: Annotated[IntOrPercent | None, described("Port of the container.")] = None


class ScalingAdapterSwitch(Wire):
    enable: bool = False
    labels: dict[str, str] | None = None


class Role(Wire):
    name: Annotated[
        str,
        described(
            "Name of the role, unique in the group.",
            required=True,
            minLength=1,
            maxLength=63,
            pattern=DNS_LABEL,
        ),
    ] = ""
    replicas: Annotated[
        int,
        described("Instances of the role.", minimum=0, maximum=MAX_INSTANCES, format="int32", default=1),
    ] = 1
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    dependencies: Annotated[
        list[str] | None,
        described("Roles that are ready before this one starts.", maxItems=MAX_ROLES),
    ] = None
    min_ready_seconds: Annotated[int, described("How long ready counts as available.", minimum=0)] = 0
    pod_management_policy: Annotated[
        str,
        described("Order of creation.", enum=["Parallel", "OrderedReady"], default="Parallel"),
    ] = "Parallel"
    service_ports: Annotated[
        list[ServicePort] | None, described("Ports of the role's Service, also listed in the discovery file.")
    ] = None
    template: Annotated[Json | None, described("Pod template; short for a standalone pattern.")] = None
    standalone_pattern: Annotated[StandalonePattern | None, described("Instances of one pod.")] = None
    leader_worker_pattern: Annotated[
        LeaderWorkerPattern | None, described("Instances of a leader and its workers.")
    ] = None
    custom_components_pattern: Annotated[
        CustomComponentsPattern | None, described("Not supported: read so that it can be refused by name.")
    ] = None
    rollout_strategy: Annotated[
        RoleRolloutStrategy | None, described("How a new template reaches the instances.")
    ] = None
    scaling_adapter: Annotated[
        ScalingAdapterSwitch | None,
        described("Whether kubectl scale and autoscalers have an adapter for the role."),
    ] = None


class RoleTemplate(Wire):
    name: Annotated[str, described("Name.", minLength=1, maxLength=63, pattern=DNS_LABEL)] = ""
    template: Annotated[Json, described("Pod template.")] = msgspec.field(default_factory=dict)


class RoleBasedGroupSpec(Wire):
    roles: Annotated[
        list[Role] | None,
        described(
            "Roles of the group.",
            required=True,
            minItems=1,
            maxItems=MAX_ROLES,
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
    ] = None
    role_templates: Annotated[
        list[RoleTemplate] | None,
        described("Pod templates that roles share.", maxItems=MAX_ROLES),
    ] = None
    coordination_requirements: Annotated[
        list[CoordinationRequirement] | None,
        described("Which roles grow together, and how.", maxItems=MAX_ROLES),
    ] = None


class RoleStatus(Wire):
    name: str = ""
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0


class SegmentStatus(Wire):
    """One row of the table of segments, as `kubectl get` and the dashboard show it; people count from 1."""

    index: int = 0
    ready: bool = False
    pods: str = ""


class CoordinationStatus(Wire):
    """How far a coordination is, in segments, and what it waits for since when."""

    name: str = ""
    complete: int = 0
    ready: int = 0
    wanted: int = 0
    updating: int | None = None
    waits_for: str = ""
    since: str = ""


class RoleBasedGroupStatus(Wire):
    observed_generation: int = 0
    conditions: list[Condition] | None = None
    role_statuses: list[RoleStatus] | None = None
    segments: list[SegmentStatus] | None = None
    segments_ready: str = ""
    coordinations: list[CoordinationStatus] | None = None
    current_revision: str = ""


class RoleBasedGroup(Object):
    spec: RoleBasedGroupSpec = msgspec.field(default_factory=RoleBasedGroupSpec)
    status: RoleBasedGroupStatus = msgspec.field(default_factory=RoleBasedGroupStatus)
