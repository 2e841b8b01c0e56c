"""Pods, nodes and the other core objects that are read or written; every core and the client use them.

What a pod asks for stands in `podspec`.
"""

from typing import Literal

import msgspec

from quorate.api.meta import Condition, Json, Kind, Object, Part, Wire
from quorate.api.podspec import PodSpec, ResourceList

POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
SERVICE = Kind("", "v1", "Service", "services")
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps")
SECRET = Kind("", "v1", "Secret", "secrets")
EVENT = Kind("", "v1", "Event", "events")
PRIORITY_CLASS = Kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False)
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases")

PodPhase = Literal["Pending", "Running", "Succeeded", "Failed", "Unknown", ""]


class ContainerState(Part, frozen=True):
    waiting: Json | None = None
    running: Json | None = None
    terminated: Json | None = None


class ContainerStatus(Part, frozen=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    started: bool | None = None
    state: ContainerState = ContainerState()
    resources: Json | None = None
    image: str = ""


class PodStatus(Wire):
    phase: PodPhase = ""
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    nominated_node_name: str = ""
    reason: str = ""
    message: str = ""
    start_time: str | None = None
    pod_ip: str = msgspec.field(default="", name="podIP")


class Pod(Object):
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    def condition(self, kind: str) -> Condition | None:
        return next((found for found in self.status.conditions or () if found.type == kind), None)

    @property
    def is_finished(self) -> bool:
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def is_deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None

    @property
    def is_gated(self) -> bool:
        return bool(self.spec.scheduling_gates)

    @property
    def is_ready(self) -> bool:
        ready = self.condition("Ready")
        return ready is not None and ready.status == "True"


class Taint(Part, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeSpec(Wire):
    unschedulable: bool = False
    taints: list[Taint] | None = None
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeStatus(Wire):
    capacity: ResourceList | None = None
    allocatable: ResourceList | None = None
    conditions: list[Condition] | None = None


class Node(Object):
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)

    @property
    def is_ready(self) -> bool:
        """A node that reports no Ready condition counts as ready, as in Kubernetes' own scheduler."""
        return all(found.status == "True" for found in self.status.conditions or () if found.type == "Ready")


class NamespaceStatus(Wire):
    phase: str = ""


class Namespace(Object):
    status: NamespaceStatus = msgspec.field(default_factory=NamespaceStatus)


class ConfigMap(Object):
    data: dict[str, str] | None = None
    binary_data: dict[str, str] | None = None


class PriorityClass(Object):
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None
    description: str = ""


class LeaseSpec(Wire):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class Lease(Object):
    spec: LeaseSpec = msgspec.field(default_factory=LeaseSpec)
