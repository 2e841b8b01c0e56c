import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.workloads.builtin.job_counts import Counts, parse_indexes, write_indexes


@pytest.mark.parametrize(
    ("indexes", "text"),
    [([], ""), ([3], "3"), ([1, 2], "1,2"), ([1, 2, 3], "1-3"), ([0, 2, 3, 4, 7], "0,2-4,7")],
)
def test_indexes_are_written_as_kubernetes_does(indexes: list[int], text: str) -> None:
    assert write_indexes(indexes) == text


@given(st.sets(st.integers(0, 60)))
def test_indexes_read_back(indexes: set[int]) -> None:
    assert set(parse_indexes(write_indexes(indexes))) == indexes


def test_pods_on_their_way_to_being_counted_count_already() -> None:
    counts = Counts(2, 1, ("a",), ("b", "c"), frozenset())
    assert (counts.all_succeeded, counts.all_failed) == (3, 3)
    assert counts.pending() == {"succeeded": ["a"], "failed": ["b", "c"]}
