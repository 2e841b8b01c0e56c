from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod, pod_template, run, workload


def test_scale_down_deletes_unready_pods_first() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=2))
        await cluster.advance(2)
        ready = set(cluster.names(kinds.POD))
        await cluster.merge(kinds.REPLICA_SET, "web", {"spec": {"replicas": 4}})
        await cluster.merge(kinds.REPLICA_SET, "web", {"spec": {"replicas": 2}})
        await cluster.advance(2)
        assert set(cluster.names(kinds.POD)) == ready

    run(scenario)


def test_deletion_cost_decides_among_ready_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=3))
        await cluster.advance(2)
        cheap = cluster.names(kinds.POD)[1]
        note = {"controller.kubernetes.io/pod-deletion-cost": "-5"}
        await cluster.merge(kinds.POD, cheap, {"metadata": {"annotations": note}})
        await cluster.merge(kinds.REPLICA_SET, "web", {"spec": {"replicas": 2}})
        await cluster.advance(2)
        assert cheap not in cluster.names(kinds.POD)

    run(scenario)


def test_adopts_a_matching_orphan() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("web"))
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=1))
        await cluster.advance(1)
        (only,) = cluster.all(kinds.POD)
        assert only["metadata"]["name"] == "web"
        assert only["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet"

    run(scenario)


def test_releases_a_pod_that_no_longer_matches_and_replaces_it() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=1))
        (name,) = cluster.names(kinds.POD)
        await cluster.merge(kinds.POD, name, {"metadata": {"labels": {"app": "debug"}}})
        await cluster.advance(1)
        assert "ownerReferences" not in cluster.get(kinds.POD, name)["metadata"]
        assert len(cluster.names(kinds.POD)) == 2

    run(scenario)


def test_replaces_a_failed_pod() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=1))
        await cluster.advance(1)
        (name,) = cluster.names(kinds.POD)
        await cluster.writer.set_status(cluster.ref(kinds.POD, name), {"phase": "Failed"})
        await cluster.advance(1)
        assert cluster.get(kinds.REPLICA_SET, "web")["status"]["readyReplicas"] == 1
        assert len(cluster.names(kinds.POD)) == 2

    run(scenario)


def test_min_ready_seconds_delay_availability() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=1, minReadySeconds=10))
        await cluster.advance(5)
        status = cluster.get(kinds.REPLICA_SET, "web")["status"]
        assert (status["readyReplicas"], status.get("availableReplicas", 0)) == (1, 0)
        await cluster.advance(10)
        assert cluster.get(kinds.REPLICA_SET, "web")["status"]["availableReplicas"] == 1

    run(scenario)


def test_refused_pods_show_and_are_tried_again() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        template = pod_template({"app": "web"}, priorityClassName="gold")
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=2, template=template))
        await cluster.advance(1)
        failed = cluster.condition(cluster.get(kinds.DEPLOYMENT, "web"), "ReplicaFailure")
        assert failed["reason"] == "FailedCreate"
        assert "no PriorityClass with name gold was found" in failed["message"]
        assert "FailedCreate" in cluster.reasons()
        gold = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gold"}}
        await cluster.create({**gold, "value": 1000})
        await cluster.advance(120)
        found = cluster.get(kinds.DEPLOYMENT, "web")["status"]
        assert found["availableReplicas"] == 2
        assert "ReplicaFailure" not in {item["type"] for item in found["conditions"]}

    run(scenario)


def test_a_settled_set_writes_nothing_more() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=3))
        await cluster.advance(5)
        before = [item["metadata"]["resourceVersion"] for item in cluster.all(kinds.POD)]
        await cluster.advance(600)
        assert [item["metadata"]["resourceVersion"] for item in cluster.all(kinds.POD)] == before

    run(scenario)


def test_thousands_of_pods_settle_quickly() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=1000))
        await cluster.advance(5)
        assert cluster.get(kinds.REPLICA_SET, "web")["status"]["readyReplicas"] == 1000

    run(scenario, nodes="10x0gpu,cpu=200")
