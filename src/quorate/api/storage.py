"""Claims, volumes and storage classes, as far as they tie a pod to a set of nodes."""

import msgspec

from quorate.api.meta import Kind, Object, Part, Wire
from quorate.api.podspec import LabelSelector, NodeSelector, ResourceList, ResourceRequirements

PERSISTENT_VOLUME = Kind("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False)
PERSISTENT_VOLUME_CLAIM = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
STORAGE_CLASS = Kind("storage.k8s.io", "v1", "StorageClass", "storageclasses", namespaced=False)
STORAGE_KINDS = (PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS)

SELECTED_NODE = "volume.kubernetes.io/selected-node"  # tells a provisioner where the first consumer runs
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"  # a volume or a claim that names the other one
WAITS = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"  # volumes of the class are made by hand


class PersistentVolumeClaimSpec(Wire):
    volume_name: str = ""
    storage_class_name: str | None = None
    access_modes: list[str] | None = None
    volume_mode: str = "Filesystem"
    selector: LabelSelector | None = None
    resources: ResourceRequirements = ResourceRequirements()


class ClaimStatus(Wire):
    phase: str = ""


class PersistentVolumeClaim(Object):
    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)
    status: ClaimStatus = msgspec.field(default_factory=ClaimStatus)


class VolumeNodeAffinity(Part, frozen=True):
    required: NodeSelector | None = None


class ClaimReference(Part, frozen=True):
    """The claim that holds a volume, or that it is kept for: then without a UID."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class PersistentVolumeSpec(Wire):
    storage_class_name: str = ""
    capacity: ResourceList | None = None
    access_modes: list[str] | None = None
    volume_mode: str = "Filesystem"
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None


class PersistentVolume(Object):
    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)
    status: ClaimStatus = msgspec.field(default_factory=ClaimStatus)


class TopologyLabel(Part, frozen=True):
    key: str = ""
    values: list[str] | None = None


class TopologySelectorTerm(Part, frozen=True):
    match_label_expressions: list[TopologyLabel] | None = None


class StorageClass(Object):
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: list[TopologySelectorTerm] | None = None
