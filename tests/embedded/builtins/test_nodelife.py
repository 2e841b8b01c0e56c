from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod, run, workload

_TOLERATED = [
    {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 60,
    }
]


def test_a_lost_node_turns_unknown_and_is_tainted() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("stays", tolerations=_TOLERATED))
        await cluster.advance(2)
        await cluster.builtins.kubelets.set_down("node-0", down=True)
        await cluster.advance(30)
        assert cluster.condition(cluster.get(kinds.NODE, "node-0"), "Ready")["status"] == "True"
        await cluster.advance(60)
        node = cluster.get(kinds.NODE, "node-0")
        assert cluster.condition(node, "Ready")["reason"] == "NodeStatusUnknown"
        taints = {(taint["key"], taint["effect"]) for taint in node["spec"]["taints"]}
        assert ("node.kubernetes.io/unreachable", "NoExecute") in taints
        assert cluster.condition(cluster.get(kinds.POD, "stays"), "Ready")["status"] == "False"

    run(scenario, nodes="1x8gpu")


def test_pods_leave_a_lost_node_after_their_toleration() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("leaves", tolerations=_TOLERATED))
        await cluster.advance(2)
        await cluster.builtins.kubelets.set_down("node-0", down=True)
        await cluster.advance(90)
        assert "deletionTimestamp" not in cluster.get(kinds.POD, "leaves")["metadata"]
        await cluster.advance(60)
        leaving = cluster.get(kinds.POD, "leaves")
        assert "deletionTimestamp" in leaving["metadata"]
        assert cluster.condition(leaving, "DisruptionTarget")["reason"] == "DeletionByTaintManager"

    run(scenario, nodes="1x8gpu")


def test_a_node_that_comes_back_is_ready_and_finishes_its_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(pod("stays", tolerations=_TOLERATED))
        await cluster.advance(2)
        await cluster.builtins.kubelets.set_down("node-0", down=True)
        await cluster.advance(80)
        await cluster.builtins.kubelets.set_down("node-0", down=False)
        await cluster.advance(5)
        node = cluster.get(kinds.NODE, "node-0")
        assert cluster.condition(node, "Ready")["status"] == "True"
        assert not node["spec"].get("taints")
        assert cluster.condition(cluster.get(kinds.POD, "stays"), "Ready")["status"] == "True"

    run(scenario, nodes="1x8gpu")


def test_pods_of_a_deleted_node_are_removed_and_replaced() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=2))
        await cluster.advance(2)
        node = cluster.all(kinds.POD)[0]["spec"]["nodeName"]
        await cluster.delete(kinds.NODE, node)
        await cluster.advance(60)
        assert {item["spec"]["nodeName"] for item in cluster.all(kinds.POD)} == {"node-1"}
        assert cluster.get(kinds.REPLICA_SET, "web")["status"]["readyReplicas"] == 2

    run(scenario, nodes="2x8gpu")


def test_heartbeats_missed_while_no_process_ran_are_forgiven() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.advance(60)
        await cluster.restart(after=3600)
        await cluster.advance(60)
        assert "NodeNotReady" not in cluster.reasons()
        assert not cluster.get(kinds.NODE, "node-0")["spec"].get("taints")

    run(scenario, nodes="1x8gpu")
