import msgspec
import pytest

from quorate.api.core import Pod, PodStatus, PriorityClass
from quorate.api.labels import SUB_GROUP_NAME
from quorate.api.meta import Json, ObjectMeta
from quorate.api.podgroup import (
    POD_GROUP,
    PodGroup,
    PodGroupSpec,
    PodGroupStatus,
    SchedulingCondition,
    SubGroup,
)
from quorate.api.podspec import Container, PodSpec, ResourceRequirements
from quorate.status.phase import stale_at
from quorate.status.podgroup import change, status_of

NOW = 1_000_000.0
CLASSES = {"train": PriorityClass(value=50), "build": PriorityClass(value=100)}


def pod(name: str, phase: str, *, leaf: str = "", node: str = "n1", deleting: bool = False) -> Pod:
    gpu = ResourceRequirements(requests={"nvidia.com/gpu": "1", "cpu": "500m"})
    return Pod(
        metadata=ObjectMeta(
            name=name,
            labels={SUB_GROUP_NAME: leaf} if leaf else None,
            deletion_timestamp="2026-01-01T00:00:00Z" if deleting else None,
        ),
        spec=PodSpec(
            containers=[Container(resources=gpu)], node_name="" if phase == "Pending" and not node else node
        ),
        status=msgspec.convert({"phase": phase}, PodStatus),
    )


def waiting(name: str, leaf: str = "") -> Pod:
    return pod(name, "Pending", leaf=leaf, node="")


def gang(preemptibility: str = "", minimum: int = 2) -> PodGroup:
    groups = [SubGroup(name=f"w-{index}", min_member=minimum) for index in range(2)]
    return PodGroup(
        metadata=ObjectMeta(name="g", namespace="ns", generation=3),
        spec=PodGroupSpec(min_sub_group=1, sub_groups=groups, preemptibility=preemptibility),
    )


def flat(minimum: int = 2) -> PodGroup:
    return PodGroup(metadata=ObjectMeta(name="g"), spec=PodGroupSpec(min_member=minimum))


def condition(status: PodGroupStatus, kind: str) -> str | None:
    return next((found.status for found in status.conditions or () if found.type == kind), None)


def test_groups_and_pods_are_counted_for_people() -> None:
    pods = [pod("a", "Running", leaf="w-0"), pod("b", "Running", leaf="w-0"), waiting("c", "w-1")]
    status = status_of(gang(), pods, CLASSES, NOW)
    assert (status.satisfied_groups, status.active_members, status.phase) == ("1/2", "2/3", "Running")
    assert status.groups is not None
    assert [(row.name, row.satisfied, row.running, row.pending) for row in status.groups] == [
        ("", True, 2, 1),
        ("w-0", True, 2, 0),
        ("w-1", False, 0, 1),
    ]


@pytest.mark.parametrize(
    ("pods", "phase"),
    [
        ([], "Pending"),
        ([waiting("a"), waiting("b")], "Pending"),
        ([pod("a", "Pending"), waiting("b")], "Starting"),
        ([pod("a", "Pending"), pod("b", "Running")], "Starting"),
        ([pod("a", "Running"), pod("b", "Running")], "Running"),
        ([pod("a", "Succeeded"), pod("b", "Running")], "Running"),
        ([pod("a", "Succeeded"), pod("b", "Succeeded")], "Succeeded"),
        ([pod("a", "Succeeded"), pod("b", "Failed")], "Failed"),
    ],
)
def test_the_phase_follows_the_pods(pods: list[Pod], phase: str) -> None:
    assert status_of(flat(), pods, CLASSES, NOW).phase == phase


def test_a_gang_that_fell_below_its_minimum_is_degraded_and_then_stale() -> None:
    group = flat()
    group.status = status_of(group, [pod("a", "Running"), pod("b", "Running")], CLASSES, NOW)
    broken = [pod("a", "Running"), waiting("b")]
    group.status = status_of(group, broken, CLASSES, NOW + 10)
    assert (group.status.phase, condition(group.status, "Scheduled")) == ("Degraded", "True")
    assert stale_at(group) == NOW + 70
    assert status_of(group, broken, CLASSES, NOW + 69).phase == "Degraded"
    assert status_of(group, broken, CLASSES, NOW + 70).phase == "Stale"


def test_an_optional_gang_waits_until_something_of_it_starts() -> None:
    status = status_of(flat(0), [waiting("a")], CLASSES, NOW)
    assert (status.phase, condition(status, "Satisfied"), condition(status, "Scheduled")) == (
        "Pending",
        "True",
        "False",
    )
    assert status_of(flat(0), [pod("a", "Running")], CLASSES, NOW).phase == "Running"


def test_what_is_short_is_named_with_its_numbers() -> None:
    group = gang(minimum=3)
    group.spec.min_sub_group = 2
    group.status = status_of(
        group,
        [pod(f"{leaf}{n}", "Running", leaf=leaf) for leaf in ("w-0", "w-1") for n in range(3)],
        CLASSES,
        NOW,
    )
    left = [pod(f"w-0{n}", "Running", leaf="w-0") for n in range(3)] + [pod("w-10", "Running", leaf="w-1")]
    status = status_of(group, left, CLASSES, NOW)
    assert status.phase == "Degraded"
    assert status.reason == "below its minimum: 1 of 2 groups; w-1 has 1 of 3 pods"
    (satisfied,) = (one for one in status.conditions or () if one.type == "Satisfied")
    assert (satisfied.reason, satisfied.message) == ("BelowMinimum", status.reason)


def test_a_gang_that_ended_too_small_says_how_its_pods_ended() -> None:
    ended = [pod("a", "Succeeded"), pod("b", "Failed")]
    assert status_of(flat(), ended, CLASSES, NOW).reason == (
        "1 pods succeeded, 1 failed: below its minimum: 1 of 2 pods"
    )


def test_what_keeps_optional_members_waiting_shows_while_the_gang_runs() -> None:
    group = flat(1)
    group.status.scheduling_conditions = [SchedulingCondition(reason="OverLimit", message="limit is 1 GPUs")]
    status = status_of(group, [pod("a", "Running"), waiting("b")], CLASSES, NOW)
    assert (status.phase, status.reason) == ("Running", "limit is 1 GPUs")


def test_a_gang_without_pods_says_so() -> None:
    assert status_of(flat(), [], CLASSES, NOW).reason == "no pods exist"


def test_a_negative_grace_never_ends() -> None:
    group = flat()
    group.spec.staleness_grace_period = "-1s"
    group.status = status_of(group, [pod("a", "Running"), pod("b", "Running")], CLASSES, NOW)
    group.status = status_of(group, [pod("a", "Running")], CLASSES, NOW)
    assert status_of(group, [pod("a", "Running")], CLASSES, NOW + 10**6).phase == "Degraded"


def test_exactly_the_core_of_a_semi_preemptible_gang_is_non_preemptible() -> None:
    leaves = ["w-0", "w-0", "w-0", "w-1", "w-1"]
    pods = [pod(f"p{index}", "Running", leaf=leaf) for index, leaf in enumerate(leaves)]
    found = status_of(gang("semi-preemptible"), pods, CLASSES, NOW).resources_status
    assert found is not None
    assert found.allocated == {"cpu": "2500m", "nvidia.com/gpu": "5"}
    assert found.allocated_non_preemptible == {"cpu": "1", "nvidia.com/gpu": "2"}


def test_preemptible_gangs_hold_nothing_non_preemptible() -> None:
    group = flat()
    group.spec.priority_class_name = "train"
    status = status_of(group, [pod("a", "Running"), waiting("b")], CLASSES, NOW)
    assert status.resources_status is not None
    assert status.resources_status.requested == {"cpu": "1", "nvidia.com/gpu": "2"}
    assert status.resources_status.allocated == {"cpu": "500m", "nvidia.com/gpu": "1"}
    assert status.resources_status.allocated_non_preemptible is None
    assert status.preemptibility is not None
    assert (status.preemptibility.value, status.preemptibility.source) == ("preemptible", "priority 50")


def test_pods_on_their_way_out_hold_their_node_but_are_not_active() -> None:
    status = status_of(flat(1), [pod("a", "Running", deleting=True)], CLASSES, NOW)
    assert condition(status, "Satisfied") == "False"
    assert status.resources_status is not None
    assert status.resources_status.allocated == {"cpu": "500m", "nvidia.com/gpu": "1"}
    assert status.resources_status.requested is None


def test_a_refusal_shows_until_nothing_waits() -> None:
    group = flat(1)
    text = "3 node(s) didn't have enough resources"
    group.status.scheduling_conditions = [SchedulingCondition(reason="OverCapacity", message=text)]
    group.status = status_of(group, [waiting("a")], CLASSES, NOW)
    assert (condition(group.status, "Unschedulable"), group.status.reason) == ("True", text)
    group.status = status_of(group, [pod("a", "Running")], CLASSES, NOW)
    assert (condition(group.status, "Unschedulable"), group.status.scheduling_conditions) == (None, None)


def test_a_pod_that_names_no_leaf_is_shown_with_the_valid_names() -> None:
    status = status_of(gang(), [waiting("a", "w-7")], CLASSES, NOW)
    (stray,) = (found for found in status.conditions or () if found.type == "StrayMembers")
    assert status.reason == "1 pods are in no group"
    assert stray.message == (
        '1 pods are in no group; a: label kai.scheduler/subgroup-name is "w-7", '
        "which is no group that holds pods: set it to one of w-0, w-1"
    )


def test_an_impossible_minimum_is_shown() -> None:
    group = gang()
    group.spec.min_sub_group = 3
    assert condition(status_of(group, [], CLASSES, NOW), "MinimumImpossible") == "True"


def test_a_broken_tree_is_shown() -> None:
    group = PodGroup(spec=PodGroupSpec(sub_groups=[SubGroup(name="a", parent="a", min_member=1)]))
    status = status_of(group, [], CLASSES, NOW)
    assert condition(status, "Invalid") == "True"
    assert status.reason == "spec.subGroups[0].parent: cycle detected in subgroups"


def test_a_broken_tree_keeps_what_the_scheduler_told() -> None:
    """Else the two would write in turns for ever."""
    group = PodGroup(spec=PodGroupSpec(sub_groups=[SubGroup(name="a", parent="a", min_member=1)]))
    group.status = status_of(group, [waiting("a")], CLASSES, NOW)
    group.status.scheduling_conditions = [SchedulingCondition(reason="InvalidGroups", message="broken")]
    assert change(POD_GROUP, group, [waiting("a")], CLASSES, NOW) is None


def test_a_value_that_bypassed_admission_is_named_with_its_field() -> None:
    status = status_of(flat(minimum=-3), [], CLASSES, NOW)
    (told,) = [one.message for one in status.conditions or () if one.type == "Invalid"]
    assert told == "spec.minMember: -3 is not between 0 and 2147483647"


def test_a_second_pass_over_unchanged_input_writes_nothing() -> None:
    group, pods = gang("semi-preemptible"), [pod("a", "Running", leaf="w-0"), waiting("b", "w-1")]
    first = change(POD_GROUP, group, pods, CLASSES, NOW)
    assert first is not None
    stored = _merged(msgspec.to_builtins(group.status), first.status)
    group.status = msgspec.convert(stored, PodGroupStatus)
    assert change(POD_GROUP, group, pods, CLASSES, NOW + 5) is None


def test_what_went_is_removed_by_name() -> None:
    group = flat(1)
    group.status = status_of(group, [pod("a", "Running")], CLASSES, NOW)
    write = change(POD_GROUP, group, [], CLASSES, NOW)
    assert write is not None
    assert write.status["resourcesStatus"] == {"requested": None, "allocated": None}


def _merged(before: Json, patch: Json) -> Json:
    """RFC 7396, as the server does it."""
    merged = dict(before)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key, {}), value) if isinstance(value, dict) else value
    return merged
