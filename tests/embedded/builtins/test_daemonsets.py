from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod_template, run, workload


def test_one_pod_on_each_node() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DAEMON_SET, "agent"))
        await cluster.advance(2)
        nodes = sorted(item["spec"]["nodeName"] for item in cluster.all(kinds.POD))
        assert nodes == ["node-0", "node-1", "node-2"]
        status = cluster.get(kinds.DAEMON_SET, "agent")["status"]
        assert (status["desiredNumberScheduled"], status["numberReady"]) == (3, 3)

    run(scenario)


def test_follows_the_node_selector() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        template = pod_template({"app": "agent"}, nodeSelector={"disk": "fast"})
        await cluster.create(workload(kinds.DAEMON_SET, "agent", template=template))
        assert cluster.names(kinds.POD) == []
        await cluster.merge(kinds.NODE, "node-1", {"metadata": {"labels": {"disk": "fast"}}})
        await cluster.advance(2)
        assert [item["spec"]["nodeName"] for item in cluster.all(kinds.POD)] == ["node-1"]
        await cluster.merge(kinds.NODE, "node-1", {"metadata": {"labels": {"disk": None}}})
        await cluster.advance(2)
        assert cluster.names(kinds.POD) == []

    run(scenario)


def test_rolls_one_node_at_a_time() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.DAEMON_SET, "agent"))
        await cluster.advance(2)
        containers = [{"name": "main", "image": "busybox:2"}]
        await cluster.merge(
            kinds.DAEMON_SET, "agent", {"spec": {"template": {"spec": {"containers": containers}}}}
        )
        for _ in range(40):
            await cluster.advance(0.1)
            assert cluster.get(kinds.DAEMON_SET, "agent")["status"].get("numberUnavailable", 0) <= 1
        status = cluster.get(kinds.DAEMON_SET, "agent")["status"]
        assert (status["updatedNumberScheduled"], status["numberAvailable"]) == (3, 3)

    run(scenario)
