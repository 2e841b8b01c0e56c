"""What a gang starts next."""

from quorate.scheduling import growth
from quorate.scheduling.agenda import Start
from tests.fakes.clusters import Group
from tests.fakes.onegang import NODE, one_gang, started, trial_of


def replicas(
    *members: tuple[int, int], size: int = 2, required: int | None = None, least: int | None = None
) -> list[Group]:
    """Children `w-0`, `w-1`, ... with so many members that run and that exist."""
    leaves = [
        Group(f"w-{at}", min_member=size, members=live, running=(NODE,) * active)
        for at, (active, live) in enumerate(members)
    ]
    return [Group("", min_sub_group=required, min_member=least), *leaves]


def begun(groups: list[Group]) -> dict[str, int]:
    return started(trial_of(one_gang(groups)))


def in_order(groups: list[Group]) -> list[str]:
    trial = trial_of(one_gang(groups))
    rows = [step.group if isinstance(step, Start) else step.leaf for step in growth.steps(trial, 0)]
    return [trial.snapshot.groups.names[row] for row in rows]


def test_spec_order_is_not_string_order() -> None:
    assert begun(replicas(*[(0, 1)] * 12, size=1, required=3)) == {"w-0": 1, "w-1": 1, "w-2": 1}


def test_a_child_without_enough_members_is_passed_over() -> None:
    assert begun(replicas((0, 1), (0, 2), (0, 2), required=2)) == {"w-1": 2, "w-2": 2}


def test_a_gang_without_enough_members_does_not_start() -> None:
    assert begun(replicas((0, 2), (0, 1))) == {}


def test_children_that_hold_members_are_completed_first() -> None:
    assert begun(replicas((0, 2), (0, 2), (1, 2), required=1)) == {"w-2": 1}


def test_a_satisfied_gang_grows_by_whole_children_then_by_single_members() -> None:
    groups = replicas((2, 3), (0, 2), required=1)
    assert begun(groups) == {"w-1": 2}
    assert in_order(groups) == ["w-1", "w-0"]


def test_siblings_grow_evenly() -> None:
    assert begun(replicas((3, 4), (2, 4))) == {"w-1": 1}
    assert begun(replicas((2, 4), (3, 4))) == {"w-0": 1}


def test_a_member_minimum_above_the_children_starts_more_members() -> None:
    assert begun(replicas((0, 3), (0, 2), required=1, least=3)) == {"w-0": 3}
    assert begun(replicas((0, 2), (0, 2), required=1, least=3)) == {"w-0": 2, "w-1": 1}


def test_a_chain_as_long_as_the_schema_allows_starts() -> None:
    links = [Group(f"g{at}", parent=f"g{at - 1}" if at else "") for at in range(511)]
    assert begun([Group(""), *links, Group("last", parent="g510", min_member=2, members=2)]) == {"last": 2}
