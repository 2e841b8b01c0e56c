from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod_template, run, workload


def test_rolls_out_to_available_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=3))
        await cluster.advance(2)
        found = cluster.get(kinds.DEPLOYMENT, "web")
        assert found["status"]["availableReplicas"] == 3
        assert cluster.condition(found, "Available")["status"] == "True"
        assert cluster.condition(found, "Progressing")["reason"] == "NewReplicaSetAvailable"
        assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"

    run(scenario)


def test_pods_are_named_after_deployment_and_template() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=1))
        (replica_set,) = cluster.all(kinds.REPLICA_SET)
        digest = replica_set["metadata"]["labels"]["pod-template-hash"]
        (name,) = cluster.names(kinds.POD)
        assert replica_set["metadata"]["name"] == f"web-{digest}"
        assert name.startswith(f"web-{digest}-")

    run(scenario)


def test_rolling_update_never_leaves_its_bounds() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=4, strategy=strategy))
        await cluster.advance(2)
        await cluster.merge(kinds.DEPLOYMENT, "web", _image("busybox:2"))
        for _ in range(60):
            await cluster.advance(0.1)
            total = sum(item["spec"]["replicas"] for item in cluster.all(kinds.REPLICA_SET))
            ready = sum(item["status"].get("readyReplicas", 0) for item in cluster.all(kinds.REPLICA_SET))
            assert total <= 5
            assert ready >= 3
        status = cluster.get(kinds.DEPLOYMENT, "web")["status"]
        assert (status["updatedReplicas"], status["availableReplicas"], status["replicas"]) == (4, 4, 4)

    run(scenario)


def test_undo_finds_the_old_set_and_gives_it_a_new_revision() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=2))
        await cluster.advance(2)
        first = cluster.names(kinds.REPLICA_SET)[0]
        await cluster.merge(kinds.DEPLOYMENT, "web", _image("busybox:2"))
        await cluster.advance(10)
        await cluster.merge(kinds.DEPLOYMENT, "web", _image("busybox"))
        await cluster.advance(10)
        again = cluster.get(kinds.REPLICA_SET, first)
        assert again["spec"]["replicas"] == 2
        assert again["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"
        assert again["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"
        assert len(cluster.names(kinds.REPLICA_SET)) == 2

    run(scenario)


def test_recreate_starts_new_pods_only_when_old_ones_are_gone() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=2, strategy={"type": "Recreate"}))
        await cluster.advance(2)
        await cluster.merge(kinds.DEPLOYMENT, "web", _image("busybox:2"))
        for _ in range(30):
            images = {item["spec"]["containers"][0]["image"] for item in cluster.all(kinds.POD)}
            assert len(images) <= 1
            await cluster.advance(0.1)
        assert cluster.get(kinds.DEPLOYMENT, "web")["status"]["availableReplicas"] == 2
        assert {item["spec"]["containers"][0]["image"] for item in cluster.all(kinds.POD)} == {"busybox:2"}

    run(scenario)


def test_paused_deployment_scales_but_does_not_roll() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=1))
        await cluster.merge(kinds.DEPLOYMENT, "web", {"spec": {"paused": True, "replicas": 3}})
        await cluster.merge(kinds.DEPLOYMENT, "web", _image("busybox:2"))
        await cluster.advance(2)
        (only,) = cluster.all(kinds.REPLICA_SET)
        assert only["spec"]["replicas"] == 3
        found = cluster.get(kinds.DEPLOYMENT, "web")
        assert cluster.condition(found, "Progressing")["reason"] == "DeploymentPaused"

    run(scenario)


def test_scaling_during_a_rollout_keeps_the_ratio() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=10))
        await cluster.advance(2)
        stuck = pod_template({"app": "web"}, schedulerName="nobody")
        await cluster.merge(kinds.DEPLOYMENT, "web", {"spec": {"template": stuck}})
        await cluster.advance(2)
        before = sorted(item["spec"]["replicas"] for item in cluster.all(kinds.REPLICA_SET))
        await cluster.merge(kinds.DEPLOYMENT, "web", {"spec": {"replicas": 20}})
        await cluster.advance(2)
        after = sorted(item["spec"]["replicas"] for item in cluster.all(kinds.REPLICA_SET))
        assert before == [5, 8]
        assert sum(after) == 25
        assert after[0] in {9, 10}

    run(scenario)


def test_a_rollout_without_progress_reports_its_deadline() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        stuck = pod_template({"app": "web"}, schedulerName="nobody")
        body = workload(kinds.DEPLOYMENT, "web", replicas=1, template=stuck, progressDeadlineSeconds=30)
        await cluster.create(body)
        await cluster.advance(29)
        assert cluster.condition(cluster.get(kinds.DEPLOYMENT, "web"), "Progressing")["status"] == "True"
        await cluster.advance(5)
        found = cluster.condition(cluster.get(kinds.DEPLOYMENT, "web"), "Progressing")
        assert (found["status"], found["reason"]) == ("False", "ProgressDeadlineExceeded")

    run(scenario)


def test_history_beyond_its_limit_is_removed() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=1, revisionHistoryLimit=1))
        for number in range(4):
            await cluster.merge(kinds.DEPLOYMENT, "web", _image(f"busybox:{number}"))
            await cluster.advance(10)
        assert len(cluster.names(kinds.REPLICA_SET)) == 2

    run(scenario)


def test_deleting_a_deployment_removes_what_it_owns() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=3))
        await cluster.advance(2)
        await cluster.delete(kinds.DEPLOYMENT, "web")
        await cluster.advance(5)
        assert cluster.names(kinds.REPLICA_SET) == []
        assert cluster.names(kinds.POD) == []

    run(scenario)


def _image(image: str) -> dict[str, object]:
    template = pod_template({"app": "web"})
    template["spec"]["containers"][0]["image"] = image
    return {"spec": {"template": {"spec": {"containers": template["spec"]["containers"]}}}}
