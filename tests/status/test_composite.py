from quorate.api.composite import CompositePodGroup, CompositePodGroupSpec
from quorate.api.labels import COMPOSITE_GROUP
from quorate.api.meta import Condition, ObjectMeta
from quorate.api.podgroup import PodGroup, PodGroupStatus, SchedulingCondition
from quorate.status.composite import status_of


def member(*, held: bool) -> PodGroup:
    condition = Condition(type="Satisfied", status="True" if held else "False")
    return PodGroup(
        metadata=ObjectMeta(name="g", namespace="ns", labels={COMPOSITE_GROUP: "segment"}),
        status=PodGroupStatus(conditions=[condition]),
    )


def segment(minimum: int | None = None) -> CompositePodGroup:
    return CompositePodGroup(
        metadata=ObjectMeta(name="segment", namespace="ns"),
        spec=CompositePodGroupSpec(min_group_count=minimum),
    )


def test_all_groups_are_needed_by_default() -> None:
    groups = [member(held=True), member(held=False)]
    status = status_of(segment(), [], groups, 0)
    assert (status.groups, status.satisfied_groups) == (2, 1)
    assert status.conditions is not None
    assert status.conditions[0].status == "False"
    assert status.conditions[0].message == "1 of 2 groups are satisfied, 2 are needed"


def test_a_minimum_of_groups_is_enough() -> None:
    status = status_of(segment(1), [], [member(held=True), member(held=False)], 0)
    assert status.conditions is not None
    assert status.conditions[0].status == "True"


def test_why_its_gangs_do_not_start_is_said_once() -> None:
    refused = member(held=False)
    refused.status.scheduling_conditions = [SchedulingCondition(message="no room")]
    status = status_of(segment(), [], [refused, refused], 0)
    assert status.conditions is not None
    assert status.conditions[0].reason == "Unschedulable"
    assert status.conditions[0].message == "0 of 2 groups are satisfied, 2 are needed; no room"
