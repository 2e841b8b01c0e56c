"""The conditions of a group through its life, with the messages of the design."""

import pytest

from quorate.api.meta import Condition
from quorate.workloads.readiness import conditions
from quorate.workloads.segments import Coordination, RoleState

PAIR = [Coordination("pd", {"prefill": 10, "decode": 5})]
PODS = {"prefill": 1, "decode": 1, "router": 2}


def _shown(found: list[Condition]) -> list[tuple[str, str, str]]:
    return [(condition.status, condition.reason, condition.message) for condition in found]


def _story() -> list[Condition]:
    return conditions({"prefill": RoleState(100, 100, 100), "decode": RoleState(50, 50, 50)}, PODS, PAIR)


@pytest.mark.parametrize(
    ("ready", "expected"),
    [
        ((0, 0), [("DeploymentInProgress", "0/150 pods ready"), ("NoSegmentsReady", "0/10", "(0/150 pods)")]),
        (
            (10, 4),
            [("DeploymentInProgress", "14/150 pods ready"), ("NoSegmentsReady", "0/10", "(14/150 pods)")],
        ),
        (
            (30, 15),
            [("PartialDeployment", "45/150 pods ready"), ("MinimumSegmentReady", "3/10", "(45/150 pods)")],
        ),
        (
            (100, 50),
            [("AllReplicasReady", "150/150 pods ready"), ("AllSegmentsReady", "10/10", "(150/150 pods)")],
        ),
    ],
)
def test_a_new_group_says_how_much_of_it_serves(
    ready: tuple[int, int], expected: list[tuple[str, ...]]
) -> None:
    states = {"prefill": RoleState(100, ready[0], ready[0]), "decode": RoleState(50, ready[1], ready[1])}
    (reason, message), (minimum, segments, pods) = expected
    found = conditions(states, PODS, PAIR)
    text = f"{segments} segments ready {pods}"
    serves = str(minimum != "NoSegmentsReady")
    assert _shown(found) == [
        (str(reason == "AllReplicasReady"), reason, message),
        (serves, minimum, text),
        (serves, minimum, text),
    ]
    assert [each.type for each in found] == ["Ready", "MinimumSegmentsAvailable", "MinimumReplicasAvailable"]


def test_a_group_that_was_whole_scales_and_keeps_its_minimum() -> None:
    grown = {"prefill": RoleState(110, 110, 100), "decode": RoleState(55, 55, 50)}
    found = conditions(grown, PODS, PAIR, _story())
    again = conditions(grown, PODS, PAIR, found)
    assert _shown(found)[:2] == [
        ("False", "ScalingInProgress", "150/165 pods ready"),
        ("True", "MinimumMet", "10/11 segments ready (150/165 pods)"),
    ]
    assert again == found


def test_losing_the_last_segment_starts_over() -> None:
    lost = {"prefill": RoleState(100, 100, 9), "decode": RoleState(50, 50, 50)}
    found = conditions(lost, PODS, PAIR, _story())
    back = {"prefill": RoleState(100, 100, 10), "decode": RoleState(50, 50, 50)}
    after = conditions(back, PODS, PAIR, found)
    assert [each.reason for each in (*found[:2], *after[:2])] == [
        "DeploymentInProgress",
        "NoSegmentsReady",
        "PartialDeployment",
        "MinimumSegmentReady",
    ]


def test_roles_outside_segments_count_for_ready_only() -> None:
    states = {
        "prefill": RoleState(10, 10, 10),
        "decode": RoleState(5, 5, 5),
        "router": RoleState(2, 2, 1),
    }
    ready, minimum, _ = conditions(states, PODS, PAIR)
    assert (ready.reason, ready.message) == ("PartialDeployment", "17/19 pods ready")
    assert (minimum.reason, minimum.message) == ("AllSegmentsReady", "1/1 segments ready (15/15 pods)")


def test_one_of_two_teams_without_a_segment_does_not_serve() -> None:
    both = [*PAIR, Coordination("r", {"router": 1})]
    states = {
        "prefill": RoleState(10, 10, 10),
        "decode": RoleState(5, 5, 5),
        "router": RoleState(2, 0, 0),
    }
    minimum = conditions(states, PODS, both)[1]
    assert _shown([minimum]) == [("False", "NoSegmentsReady", "1/3 segments ready (15/19 pods)")]


def test_without_segments_there_is_only_ready() -> None:
    found = conditions({"prefill": RoleState(2, 2, 1)}, PODS)
    assert _shown(found) == [("False", "PartialDeployment", "1/2 pods ready")]


def test_a_group_that_wants_nothing_is_ready_and_serves_nothing() -> None:
    found = conditions({"prefill": RoleState(0), "decode": RoleState(0)}, PODS, PAIR)
    assert [(each.status, each.reason) for each in found[:2]] == [
        ("True", "AllReplicasReady"),
        ("False", "NoSegmentsReady"),
    ]
