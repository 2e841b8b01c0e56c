"""Counts that may be percentages."""

from fractions import Fraction

import pytest

from quorate.workloads.rbg.amounts import at_least_one, kept_back, rounded, unavailable


@pytest.mark.parametrize(
    ("partition", "replicas", "expected"),
    [
        (None, 10, 0),
        ("99%", 10, 9),
        ("95%", 10, 9),
        ("100%", 10, 10),
        (15, 10, 10),
        (-5, 10, 0),
        (5, None, 1),
    ],
)
def test_less_than_all_leaves_one_to_update(
    partition: int | str | None, replicas: int | None, expected: int
) -> None:
    assert kept_back(partition, replicas) == expected


def test_a_rollout_without_surge_always_has_room_to_move() -> None:
    assert [unavailable("30%", 0, 3), unavailable("30%", 1, 3), unavailable(None, 0, 5)] == [1, 0, 1]
    assert [at_least_one(0, 100), at_least_one("1%", 10), at_least_one(7, 3)] == [1, 1, 7]


def test_halves_round_up() -> None:
    assert [rounded(Fraction(value, 2)) for value in (1, 2, 3)] == [1, 1, 2]
