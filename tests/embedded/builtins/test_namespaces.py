from typing import Any

from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod, run, workload


def test_a_new_namespace_has_its_account_and_root_certificate() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_namespace("team"))
        assert cluster.names(kinds.SERVICE_ACCOUNT, "team") == ["default"]
        assert cluster.names(kinds.CONFIG_MAP, "team") == ["kube-root-ca.crt"]

    run(scenario)


def test_a_new_cluster_has_the_usual_namespaces() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        known = [item["metadata"]["name"] for item in cluster.all(kinds.NAMESPACE)]
        assert known == ["default", "kube-node-lease", "kube-public", "kube-system"]
        assert "system-node-critical" in cluster.names(kinds.PRIORITY_CLASS)

    run(scenario)


def test_a_deleted_namespace_takes_its_contents_along() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_namespace("team"))
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=2), "team")
        await cluster.create(pod("single"), "team")
        await cluster.advance(2)
        await cluster.delete(kinds.NAMESPACE, "team")
        assert cluster.get(kinds.NAMESPACE, "team")["status"]["phase"] == "Terminating"
        await cluster.advance(5)
        assert cluster.find(kinds.NAMESPACE, "team") is None
        assert cluster.names(kinds.POD, "team") == []
        assert cluster.names(kinds.REPLICA_SET, "team") == []

    run(scenario)


def test_a_finalizer_holds_the_namespace_and_is_named() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_namespace("team"))
        held = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "held", "finalizers": ["quorate.dev/hold"]},
        }
        await cluster.create(held, "team")
        await cluster.delete(kinds.NAMESPACE, "team")
        await cluster.advance(5)
        found = cluster.condition(cluster.get(kinds.NAMESPACE, "team"), "NamespaceFinalizersRemaining")
        assert "quorate.dev/hold in 1 resource instances" in found["message"]
        await cluster.merge(kinds.CONFIG_MAP, "held", {"metadata": {"finalizers": None}}, "team")
        await cluster.advance(1)
        assert cluster.find(kinds.NAMESPACE, "team") is None

    run(scenario)


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
