import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.scheduling.division import Siblings, divide

UNLIMITED = float("inf")


def siblings(*rows: tuple[float, float, float, float], priority: tuple[int, ...] = ()) -> Siblings:
    """Rows of (quota, limit, weight, requested)."""
    quota, limit, weight, requested = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    priorities = np.array(priority or [100] * len(rows), dtype=float)
    return Siblings(quota, limit, weight, requested, np.zeros(len(rows)), priorities)


def test_deserved_is_what_is_asked_within_quota() -> None:
    assert divide(7, siblings((3, UNLIMITED, 0, 5))).tolist() == [3]
    assert divide(7, siblings((3, UNLIMITED, 0, 2))).tolist() == [2]


def test_over_quota_goes_by_weight_and_never_to_weight_zero() -> None:
    assert divide(8, siblings((2, UNLIMITED, 1, 6), (2, UNLIMITED, 3, 6))).tolist() == [3, 5]
    assert divide(8, siblings((2, UNLIMITED, 0, 6), (2, UNLIMITED, 3, 6))).tolist() == [2, 6]


def test_what_one_queue_does_not_take_is_offered_again() -> None:
    assert divide(12, siblings((2, 5, 2, 6), (2, UNLIMITED, 2, 6))).tolist() == [5, 6]


def test_remainder_goes_to_the_older_of_equals() -> None:
    assert divide(11, siblings((2, UNLIMITED, 2, 6), (2, UNLIMITED, 2, 6))).tolist() == [6, 5]


def test_remainder_stays_in_the_higher_priority() -> None:
    hungry = siblings(*[(0, UNLIMITED, 1, 9)] * 3, priority=(2, 2, 1))
    assert divide(3, hungry).tolist() == [2, 1, 0]


def test_usage_moves_the_offer_away_from_who_used_more() -> None:
    queues = siblings((0, UNLIMITED, 1, 9), (0, UNLIMITED, 1, 9))._replace(usage=np.array([0.5, 0.0]))
    assert divide(6, queues, k=1.0).tolist() == [2, 4]
    assert divide(6, queues, k=0.0).tolist() == [3, 3]


def test_no_unit_hangs_on_an_error_of_arithmetic() -> None:
    queues = siblings((0, UNLIMITED, 1, 9), (0, UNLIMITED, 1, 9))._replace(usage=np.array([0.0, 0.7]))
    assert divide(8, queues, k=2.0).tolist() == [8, 0]  # 7.5 and 0.5 are offered


def test_overcommitted_quotas_promise_more_than_there_is() -> None:
    assert divide(1, siblings((2, UNLIMITED, 1, 3), (2, UNLIMITED, 1, 3))).tolist() == [2, 2]


@given(
    st.lists(st.tuples(*[st.integers(0, 20)] * 4), min_size=1, max_size=6),
    st.integers(0, 60),
    st.data(),
)
def test_division_gives_nobody_more_than_wanted_and_leaves_nothing_to_the_hungry(
    rows: list[tuple[int, int, int, int]], total: int, data: st.DataObject
) -> None:
    priorities = data.draw(st.tuples(*[st.integers(0, 2)] * len(rows)))
    queues = siblings(*rows, priority=priorities)
    shares = divide(total, queues)
    assert np.all(shares <= queues.wanted + 1e-9)
    floor = np.minimum(queues.quota, queues.wanted)
    assert np.all(shares >= floor - 1e-9)
    assert shares.sum() <= max(total, floor.sum()) + 1e-9
    hungry = (shares < queues.wanted - 1e-9) & (queues.weight > 0)
    if hungry.any():
        assert shares.sum() == pytest.approx(max(total, floor.sum()))
