from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import PodGroup, PodGroupSpec, PodGroupStatus, ResourcesStatus
from quorate.api.queue import Queue, QueueResource, QueueResources, QueueSpec, QueueStatus
from quorate.status.queue import changes, statuses


def queue(name: str, parent: str = "", gpu_quota: float = 4) -> Queue:
    resources = QueueResources(
        cpu=QueueResource(quota=-1), memory=QueueResource(quota=-1), gpu=QueueResource(quota=gpu_quota)
    )
    return Queue(metadata=ObjectMeta(name=name), spec=QueueSpec(parent_queue=parent, resources=resources))


def gang(queue_name: str, gpus: str) -> PodGroup:
    held: dict[str, str | int | float] = {"nvidia.com/gpu": gpus, "memory": "1Gi"}
    return PodGroup(
        spec=PodGroupSpec(queue=queue_name),
        status=PodGroupStatus(resources_status=ResourcesStatus(requested=held, allocated=held)),
    )


def holds(status: QueueStatus, kind: str) -> bool:
    return any(found.type == kind and found.status == "True" for found in status.conditions or ())


def test_sums_go_up_the_tree() -> None:
    queues = [queue("org"), queue("team", "org"), queue("other")]
    found = statuses(queues, [gang("team", "2"), gang("org", "1"), gang("gone", "8")], 0)
    assert found["team"].allocated == {"memory": "1Gi", "nvidia.com/gpu": "2"}
    assert found["org"].allocated == {"memory": "2Gi", "nvidia.com/gpu": "3"}
    assert found["org"].child_queues == ["team"]
    assert found["other"].allocated is None


def test_a_queue_above_its_quota_says_so() -> None:
    found = statuses([queue("team", gpu_quota=1)], [gang("team", "2")], 0)
    assert holds(found["team"], "OverQuota")
    assert said(found["team"], "OverQuota") == "2 nvidia.com/gpu allocated, the quota is 1"
    assert not holds(statuses([queue("team", gpu_quota=-1)], [gang("team", "2")], 0)["team"], "OverQuota")


def test_a_queue_with_a_missing_parent_is_an_orphan() -> None:
    found = statuses([queue("team", "gone"), queue("alone")], [], 0)
    assert holds(found["team"], "Orphan")
    assert not holds(found["alone"], "Orphan")


def said(status: QueueStatus, kind: str) -> str:
    return next(found.message for found in status.conditions or () if found.type == kind)


def test_what_bypassed_admission_is_named_with_its_field() -> None:
    queues = [queue("a", "b"), queue("b", "a"), queue("c", "gone"), queue("d", "c"), queue("fine")]
    found = statuses(queues, [], 0)
    assert said(found["a"], "Invalid").startswith(
        "spec.parentQueue: queue a is in or below a cycle: a -> b -> a; "
    )
    for name in ("c", "d"):
        fault = f"spec.parentQueue: queue {name} needs parent queue gone, which does not exist; "
        assert said(found[name], "Invalid").startswith(fault)
    assert not holds(found["fine"], "Invalid")


def test_absurd_amounts_are_named_and_break_nothing() -> None:
    for amount, text in (
        (-0.5, "-0.5 is negative and counts as -1, unlimited"),
        (1e30, "1e+30 is more than can be counted; write -1 for unlimited"),
    ):
        found = statuses([queue("team", gpu_quota=amount)], [], 0)["team"]
        assert said(found, "Invalid") == f"spec.resources.gpu.quota: {text}"
        assert not holds(found, "OverQuota")


def test_a_minimum_runtime_that_is_no_duration_is_named() -> None:
    team = queue("team")
    team.spec.preempt_min_runtime = "soon"
    assert said(statuses([team], [], 0)["team"], "Invalid").startswith(
        'spec.preemptMinRuntime: "soon" is not a duration: '
    )


def test_parents_in_a_circle_are_counted_once() -> None:
    found = statuses([queue("a", "b"), queue("b", "a")], [gang("a", "1")], 0)
    assert found["a"].allocated == found["b"].allocated == {"memory": "1Gi", "nvidia.com/gpu": "1"}


def test_a_second_pass_over_unchanged_input_writes_nothing() -> None:
    team = queue("team")
    team.status = statuses([team], [gang("team", "2")], 0)["team"]
    assert changes([team], [gang("team", "2")], 60) == []
    assert len(changes([team], [], 60)) == 1
