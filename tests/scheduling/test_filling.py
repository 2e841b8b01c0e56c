import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quorate.scheduling.filling import even, fill, splits

COUNTS = st.lists(st.integers(0, 4), min_size=1, max_size=12)


@given(COUNTS, st.data())
def test_filling_takes_the_nodes_that_one_pod_after_another_would_take(
    counts: list[int], data: st.DataObject
) -> None:
    scores = data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts)))
    k = data.draw(st.integers(1, max(sum(counts), 1)))
    found = fill(np.array(counts), np.array(scores, dtype=np.float64), k)
    if sum(counts) < k:
        assert found is None
        return
    left, wanted = list(counts), [0] * len(counts)
    for _ in range(k):
        best = max((node for node, room in enumerate(left) if room), key=lambda node: (scores[node], -node))
        left[best] -= 1
        wanted[best] += 1
    assert found is not None
    got = [0] * len(counts)
    for node, taken in zip(*found, strict=True):
        got[node] = int(taken)
    assert got == wanted


@given(COUNTS, st.integers(1, 20))
def test_spreading_leaves_no_node_more_than_one_ahead_of_one_with_room(counts: list[int], k: int) -> None:
    found = even(np.array(counts), np.zeros(len(counts)), k)
    if sum(counts) < k:
        assert found is None
        return
    assert found is not None
    got = np.zeros(len(counts), dtype=int)
    got[found[0]] = found[1]
    assert got.sum() == k
    with_room = [taken for taken, room in zip(got, counts, strict=True) if taken < room]
    assert not with_room or max(got) <= min(with_room) + 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(1, 5))
def test_every_split_comes_once(counts: list[int], k: int) -> None:
    order = np.arange(len(counts))
    twins = np.zeros(len(counts), dtype=np.bool_)
    found = [
        tuple(zip(nodes.tolist(), taken.tolist(), strict=True))
        for nodes, taken in splits(np.array(counts), order, twins, k)
    ]
    wanted = sum(1 for way in np.ndindex(*(count + 1 for count in counts)) if sum(way) == k)
    assert len(found) == len(set(found)) == wanted


def test_twins_are_filled_in_one_order_only() -> None:
    found = list(splits(np.array([2, 2]), np.arange(2), np.array([False, True]), 2))
    assert [taken.tolist() for _, taken in found] == [[2], [1, 1]]
