from typing import Any

from quorate.api.storage import SELECTED_NODE
from quorate.embedded.builtins.bootstrap import PROVISIONER
from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod, run


def test_waits_for_the_node_a_scheduler_selects() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_claim("standard"))
        assert cluster.get(kinds.CLAIM, "data")["status"]["phase"] == "Pending"
        await cluster.merge(kinds.CLAIM, "data", {"metadata": {"annotations": {SELECTED_NODE: "node-1"}}})
        found = cluster.get(kinds.CLAIM, "data")
        assert found["status"]["phase"] == "Bound"
        volume = cluster.get(kinds.VOLUME, found["spec"]["volumeName"])
        (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
        assert term["matchExpressions"][0]["values"] == ["node-1"]
        assert volume["status"]["phase"] == "Bound"

    run(scenario)


def test_binds_where_a_pod_runs_already() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_claim("standard"))
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
        await cluster.create(pod("user", volumes=volumes))
        assert cluster.get(kinds.CLAIM, "data")["status"]["phase"] == "Bound"

    run(scenario)


def test_immediate_binds_at_once_and_the_volume_goes_with_its_claim() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        storage_class = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "now"},
            "provisioner": PROVISIONER,
            "volumeBindingMode": "Immediate",
        }
        await cluster.create(storage_class)
        await cluster.create(_claim("now"))
        assert cluster.get(kinds.CLAIM, "data")["status"]["phase"] == "Bound"
        await cluster.delete(kinds.CLAIM, "data")
        await cluster.advance(1)
        assert cluster.names(kinds.VOLUME) == []

    run(scenario)


BY_HAND = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "local"},
    "provisioner": "kubernetes.io/no-provisioner",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def test_a_volume_made_by_hand_is_available_until_it_names_a_claim_which_is_then_bound() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(BY_HAND)
        await cluster.create(_by_hand("disk"))
        assert cluster.get(kinds.VOLUME, "disk", "")["status"]["phase"] == "Available"
        await cluster.create(_claim("local"))
        found = cluster.get(kinds.CLAIM, "data")
        assert found["status"]["phase"] == "Pending"
        holder = {"namespace": "default", "name": "data", "uid": found["metadata"]["uid"]}
        await cluster.merge(kinds.VOLUME, "disk", {"spec": {"claimRef": holder}}, "")
        found = cluster.get(kinds.CLAIM, "data")
        assert (found["spec"]["volumeName"], found["status"]["phase"]) == ("disk", "Bound")
        assert cluster.get(kinds.VOLUME, "disk", "")["status"]["phase"] == "Bound"

    run(scenario)


def test_a_volume_that_is_kept_for_a_claim_by_name_is_bound_when_that_comes() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(BY_HAND)
        await cluster.create(_by_hand("disk", claimRef={"namespace": "default", "name": "data"}))
        assert cluster.get(kinds.VOLUME, "disk", "")["status"]["phase"] == "Available"
        await cluster.create(_claim("local"))
        assert cluster.get(kinds.CLAIM, "data")["spec"]["volumeName"] == "disk"
        await cluster.advance(1)
        assert cluster.get(kinds.VOLUME, "disk", "")["status"]["phase"] == "Bound"

    run(scenario)


def test_the_claim_of_an_ephemeral_volume_comes_and_goes_with_its_pod() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        template = {"metadata": {"labels": {"app": "x"}}, "spec": _claim("standard")["spec"]}
        volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
        await cluster.create(pod("user", volumes=volumes))
        await cluster.advance(1)
        found = cluster.get(kinds.CLAIM, "user-scratch")
        assert (found["metadata"]["labels"], found["status"]["phase"]) == ({"app": "x"}, "Bound")
        await cluster.delete(kinds.POD, "user")
        await cluster.advance(60)
        assert cluster.names(kinds.CLAIM) == []

    run(scenario)


def _by_hand(name: str, **spec: Any) -> dict[str, Any]:
    whole = {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "2Gi"},
        "hostPath": {"path": "/disk"},
        "persistentVolumeReclaimPolicy": "Retain",
        **spec,
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": whole}


def _claim(storage_class: str) -> dict[str, Any]:
    spec = {
        "storageClassName": storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": spec,
    }
