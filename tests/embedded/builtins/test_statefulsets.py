from typing import Any

from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod_template, run, workload


def test_pods_start_one_after_another() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_set(replicas=3))
        assert cluster.names(kinds.POD) == ["db-0"]
        await cluster.advance(0.6)
        assert cluster.names(kinds.POD) == ["db-0", "db-1"]
        await cluster.advance(2)
        assert cluster.names(kinds.POD) == ["db-0", "db-1", "db-2"]
        status = cluster.get(kinds.STATEFUL_SET, "db")["status"]
        assert (status["readyReplicas"], status["updatedReplicas"]) == (3, 3)

    run(scenario)


def test_parallel_pods_start_together_from_the_start_ordinal() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_set(replicas=2, podManagementPolicy="Parallel", ordinals={"start": 5}))
        assert cluster.names(kinds.POD) == ["db-5", "db-6"]
        found = cluster.get(kinds.POD, "db-5")
        assert found["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "5"
        assert (found["spec"]["hostname"], found["spec"]["subdomain"]) == ("db-5", "db")

    run(scenario)


def test_scales_down_from_the_highest_ordinal() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_set(replicas=3))
        await cluster.advance(5)
        await cluster.merge(kinds.STATEFUL_SET, "db", {"spec": {"replicas": 1}})
        assert "deletionTimestamp" in cluster.get(kinds.POD, "db-2")["metadata"]
        assert "deletionTimestamp" not in cluster.get(kinds.POD, "db-1")["metadata"]
        await cluster.advance(5)
        assert cluster.names(kinds.POD) == ["db-0"]

    run(scenario)


def test_partition_holds_back_lower_ordinals() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
        await cluster.create(_set(replicas=3, updateStrategy=rolling))
        await cluster.advance(5)
        await cluster.merge(kinds.STATEFUL_SET, "db", _new_image())
        await cluster.advance(10)
        assert _images(cluster) == ["busybox", "busybox", "busybox:2"]
        status = cluster.get(kinds.STATEFUL_SET, "db")["status"]
        assert status["currentRevision"] != status["updateRevision"]
        assert len(cluster.names(kinds.CONTROLLER_REVISION)) == 2
        await cluster.merge(
            kinds.STATEFUL_SET, "db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}}
        )
        await cluster.advance(10)
        assert _images(cluster) == ["busybox:2"] * 3
        status = cluster.get(kinds.STATEFUL_SET, "db")["status"]
        assert status["currentRevision"] == status["updateRevision"]

    run(scenario)


def test_on_delete_waits_for_the_user() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_set(replicas=2, updateStrategy={"type": "OnDelete"}))
        await cluster.advance(5)
        await cluster.merge(kinds.STATEFUL_SET, "db", _new_image())
        await cluster.advance(5)
        assert _images(cluster) == ["busybox", "busybox"]
        await cluster.delete(kinds.POD, "db-0")
        await cluster.advance(5)
        assert _images(cluster) == ["busybox:2", "busybox"]

    run(scenario)


def test_claims_are_made_bound_and_kept() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        template = pod_template({"app": "db"})
        template["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        await cluster.create(_set(replicas=2, template=template, volumeClaimTemplates=[_claim()]))
        await cluster.advance(5)
        (volume,) = cluster.get(kinds.POD, "db-1")["spec"]["volumes"]
        assert volume["persistentVolumeClaim"]["claimName"] == "data-db-1"
        assert cluster.names(kinds.CLAIM) == ["data-db-0", "data-db-1"]
        assert {item["status"]["phase"] for item in cluster.all(kinds.CLAIM)} == {"Bound"}
        await cluster.delete(kinds.STATEFUL_SET, "db")
        await cluster.advance(5)
        assert cluster.names(kinds.POD) == []
        assert len(cluster.names(kinds.CLAIM)) == 2

    run(scenario)


def test_a_pod_comes_back_to_the_node_of_its_volume() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_set(replicas=1, volumeClaimTemplates=[_claim()]))
        await cluster.advance(2)
        node = cluster.get(kinds.POD, "db-0")["spec"]["nodeName"]
        await cluster.merge(kinds.NODE, node, {"spec": {"unschedulable": True}})
        await cluster.delete(kinds.POD, "db-0")
        await cluster.advance(2)
        refused = cluster.condition(cluster.get(kinds.POD, "db-0"), "PodScheduled")
        assert "2 node(s) had volume node affinity conflict" in refused["message"]
        await cluster.merge(kinds.NODE, node, {"spec": {"unschedulable": None}})
        await cluster.advance(2)
        assert cluster.get(kinds.POD, "db-0")["spec"]["nodeName"] == node

    run(scenario)


def test_retention_policy_deletes_claims_of_removed_ordinals() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        policy = {"whenScaled": "Delete", "whenDeleted": "Retain"}
        body = _set(replicas=2, volumeClaimTemplates=[_claim()], persistentVolumeClaimRetentionPolicy=policy)
        await cluster.create(body)
        await cluster.advance(5)
        await cluster.merge(kinds.STATEFUL_SET, "db", {"spec": {"replicas": 1}})
        await cluster.advance(5)
        assert cluster.names(kinds.CLAIM) == ["data-db-0"]

    run(scenario)


def _set(**spec: Any) -> dict[str, Any]:
    return workload(kinds.STATEFUL_SET, "db", serviceName="db", **spec)


def _claim() -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": "data"}, "spec": {**spec, "storageClassName": "standard"}}


def _new_image() -> dict[str, Any]:
    containers = [{"name": "main", "image": "busybox:2"}]
    return {"spec": {"template": {"spec": {"containers": containers}}}}


def _images(cluster: SmallCluster) -> list[str]:
    return [item["spec"]["containers"][0]["image"] for item in cluster.all(kinds.POD)]
