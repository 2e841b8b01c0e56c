"""Delays between restarts."""

import pytest

from quorate.workloads.backoff import Backoff

USUAL = Backoff(30, 600)


@pytest.mark.parametrize(
    ("restarts", "seconds"), [(0, 0), (1, 30), (2, 60), (5, 480), (6, 600), (27, 600), (500, 600)]
)
def test_the_delay_doubles_up_to_the_longest(restarts: int, seconds: int) -> None:
    assert USUAL.delay(restarts) == seconds


def test_a_longest_delay_of_zero_is_no_limit_and_a_negative_base_no_delay() -> None:
    assert Backoff(10, 0).delay(5) == 160
    assert Backoff(-30, -1).delay(2) == 0


def test_what_has_passed_is_taken_off_the_delay() -> None:
    assert [USUAL.remaining(1, since) for since in (None, 0, 20, 31)] == [0, 30, 10, 0]


def test_restarts_count_anew_after_a_stable_time() -> None:
    assert [USUAL.counted(5, since) for since in (None, 60, 1199, 1200)] == [1, 6, 6, 1]
    assert (Backoff(1, 10).window, Backoff(1, 1000).window, USUAL.is_recent(None)) == (600, 2000, False)
