"""Targets of coordinated roles; every row is a situation of the design or one its first implementation got wrong."""

import pytest

from quorate.workloads.segments import Coordination, Progression, RoleState, place

PAIR = {"prefill": 10, "decode": 5}


def _states(**roles: tuple[int, int, int]) -> dict[str, RoleState]:
    return {name: RoleState(*counts) for name, counts in roles.items()}


def _targets(coordinations: list[Coordination], **roles: tuple[int, int, int]) -> dict[str, int]:
    return dict(place(coordinations, _states(**roles)).targets)


@pytest.mark.parametrize(
    ("progression", "prefill", "decode", "expected"),
    [
        (Progression.ORDERED_READY, (100, 0, 0), (50, 0, 0), (10, 5)),
        (Progression.ORDERED_READY, (100, 10, 10), (50, 5, 5), (20, 10)),
        (Progression.ORDERED_READY, (100, 20, 20), (50, 10, 9), (20, 10)),
        (Progression.ORDERED_READY, (100, 10, 10), (50, 4, 4), (10, 5)),
        (Progression.ORDERED, (100, 10, 0), (50, 5, 0), (20, 10)),
        (Progression.PARALLEL, (100, 0, 0), (50, 0, 0), (100, 50)),
        (Progression.ORDERED_READY, (25, 20, 20), (12, 10, 10), (25, 12)),
        (Progression.ORDERED_READY, (110, 110, 100), (55, 55, 50), (110, 55)),
    ],
)
def test_one_segment_at_a_time_as_the_progression_asks(
    progression: Progression,
    prefill: tuple[int, int, int],
    decode: tuple[int, int, int],
    expected: tuple[int, int],
) -> None:
    found = _targets([Coordination("pd", PAIR, progression)], prefill=prefill, decode=decode)
    assert (found["prefill"], found["decode"]) == expected


def test_a_role_with_all_it_wants_does_not_stop_the_others() -> None:
    found = _targets([Coordination("pd", PAIR)], prefill=(100, 50, 50), decode=(20, 20, 20))
    assert found == {"prefill": 60, "decode": 20}


def test_a_role_that_is_ahead_keeps_what_it_has() -> None:
    found = _targets([Coordination("pd", PAIR)], prefill=(100, 30, 30), decode=(50, 5, 5))
    assert found == {"prefill": 30, "decode": 10}


def test_shrinking_happens_at_once_even_while_the_coordination_waits() -> None:
    found = _targets([Coordination("pd", PAIR)], prefill=(50, 100, 60), decode=(50, 20, 1))
    assert found == {"prefill": 50, "decode": 20}


CHAIN = [
    Coordination("one", {"prefill": 5, "decode": 3}),
    Coordination("two", {"decode": 3, "router": 2}),
    Coordination("three", {"router": 2, "gateway": 1}),
]


def test_waiting_holds_those_that_share_a_role_and_no_further() -> None:
    states = _states(prefill=(300, 5, 3), decode=(100, 3, 3), router=(50, 2, 2), gateway=(20, 1, 1))
    placement = place(CHAIN, states)
    assert dict(placement.targets) == {"prefill": 5, "decode": 3, "router": 2, "gateway": 2}
    assert [str(progress) for progress in placement.progress] == [
        "0/60 segments ready, waits: 3 of 5 instances of role prefill ready",
        "1/34 segments ready, waits: 3 of 5 instances of role prefill ready (held by coordination one)",
        "1/25 segments ready, waits: 1 of 2 instances of role gateway exist, 2 of 4 instances of role router exist",
    ]


def test_a_finished_coordination_holds_nobody() -> None:
    found = _targets(CHAIN[:2], prefill=(100, 5, 5), decode=(3, 3, 3), router=(2, 2, 0))
    assert found == {"prefill": 10, "decode": 3, "router": 2}


def test_a_shared_role_gets_the_smallest_of_its_targets() -> None:
    found = _targets(CHAIN[:2], prefill=(300, 10, 10), decode=(100, 6, 6), router=(50, 2, 2))
    assert found == {"prefill": 15, "decode": 6, "router": 4}


def test_progress_says_what_is_not_ready_once_everything_exists() -> None:
    (progress,) = place(
        [Coordination("pd", PAIR)], _states(prefill=(20, 20, 15), decode=(10, 10, 10))
    ).progress
    assert str(progress) == "1/2 segments ready, waits: 15 of 20 instances of role prefill ready"
    assert not progress.is_complete


def test_a_group_that_wants_nothing_is_complete() -> None:
    (progress,) = place([Coordination("pd", PAIR)], _states(prefill=(0, 0, 0), decode=(0, 0, 0))).progress
    assert (progress.wanted, progress.is_complete, progress.waits) == (0, True, ())
