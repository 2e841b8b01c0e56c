"""Volumes made by hand: gangs go where there is one for each of their claims, and nobody shares one."""

from operator import ge

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from quorate.api import labels
from quorate.api.core import PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podspec import (
    ClaimVolume,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorTerm,
    ResourceRequirements,
    Volume,
)
from quorate.api.storage import (
    NO_PROVISIONER,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    STORAGE_CLASS,
    ClaimReference,
    ClaimStatus,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    StorageClass,
    VolumeNodeAffinity,
)
from quorate.plan import Bind, Patch
from tests.fakes.clusters import Cluster, Group
from tests.fakes.drawn import EXAMPLES


def cluster_of(volumes: dict[str, list[int]]) -> Cluster:
    """Nodes of four GPUs each, with volumes of so many Gi."""
    cluster = Cluster()
    made = StorageClass(
        metadata=ObjectMeta(name="local"),
        provisioner=NO_PROVISIONER,
        volume_binding_mode="WaitForFirstConsumer",
    )
    cluster.show(STORAGE_CLASS, made)
    for node, sizes in volumes.items():
        cluster.node(node, 4, cpus=64, **{labels.HOSTNAME: f"{node}.example.com"})
        for at, size in enumerate(sizes):
            volume(cluster, f"{node}{at}", size, hosts=[f"{node}.example.com"])
    return cluster


def volume(
    cluster: Cluster, name: str, size: int, *, hosts: list[str], kept: ClaimReference | None = None
) -> None:
    term = NodeSelectorTerm(match_expressions=[LabelSelectorRequirement(labels.HOSTNAME, "In", hosts)])
    spec = PersistentVolumeSpec(
        storage_class_name="local",
        capacity={"storage": f"{size}Gi"},
        access_modes=["ReadWriteOnce"],
        node_affinity=VolumeNodeAffinity(NodeSelector([term])),
        claim_ref=kept,
    )
    status = ClaimStatus(phase="Available")
    cluster.show(
        PERSISTENT_VOLUME, PersistentVolume(metadata=ObjectMeta(name=name), spec=spec, status=status)
    )


def gang(cluster: Cluster, name: str, *sizes: int) -> None:
    """A pod for each size, with a claim of its own."""
    cluster.gang(name, [Group("", min_member=len(sizes), members=len(sizes))])
    for at, size in enumerate(sizes):
        mine = f"{name}-{at}"
        spec = PersistentVolumeClaimSpec(
            storage_class_name="local",
            access_modes=["ReadWriteOnce"],
            resources=ResourceRequirements(requests={"storage": f"{size}Gi"}),
        )
        meta = ObjectMeta(name=mine, namespace="ns", uid=f"uid-{mine}")
        cluster.show(PERSISTENT_VOLUME_CLAIM, PersistentVolumeClaim(metadata=meta, spec=spec))
        pod = cluster.pods[f"{name}.{at}"]
        mounts = [Volume("data", persistent_volume_claim=ClaimVolume(mine))]
        cluster.change(replace(pod, spec=replace(pod.spec, volumes=mounts)))


def held(cluster: Cluster) -> dict[str, str]:
    """Claims by the volume that each has."""
    claims = (one for (kind, _), one in cluster.objects.items() if kind == PERSISTENT_VOLUME_CLAIM)
    return {
        one.metadata.name: one.spec.volume_name
        for one in claims
        if isinstance(one, PersistentVolumeClaim) and one.spec.volume_name
    }


def test_a_gang_goes_where_there_is_a_volume_for_each_of_its_claims() -> None:
    cluster = cluster_of({"a": [], "b": [10, 10]})
    gang(cluster, "job", 10, 10)
    changes = cluster.cycle().changes
    assert [type(one) for one in changes[:4]] == [Patch, Bind, Patch, Bind]
    assert cluster.bound("job") == ["b", "b"]
    assert held(cluster) == {"job-0": "b0", "job-1": "b1"}
    assert not cluster.cycle().changes


def test_pods_part_where_each_node_has_a_volume_for_one_of_them() -> None:
    cluster = cluster_of({"a": [10], "b": [10], "c": []})
    gang(cluster, "job", 10, 10)
    cluster.settle()
    assert sorted(cluster.bound("job")) == ["a", "b"]
    assert sorted(held(cluster).values()) == ["a0", "b0"]


def test_a_gang_that_lacks_one_volume_does_not_start_and_says_what_is_short() -> None:
    cluster = cluster_of({"a": [10], "b": []})
    gang(cluster, "job", 10, 10)
    plan = cluster.cycle()
    assert (plan.changes, held(cluster)) == ((), {})
    assert "volumes of class local (10Gi, ReadWriteOnce)" in plan.refusals[0].message
    volume(cluster, "more", 20, hosts=["b"])
    cluster.settle()
    assert sorted(cluster.bound("job")) == ["a", "b"]


def test_each_claim_gets_a_volume_that_is_large_enough_and_no_larger_than_it_must_be() -> None:
    cluster = cluster_of({"a": [200, 50]})
    gang(cluster, "job", 100, 10)
    cluster.settle()
    assert held(cluster) == {"job-0": "a0", "job-1": "a1"}


def test_a_volume_counts_once_for_claims_of_all_sizes() -> None:
    cluster = cluster_of({"a": [200, 50]})
    gang(cluster, "job", 100, 100)
    gang(cluster, "other", 10, 100, 10)
    cluster.settle()
    assert held(cluster) == {}


def test_a_volume_that_is_kept_for_a_claim_is_nobody_elses() -> None:
    cluster = cluster_of({"a": [], "b": []})
    volume(cluster, "kept", 10, hosts=["b.example.com"], kept=ClaimReference("ns", "mine-0"))
    gang(cluster, "other", 10)
    gang(cluster, "mine", 10)
    cluster.settle()
    assert (cluster.bound("mine"), cluster.bound("other")) == (["b"], [])


def test_a_volume_that_several_nodes_reach_is_given_once() -> None:
    cluster = cluster_of({"a": [], "b": [], "c": []})
    volume(cluster, "shared", 10, hosts=["b.example.com", "c.example.com"])
    for name in ("first", "second"):
        gang(cluster, name, 10)
    cluster.settle()
    assert held(cluster) == {"first-0": "shared"}
    assert (cluster.bound("first")[0] in "bc", cluster.bound("second")) == (True, [])


def test_a_claim_whose_volume_was_not_told_before_a_crash_gets_one_after_it() -> None:
    cluster = cluster_of({"a": [10]})
    gang(cluster, "job", 10)
    pod = cluster.pods["job.0"]
    cluster.change(replace(pod, spec=replace(pod.spec, node_name="a"), status=PodStatus(phase="Pending")))
    cluster.settle()
    assert held(cluster) == {"job-0": "a0"}


def test_a_node_that_is_seen_again_still_has_its_volumes() -> None:
    cluster = cluster_of({"a": [10]})
    cluster.cycle()
    cluster.show(*next((kind, one) for (kind, name), one in cluster.objects.items() if name == "a"))
    gang(cluster, "job", 10)
    cluster.settle()
    assert held(cluster) == {"job-0": "a0"}


SIZES = st.lists(st.sampled_from([10, 20, 30]), max_size=3)


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(SIZES, min_size=1, max_size=3), st.lists(st.sampled_from([10, 20, 30]), min_size=1, max_size=4)
)
def test_a_gang_starts_exactly_where_each_claim_can_have_a_volume_of_its_own(
    volumes: list[list[int]], claims: list[int]
) -> None:
    cluster = cluster_of({f"n{at}": sizes for at, sizes in enumerate(volumes)})
    gang(cluster, "job", *claims)
    cluster.settle()
    sizes = {f"n{at}{number}": size for at, found in enumerate(volumes) for number, size in enumerate(found)}
    given_to = held(cluster)
    largest = sorted(sizes.values(), reverse=True)
    fits = len(largest) >= len(claims) and all(map(ge, largest, sorted(claims, reverse=True)))
    assert bool(given_to) == fits
    assert all(sizes[given_to[f"job-{at}"]] >= size for at, size in enumerate(claims) if fits)
    places = [pod.spec.node_name for _, pod in sorted(cluster.pods.items())]
    assert all(given_to[f"job-{at}"].startswith(node) for at, node in enumerate(places) if fits)
    assert len(set(given_to.values())) == len(given_to)
