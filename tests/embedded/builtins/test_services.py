from typing import Any

from quorate.workloads.builtin import kinds
from tests.fakes.small_cluster import SmallCluster, pod_template, run, workload


def test_endpoints_follow_ready_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_service("web"))
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=2))
        await cluster.advance(2)
        (found,) = cluster.all(kinds.ENDPOINT_SLICE)
        assert found["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
        assert [item["conditions"]["ready"] for item in found["endpoints"]] == [True, True]
        legacy = cluster.get(kinds.ENDPOINTS, "web")
        assert len(legacy["subsets"][0]["addresses"]) == 2
        await cluster.merge(kinds.REPLICA_SET, "web", {"spec": {"replicas": 0}})
        await cluster.advance(2)
        (found,) = cluster.all(kinds.ENDPOINT_SLICE)
        assert not found.get("endpoints")
        assert not cluster.get(kinds.ENDPOINTS, "web").get("subsets")

    run(scenario)


def test_headless_service_names_the_pods_of_its_set() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_service("db", clusterIP="None"))
        await cluster.create(workload(kinds.STATEFUL_SET, "db", serviceName="db", replicas=2))
        await cluster.advance(5)
        (found,) = cluster.all(kinds.ENDPOINT_SLICE)
        assert [item["hostname"] for item in found["endpoints"]] == ["db-0", "db-1"]
        assert "service.kubernetes.io/headless" in found["metadata"]["labels"]

    run(scenario)


def test_a_hundred_endpoints_fill_one_slice() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_service("web"))
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=120))
        await cluster.advance(2)
        sizes = sorted(len(item["endpoints"]) for item in cluster.all(kinds.ENDPOINT_SLICE))
        assert sum(sizes) == 120
        assert max(sizes) <= 100

    run(scenario)


def test_the_pods_that_a_pass_over_a_service_looks_at_are_counted_without_looking() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=3))
        await cluster.advance(2)
        world = cluster.builtins.world
        labels = cluster.all(kinds.POD)[0]["metadata"]["labels"]
        assert world.count_pods("default", {"matchLabels": labels}) == 3
        assert world.count_pods("default", {"matchLabels": {**labels, "no": "pod"}}) == 0
        assert world.count_pods("default", None) == 0

    run(scenario)


def test_a_deleted_service_takes_its_slices_along() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_service("web"))
        await cluster.create(workload(kinds.REPLICA_SET, "web", replicas=1))
        await cluster.advance(2)
        await cluster.delete(kinds.SERVICE, "web")
        await cluster.advance(2)
        assert cluster.all(kinds.ENDPOINT_SLICE) == []
        assert cluster.find(kinds.ENDPOINTS, "web") is None

    run(scenario)


def test_budget_counts_what_may_be_disrupted() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_budget(minAvailable="50%"))
        await cluster.create(workload(kinds.DEPLOYMENT, "web", replicas=5))
        await cluster.advance(2)
        status = cluster.get(kinds.DISRUPTION_BUDGET, "web")["status"]
        assert (status["expectedPods"], status["desiredHealthy"]) == (5, 3)
        assert (status["currentHealthy"], status["disruptionsAllowed"]) == (5, 2)

    run(scenario)


def test_budget_by_max_unavailable_follows_the_scale() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_budget(maxUnavailable=1))
        await cluster.create(workload(kinds.STATEFUL_SET, "web", replicas=3, serviceName="web"))
        await cluster.advance(5)
        status = cluster.get(kinds.DISRUPTION_BUDGET, "web")["status"]
        assert (status["desiredHealthy"], status["disruptionsAllowed"]) == (2, 1)

    run(scenario)


def test_budget_without_a_scale_allows_nothing() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_budget(maxUnavailable=1))
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}}
        await cluster.create({**body, "spec": pod_template({})["spec"]})
        await cluster.advance(2)
        found = cluster.get(kinds.DISRUPTION_BUDGET, "web")
        assert found["status"]["disruptionsAllowed"] == 0
        assert cluster.condition(found, "DisruptionAllowed")["reason"] == "SyncFailed"

    run(scenario)


def _service(name: str, **spec: Any) -> dict[str, Any]:
    body = {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8080}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": body}


def _budget(**spec: Any) -> dict[str, Any]:
    body = {"selector": {"matchLabels": {"app": "web"}}, **spec}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": body,
    }
