from typing import Any

import pytest

from quorate.embedded.nodes import node_shapes, nodes_of
from quorate.workloads.builtin import fakery, kinds
from tests.fakes.small_cluster import SmallCluster, pod, run


def test_a_bound_pod_becomes_ready_after_the_start_delay() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("web"))
        await cluster.bind("web", "node-1")
        assert cluster.get(kinds.POD, "web")["status"]["phase"] == "Pending"
        await cluster.advance(0.6)
        found = cluster.get(kinds.POD, "web")
        assert found["status"]["phase"] == "Running"
        assert cluster.condition(found, "Ready")["status"] == "True"
        assert found["status"]["podIP"].startswith("10.64.1.")
        assert found["status"]["hostIP"] == "172.16.0.3"
        assert found["status"]["containerStatuses"][0]["state"].keys() == {"running"}

    run(scenario)


def test_a_start_costs_one_status_write() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("web"))
        await cluster.bind("web", "node-0")
        before = cluster.api.store.revision
        await cluster.advance(0.9)
        assert cluster.api.store.revision == before + 1

    run(scenario, nodes="1x0gpu")


def test_a_slow_start_shows_containers_being_created() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("web", {fakery.START: "30", fakery.READY: "10"}))
        await cluster.bind("web", "node-0")
        waiting = cluster.get(kinds.POD, "web")["status"]["containerStatuses"][0]["state"]["waiting"]
        assert waiting == {"reason": "ContainerCreating"}
        await cluster.advance(31)
        unready = cluster.get(kinds.POD, "web")
        assert unready["status"]["phase"] == "Running"
        assert cluster.condition(unready, "Ready")["reason"] == "ContainersNotReady"
        await cluster.advance(10)
        ready = cluster.condition(cluster.get(kinds.POD, "web"), "Ready")
        assert ready["status"] == "True"
        assert "reason" not in ready

    run(scenario)


def test_a_pod_that_may_end_succeeds() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("job", restartPolicy="Never"))
        await cluster.bind("job", "node-0")
        await cluster.advance(6)
        status = cluster.get(kinds.POD, "job")["status"]
        assert status["phase"] == "Succeeded"
        ended = status["containerStatuses"][0]["state"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (0, "Completed")
        assert cluster.condition(cluster.get(kinds.POD, "job"), "Ready")["reason"] == "PodCompleted"

    run(scenario)


def test_a_failing_pod_keeps_its_exit_code() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("job", {fakery.RUN: "2", fakery.EXIT_CODE: "7"}, restartPolicy="Never"))
        await cluster.bind("job", "node-0")
        await cluster.advance(4)
        status = cluster.get(kinds.POD, "job")["status"]
        assert status["phase"] == "Failed"
        assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 7

    run(scenario)


def test_crashing_containers_back_off_and_count_restarts() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("web", {fakery.RUN: "1", fakery.EXIT_CODE: "1"}))
        await cluster.bind("web", "node-0")
        await cluster.advance(3)
        (status,) = cluster.get(kinds.POD, "web")["status"]["containerStatuses"]
        assert status["restartCount"] == 1
        assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
        assert status["lastState"]["terminated"]["exitCode"] == 1
        assert cluster.get(kinds.POD, "web")["status"]["phase"] == "Running"
        await cluster.advance(10)
        (status,) = cluster.get(kinds.POD, "web")["status"]["containerStatuses"]
        assert status["restartCount"] == 2

    run(scenario)


def test_restarts_until_success_on_failure_only() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("job", {fakery.RUN: "1"}, restartPolicy="OnFailure"))
        await cluster.bind("job", "node-0")
        await cluster.advance(3)
        assert cluster.get(kinds.POD, "job")["status"]["phase"] == "Succeeded"

    run(scenario)


def test_a_deleted_pod_stops_before_it_goes() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("web", {fakery.STOP: "5"}))
        await cluster.bind("web", "node-0")
        await cluster.advance(1)
        await cluster.delete(kinds.POD, "web")
        await cluster.advance(4)
        assert "deletionTimestamp" in cluster.get(kinds.POD, "web")["metadata"]
        await cluster.advance(2)
        assert cluster.find(kinds.POD, "web") is None

    run(scenario)


def test_the_grace_period_bounds_stopping() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("web", {fakery.STOP: "500"}, terminationGracePeriodSeconds=3))
        await cluster.bind("web", "node-0")
        await cluster.advance(1)
        await cluster.delete(kinds.POD, "web")
        await cluster.advance(4)
        assert cluster.find(kinds.POD, "web") is None

    run(scenario)


@pytest.mark.parametrize(
    ("requests", "resource", "numbers"),
    [
        ({"nvidia.com/gpu": "8"}, "nvidia.com/gpu", "requested: 8, used: 8, capacity: 8"),
        ({"cpu": "60"}, "cpu", "requested: 60000, used: 60000, capacity: 96000"),
    ],
)
def test_an_overcommitted_node_refuses_the_last_pod(
    requests: dict[str, str], resource: str, numbers: str
) -> None:
    async def scenario(cluster: SmallCluster) -> None:
        for name in ("first", "second"):
            resources = {"limits": requests, "requests": requests}
            await cluster.create(
                _pod(name, containers=[{"name": "main", "image": "x", "resources": resources}])
            )
        for name in ("first", "second"):
            await cluster.bind(name, "node-0")
        await cluster.advance(1)
        assert cluster.get(kinds.POD, "first")["status"]["phase"] == "Running"
        refused = cluster.get(kinds.POD, "second")["status"]
        assert (refused["phase"], refused["reason"]) == ("Failed", f"OutOf{resource}")
        assert refused["message"].endswith(numbers)

    run(scenario)


def test_a_pod_that_ended_gives_its_room_back() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("first", {fakery.RUN: "1"}, gpus=8, restartPolicy="Never"))
        await cluster.bind("first", "node-0")
        await cluster.advance(3)
        await cluster.create(_pod("second", gpus=8))
        await cluster.bind("second", "node-0")
        await cluster.advance(1)
        assert cluster.get(kinds.POD, "second")["status"]["phase"] == "Running"

    run(scenario)


def test_a_lost_node_freezes_its_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.builtins.kubelets.set_down("node-0", down=True)
        await cluster.create(_pod("web"))
        await cluster.bind("web", "node-0")
        await cluster.advance(5)
        assert cluster.get(kinds.POD, "web")["status"]["phase"] == "Pending"
        await cluster.builtins.kubelets.set_down("node-0", down=False)
        await cluster.advance(1)
        assert cluster.get(kinds.POD, "web")["status"]["phase"] == "Running"

    run(scenario)


def test_a_pod_bound_to_a_node_yet_to_come_starts_with_it() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("early"))
        await cluster.bind("early", "cpu-0")
        await cluster.advance(5)
        assert cluster.get(kinds.POD, "early")["status"]["phase"] == "Pending"
        (node,) = nodes_of(node_shapes("1x0gpu,name=cpu"))
        await cluster.create(node)
        await cluster.advance(1)
        assert cluster.get(kinds.POD, "early")["status"]["phase"] == "Running"

    run(scenario)


def test_init_containers_have_run_and_sidecars_run_on() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        inits = [
            {"name": "prepare", "image": "busybox"},
            {"name": "proxy", "image": "busybox", "restartPolicy": "Always"},
        ]
        await cluster.create(_pod("web", initContainers=inits))
        await cluster.bind("web", "node-0")
        await cluster.advance(1)
        first, second = cluster.get(kinds.POD, "web")["status"]["initContainerStatuses"]
        assert first["state"]["terminated"]["reason"] == "Completed"
        assert second["state"].keys() == {"running"}

    run(scenario)


def test_a_bad_annotation_is_reported_and_ignored() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("web", {fakery.START: "soon"}))
        await cluster.bind("web", "node-0")
        await cluster.advance(1)
        assert cluster.get(kinds.POD, "web")["status"]["phase"] == "Running"
        texts = [item["message"] for item in cluster.all(kinds.EVENT)]
        assert 'annotation quorate.dev/fake-start-seconds: "soon" is not a number >= 0; using 0.5' in texts

    run(scenario)


def test_a_new_process_goes_on_with_running_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_pod("job", {fakery.RUN: "10"}, restartPolicy="Never", gpus=8))
        await cluster.bind("job", "node-0")
        await cluster.advance(3)
        address = cluster.get(kinds.POD, "job")["status"]["podIP"]
        await cluster.restart()
        await cluster.create(_pod("late", gpus=1))
        await cluster.bind("late", "node-0")
        await cluster.create(_pod("beside"))
        await cluster.bind("beside", "node-0")
        await cluster.advance(2)
        assert cluster.get(kinds.POD, "late")["status"]["reason"] == "OutOfnvidia.com/gpu"
        assert cluster.get(kinds.POD, "beside")["status"]["podIP"] != address
        assert cluster.get(kinds.POD, "job")["status"]["phase"] == "Running"
        await cluster.advance(10)
        assert cluster.get(kinds.POD, "job")["status"]["phase"] == "Succeeded"

    run(scenario)


def _pod(name: str, notes: dict[str, str] | None = None, *, gpus: int = 0, **spec: Any) -> dict[str, Any]:
    return pod(name, annotations=notes, gpus=gpus, schedulerName="quorate", **spec)
