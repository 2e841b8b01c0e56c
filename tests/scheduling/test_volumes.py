"""Claims decide where pods may go, and learn where the pods went."""

from typing import Any

import pytest
from msgspec.structs import replace

from quorate.api.meta import ObjectMeta, OwnerReference
from quorate.api.podspec import (
    ClaimVolume,
    EphemeralVolume,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorTerm,
    Volume,
)
from quorate.api.storage import (
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    SELECTED_NODE,
    STORAGE_CLASS,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    StorageClass,
    TopologyLabel,
    TopologySelectorTerm,
    VolumeNodeAffinity,
)
from quorate.plan import Bind, Patch
from tests.fakes.clusters import Cluster, Group

WAITING = "WaitForFirstConsumer"


def cluster_of(*names: str) -> Cluster:
    """Nodes, and a gang of one pod that mounts claim `data`."""
    cluster = Cluster()
    for name in names:
        cluster.node(name, 1, rack=name)
    cluster.gang("job", [Group("", min_member=1, members=1)])
    cluster.dress("job", volumes=[Volume("data", persistent_volume_claim=ClaimVolume("data"))])
    return cluster


def storage_class(cluster: Cluster, mode: str = WAITING, **fields: Any) -> None:
    fields = {"provisioner": "example.com/disks", **fields}
    made = StorageClass(metadata=ObjectMeta(name="disks"), volume_binding_mode=mode, **fields)
    cluster.show(STORAGE_CLASS, made)


def claim(
    cluster: Cluster,
    name: str = "data",
    *,
    volume: str = "",
    annotations: dict[str, str] | None = None,
    owner: str = "",
) -> None:
    owners = [OwnerReference("v1", "Pod", "pod", owner, controller=True)] if owner else None
    meta = ObjectMeta(
        name=name, namespace="ns", uid=f"uid-{name}", annotations=annotations, owner_references=owners
    )
    spec = PersistentVolumeClaimSpec(storage_class_name="disks", volume_name=volume)
    cluster.show(PERSISTENT_VOLUME_CLAIM, PersistentVolumeClaim(metadata=meta, spec=spec))


def volume(cluster: Cluster, rack: str) -> None:
    term = NodeSelectorTerm(match_expressions=[LabelSelectorRequirement("rack", "In", [rack])])
    spec = PersistentVolumeSpec(node_affinity=VolumeNodeAffinity(NodeSelector([term])))
    cluster.show(PERSISTENT_VOLUME, PersistentVolume(metadata=ObjectMeta(name="v"), spec=spec))


def selected(cluster: Cluster, name: str = "data") -> str:
    return cluster.objects[PERSISTENT_VOLUME_CLAIM, name].metadata.annotation(SELECTED_NODE)


def test_a_pod_goes_where_its_volume_is() -> None:
    cluster = cluster_of("a", "b")
    claim(cluster, volume="v")
    volume(cluster, "b")
    cluster.settle()
    assert cluster.bound("job") == ["b"]


def test_a_claim_that_waits_for_its_first_consumer_is_told_the_node_before_the_pod_is_bound() -> None:
    cluster = cluster_of("a", "b")
    storage_class(cluster)
    claim(cluster)
    changes = [
        change
        for change in cluster.cycle().changes
        if not isinstance(change, Patch) or change.target.name == "data"
    ]
    assert [type(change) for change in changes] == [Patch, Bind]
    assert cluster.bound("job") == [selected(cluster)]
    assert not cluster.cycle().changes


def test_a_claim_that_was_not_told_before_a_crash_is_told_after_it() -> None:
    cluster = cluster_of("a")
    storage_class(cluster)
    claim(cluster)
    cluster.cycle()
    claim(cluster)
    cluster.cycle()
    assert selected(cluster) == "a"


def test_a_claim_that_names_a_node_keeps_its_pod_to_it() -> None:
    cluster = cluster_of("a", "b")
    storage_class(cluster)
    claim(cluster, annotations={SELECTED_NODE: "b"})
    cluster.settle()
    assert cluster.bound("job") == ["b"]


def test_a_class_that_makes_volumes_in_some_places_ties_pods_to_them() -> None:
    cluster = cluster_of("a", "b")
    places = [TopologySelectorTerm([TopologyLabel("rack", ["b"])])]
    storage_class(cluster, allowed_topologies=places)
    claim(cluster)
    cluster.settle()
    assert (cluster.bound("job"), selected(cluster)) == (["b"], "b")


def test_a_claim_of_the_pods_own_is_told_too() -> None:
    cluster = cluster_of("a")
    cluster.dress("job", volumes=[Volume("scratch", ephemeral=EphemeralVolume())])
    pod = cluster.pods["job.0"]
    cluster.change(replace(pod, metadata=replace(pod.metadata, uid="uid-pod")))
    storage_class(cluster)
    (refusal,) = cluster.cycle().refusals
    assert "waiting for ephemeral volume controller to create" in refusal.message
    claim(cluster, "job.0-scratch")
    (refusal,) = cluster.cycle().refusals
    assert "was not created for this pod" in refusal.message
    claim(cluster, "job.0-scratch", owner="uid-pod")
    cluster.settle()
    assert selected(cluster, "job.0-scratch") == "a"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (None, 'persistentvolumeclaim "data" not found'),
        ({"mode": "Immediate"}, "pod has unbound immediate PersistentVolumeClaims: data"),
        (
            {"provisioner": "kubernetes.io/no-provisioner"},
            'persistentvolumeclaim "data" finds no free persistentvolume among volumes of class disks (0Gi): make one',
        ),
    ],
    ids=["no claim", "bound at once", "made by hand"],
)
def test_a_pod_waits_for_a_claim_that_only_others_can_bind_and_says_so(
    fields: dict[str, str] | None, text: str
) -> None:
    cluster = cluster_of("a")
    if fields is not None:
        storage_class(cluster, **fields)
        claim(cluster)
    (refusal,) = cluster.cycle().refusals
    assert refusal.message.endswith(f"due to: {text}")
    claim(cluster, volume="v")
    volume(cluster, "a")
    cluster.settle()
    assert cluster.bound("job") == ["a"]
