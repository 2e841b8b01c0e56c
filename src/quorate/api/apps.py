"""Deployment, ReplicaSet, StatefulSet, DaemonSet and ControllerRevision, as the grouper reads them."""

import msgspec

from quorate.api.meta import Condition, Json, Kind, Object, Part, Wire
from quorate.api.podspec import LabelSelector, PodTemplate

DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments")
REPLICA_SET = Kind("apps", "v1", "ReplicaSet", "replicasets")
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets")
DAEMON_SET = Kind("apps", "v1", "DaemonSet", "daemonsets")
CONTROLLER_REVISION = Kind("apps", "v1", "ControllerRevision", "controllerrevisions")


class ReplicatedSpec(Wire):
    """What a Deployment, a ReplicaSet and a DaemonSet (which has no replicas) share."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = msgspec.field(default_factory=PodTemplate)
    paused: bool = False
    min_ready_seconds: int = 0


class ReplicatedStatus(Wire):
    replicas: int = 0
    ready_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int = 0
    conditions: list[Condition] | None = None


class Deployment(Object):
    spec: ReplicatedSpec = msgspec.field(default_factory=ReplicatedSpec)
    status: ReplicatedStatus = msgspec.field(default_factory=ReplicatedStatus)


class ReplicaSet(Object):
    spec: ReplicatedSpec = msgspec.field(default_factory=ReplicatedSpec)
    status: ReplicatedStatus = msgspec.field(default_factory=ReplicatedStatus)


class DaemonSetStatus(Wire):
    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0
    number_ready: int = 0


class DaemonSet(Object):
    spec: ReplicatedSpec = msgspec.field(default_factory=ReplicatedSpec)
    status: DaemonSetStatus = msgspec.field(default_factory=DaemonSetStatus)


class Ordinals(Part, frozen=True):
    start: int = 0


class StatefulSetSpec(ReplicatedSpec):
    service_name: str = ""
    pod_management_policy: str = "OrderedReady"
    ordinals: Ordinals | None = None
    volume_claim_templates: list[Json] | None = None


class StatefulSetStatus(ReplicatedStatus):
    current_revision: str = ""
    update_revision: str = ""


class StatefulSet(Object):
    spec: StatefulSetSpec = msgspec.field(default_factory=StatefulSetSpec)
    status: StatefulSetStatus = msgspec.field(default_factory=StatefulSetStatus)


class ControllerRevision(Object):
    data: Json | None = None
    revision: int = 0
