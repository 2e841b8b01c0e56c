"""What queues used over time, and what that does to their shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.scheduling.usage import NOTHING, Holding, Usage, holding
from tests.fakes.clusters import NOW, Cluster, Group

HOUR = 3600.0
CAPACITY = np.array([64e3, 256e9, 12e3])
A_THIRD = Holding(CAPACITY, {"a": CAPACITY / 3})
IDLE = Holding(CAPACITY, {})
START = Usage(NOW, NOTHING, {})

spans = st.floats(1.0, 1e7)


@given(spans, spans)
def test_a_queue_that_always_had_a_third_has_used_a_third(span: float, half_life: float) -> None:
    used = START.advanced(A_THIRD, NOW + span, half_life).fractions()
    assert used["a"] == pytest.approx(np.full(3, 1 / 3))


@given(spans, spans, spans)
def test_it_does_not_matter_how_often_one_looks(first: float, second: float, half_life: float) -> None:
    end = NOW + first + second
    at_once = START.advanced(A_THIRD, end, half_life)
    in_steps = START.advanced(A_THIRD, NOW + first, half_life).advanced(A_THIRD, end, half_life)
    assert in_steps.queues["a"] == pytest.approx(at_once.queues["a"], rel=1e-6)
    assert in_steps.capacity == pytest.approx(at_once.capacity, rel=1e-6)


def test_half_of_what_was_used_long_ago_is_forgotten_every_half_life() -> None:
    long = START.advanced(A_THIRD, NOW + 1000 * HOUR, HOUR)
    later = long.advanced(IDLE, NOW + 1001 * HOUR, HOUR)
    assert later.fractions()["a"] == pytest.approx(np.full(3, 1 / 6), rel=1e-3)


def test_a_resource_that_the_cluster_lacks_is_not_used() -> None:
    no_gpus = Holding(np.array([64e3, 256e9, 0.0]), {"a": np.array([1e3, 1e9, 0.0])})
    assert START.advanced(no_gpus, NOW + 60, HOUR).fractions()["a"][2] == 0


def test_a_clock_that_is_set_back_takes_nothing_away() -> None:
    before = START.advanced(A_THIRD, NOW + 60, HOUR)
    after = before.advanced(A_THIRD, NOW, HOUR)
    assert after.at == before.at
    assert after.queues["a"] == pytest.approx(before.queues["a"])


def test_a_queue_holds_what_is_below_it() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    cluster.queue("top", quota=8)
    cluster.queue("leaf", parent="top", quota=8)
    cluster.gang("job", [Group("", min_member=2, members=2)], queue="leaf")
    cluster.settle()
    found = holding(cluster.encoder.snapshot(NOW))
    assert found.queues["top"].tolist() == found.queues["leaf"].tolist()
    assert found.capacity[2] == 4 * found.queues["leaf"][2]


def test_of_two_equal_queues_the_one_that_used_less_is_granted_more() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    for name in ("greedy", "modest"):
        cluster.queue(name)
        for at in range(8):
            cluster.gang(f"{name}-{at}", [Group("", min_member=1, members=1)], queue=name)
    cluster.encoder.record_usage({"greedy": np.full(3, 0.4), "modest": np.full(3, 0.1)})
    cluster.settle()
    held = {name: sum(len(cluster.bound(f"{name}-{at}")) for at in range(8)) for name in ("greedy", "modest")}
    # n = 1/2 each, n + (n - u): 0.6 against 0.9 of 8
    assert held == {"greedy": 3, "modest": 5}
