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
