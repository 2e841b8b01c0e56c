import pytest

from quorate.workloads.builtin.amounts import resolve, surge_and_unavailable


@pytest.mark.parametrize(
    ("amount", "total", "up", "expected"),
    [(2, 10, True, 2), ("25%", 10, True, 3), ("25%", 10, False, 2), ("100%", 7, True, 7), (None, 7, True, 0)],
)
def test_percentages_round_as_asked(amount: int | str | None, total: int, up: bool, expected: int) -> None:  # noqa: FBT001 - a column of the table
    assert resolve(amount, total, up=up) == expected


def test_a_rollout_may_always_do_something() -> None:
    assert surge_and_unavailable(0, "10%", 5) == (0, 1)
    assert surge_and_unavailable("25%", "25%", 4) == (1, 1)
