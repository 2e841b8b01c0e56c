"""Which instances start together."""

from quorate.workloads.segmentgangs import Team, segments, teams
from quorate.workloads.segments import Coordination


def test_roles_linked_by_any_coordination_are_one_team() -> None:
    found = teams(
        [
            Coordination("a", {"prefill": 5}),
            Coordination("b", {"router": 2}),
            Coordination("c", {"router": 2, "prefill": 5}),
            Coordination("d", {"other": 1}),
        ]
    )
    assert [(team.name, dict(team.sizes)) for team in found] == [
        ("a", {"prefill": 5, "router": 2}),
        ("d", {"other": 1}),
    ]


def test_the_last_segment_holds_what_is_left_and_no_role_that_has_nothing_in_it() -> None:
    found = list(segments(Team("a", {"prefill": 5, "decode": 2}), {"prefill": 12, "decode": 4}))
    assert [dict(segment.instances) for segment in found] == [
        {"prefill": range(5), "decode": range(2)},
        {"prefill": range(5, 10), "decode": range(2, 4)},
        {"prefill": range(10, 12)},
    ]
    assert [segment.count for segment in found] == [7, 7, 2]


def test_nothing_wanted_makes_no_segment() -> None:
    assert not list(segments(Team("a", {"prefill": 5}), {"prefill": 0}))
