from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod, run


def test_binds_to_a_node_with_room() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        for number in range(3):
            await cluster.create(pod(f"p{number}", gpus=6))
        nodes = [item["spec"]["nodeName"] for item in cluster.all(kinds.POD)]
        assert sorted(nodes) == ["node-0", "node-1", "node-2"]

    run(scenario)


def test_says_why_nothing_fits_and_binds_when_room_appears() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("first", gpus=8))
        await cluster.create(pod("second", gpus=8))
        refused = cluster.condition(cluster.get(kinds.POD, "second"), "PodScheduled")
        assert refused["message"] == "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
        await cluster.delete(kinds.POD, "first")
        await cluster.advance(2)
        assert cluster.get(kinds.POD, "second")["spec"]["nodeName"] == "node-0"

    run(scenario, nodes="1x8gpu")


def test_leaves_pods_of_another_scheduler_alone() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("ours", schedulerName="quorate"))
        await cluster.advance(5)
        assert "nodeName" not in cluster.get(kinds.POD, "ours")["spec"]

    run(scenario)


def test_respects_cordon_and_selector() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.merge(kinds.NODE, "node-0", {"spec": {"unschedulable": True}})
        await cluster.create(pod("cordoned", nodeSelector={"kubernetes.io/hostname": "node-0"}))
        await cluster.create(pod("chosen", nodeSelector={"kubernetes.io/hostname": "node-2"}))
        assert "nodeName" not in cluster.get(kinds.POD, "cordoned")["spec"]
        assert cluster.get(kinds.POD, "chosen")["spec"]["nodeName"] == "node-2"
        await cluster.merge(kinds.NODE, "node-0", {"spec": {"unschedulable": None}})
        await cluster.advance(1)
        assert cluster.get(kinds.POD, "cordoned")["spec"]["nodeName"] == "node-0"

    run(scenario)


def test_waits_for_scheduling_gates() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("gated", schedulingGates=[{"name": "wait"}]))
        assert "nodeName" not in cluster.get(kinds.POD, "gated")["spec"]
        await cluster.merge(kinds.POD, "gated", {"spec": {"schedulingGates": None}})
        assert cluster.get(kinds.POD, "gated")["spec"]["nodeName"] == "node-0"

    run(scenario)
