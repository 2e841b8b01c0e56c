"""Restarts of instances."""

import pytest

from quorate.workloads.rbg.restart import (
    NONE,
    RECREATE_INSTANCE,
    RestartPolicy,
    counted,
    effective_type,
    is_recent,
    stable_window,
)


@pytest.mark.parametrize(
    ("restarts", "seconds"), [(0, 0), (1, 30), (2, 60), (5, 480), (6, 600), (27, 600), (500, 600)]
)
def test_the_delay_doubles_up_to_the_longest(restarts: int, seconds: int) -> None:
    assert RestartPolicy().delay(restarts) == seconds


def test_a_longest_delay_of_zero_is_no_limit_and_a_negative_base_no_delay() -> None:
    assert RestartPolicy(base_seconds=10, longest_seconds=0).delay(5) == 160
    assert RestartPolicy(base_seconds=-30, longest_seconds=-1).delay(2) == 0


def test_what_has_passed_is_taken_off_the_delay() -> None:
    policy = RestartPolicy()
    assert [policy.remaining(1, since) for since in (None, 0, 20, 31)] == [0, 30, 10, 0]


def test_restarts_count_anew_after_a_stable_time() -> None:
    assert [counted(5, since) for since in (None, 60, 1199, 1200)] == [1, 6, 6, 1]
    assert (stable_window(10), stable_window(1000), is_recent(None)) == (600, 2000, False)


def test_the_new_field_decides_before_the_old_one_and_the_pattern_last() -> None:
    assert effective_type("standalone", RECREATE_INSTANCE, NONE) == RECREATE_INSTANCE
    assert effective_type("leaderWorker", "", NONE) == NONE
    assert [effective_type(pattern) for pattern in ("standalone", "leaderWorker", "customComponents")] == [
        NONE,
        RECREATE_INSTANCE,
        RECREATE_INSTANCE,
    ]
