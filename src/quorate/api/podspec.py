"""The parts of a pod's spec that decide where it may run and what it uses; pods and templates hold them.

Lists and maps are `None` where the wire has null or nothing: a server may send either.
"""

import msgspec

from quorate.api.meta import Json, Part, Wire

Quantity = str | int | float
ResourceList = dict[str, Quantity]


class LabelSelectorRequirement(Part, frozen=True):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class LabelSelector(Part, frozen=True):
    """Both parts must hold; an empty selector selects everything, a missing one nothing."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[LabelSelectorRequirement] | None = None


class NodeSelectorTerm(Part, frozen=True):
    match_expressions: list[LabelSelectorRequirement] | None = None
    match_fields: list[LabelSelectorRequirement] | None = None


class NodeSelector(Part, frozen=True):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class PreferredNodeTerm(Part, frozen=True):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(
    Part,
    frozen=True,
    rename={
        "required": "requiredDuringSchedulingIgnoredDuringExecution",
        "preferred": "preferredDuringSchedulingIgnoredDuringExecution",
    },
):
    required: NodeSelector | None = None
    preferred: list[PreferredNodeTerm] | None = None


class PodAffinityTerm(Part, frozen=True):
    label_selector: LabelSelector | None = None
    topology_key: str = ""
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class WeightedPodAffinityTerm(Part, frozen=True):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(
    Part,
    frozen=True,
    rename={
        "required": "requiredDuringSchedulingIgnoredDuringExecution",
        "preferred": "preferredDuringSchedulingIgnoredDuringExecution",
    },
):
    """Serves affinity and anti-affinity alike: their wire forms are the same."""

    required: list[PodAffinityTerm] | None = None
    preferred: list[WeightedPodAffinityTerm] | None = None


class Affinity(Part, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Part, frozen=True):
    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Part, frozen=True):
    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: list[str] | None = None


class ContainerResourceClaim(Part, frozen=True):
    name: str = ""
    request: str = ""


class ResourceRequirements(Part, frozen=True):
    requests: ResourceList | None = None
    limits: ResourceList | None = None
    claims: list[ContainerResourceClaim] | None = None


class ContainerPort(Part, frozen=True):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = "TCP"
    name: str = ""


class EnvVar(Part, frozen=True):
    name: str = ""
    value: str = ""
    value_from: Json | None = None


class Container(Part, frozen=True):
    """`restart_policy` Always on an init container makes it a sidecar."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: list[ContainerPort] | None = None
    env: list[EnvVar] | None = None
    restart_policy: str | None = None


class ClaimVolume(Part, frozen=True):
    claim_name: str = ""
    read_only: bool = False


class EphemeralVolume(Part, frozen=True):
    volume_claim_template: Json | None = None


class Volume(Part, frozen=True):
    """Only volumes that bind a pod to a claim are told apart; the name is all that is read of the others."""

    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None


class PodResourceClaim(Part, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SchedulingGate(Part, frozen=True):
    name: str = ""


class SchedulingGroup(Part, frozen=True):
    """The native reference of a pod to its gang, Kubernetes 1.36 and later."""

    pod_group_name: str | None = None


class PodSpec(Wire):
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: ResourceList | None = None
    resources: ResourceRequirements | None = None
    node_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None
    scheduling_gates: list[SchedulingGate] | None = None
    scheduler_name: str = ""
    scheduling_group: SchedulingGroup | None = None
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    volumes: list[Volume] | None = None
    resource_claims: list[PodResourceClaim] | None = None
    runtime_class_name: str | None = None
    restart_policy: str = "Always"
    termination_grace_period_seconds: int | None = None
    host_network: bool = False
    hostname: str = ""
    subdomain: str = ""
    service_account_name: str = ""
