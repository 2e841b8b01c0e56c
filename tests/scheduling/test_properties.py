"""What holds for every cluster: drawn at random, checked by a judge that shares no code with the scheduler."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.plan import Bind, Evict
from quorate.scheduling.decide import decide
from quorate.scheduling.encode import Encoder
from tests.fakes import judge
from tests.fakes.clusters import Cluster
from tests.fakes.drawn import EXAMPLES, Event, beginnings, histories, of

ROUNDS = 60


def judged_cycle(cluster: Cluster) -> bool:
    """One cycle; whether it changed anything. Fails if the judge finds a fault."""
    before = judge.seats(cluster)
    plan = cluster.cycle()
    found = list(judge.faults(cluster, before, plan))
    assert not found, found
    return bool(plan.changes)


def judged_rest(cluster: Cluster) -> None:
    """Cycles until one changes nothing, then some more, which change nothing either."""
    for _ in range(ROUNDS):
        if not judged_cycle(cluster) and not cluster.leaving:
            break
    else:
        raise AssertionError(f"still moving after {ROUNDS} cycles")
    for _ in range(4):
        assert not judged_cycle(cluster)


@settings(max_examples=EXAMPLES, deadline=None)
@given(histories())
def test_every_plan_is_right_and_the_cluster_comes_to_rest(history: list[list[Event]]) -> None:
    first, *later = history
    cluster = of(first)
    for events in later:
        for event in events:
            event(cluster)
        judged_rest(cluster)
    cluster.now += 200
    judged_rest(cluster)


@settings(max_examples=EXAMPLES, deadline=None)
@given(beginnings())
def test_a_plan_that_evicts_nobody_leaves_nothing_to_plan(events: list[Event]) -> None:
    cluster = of(events)
    plan = cluster.cycle()
    if not any(isinstance(change, Evict) for change in plan.changes):
        again = cluster.cycle()
        assert not any(isinstance(change, Bind | Evict) for change in again.changes)


@settings(max_examples=EXAMPLES, deadline=None)
@given(beginnings(), st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_same_objects_in_any_order_give_the_same_plan(
    events: list[Event], cycles: int, order: Random
) -> None:
    cluster = of(events)
    for _ in range(cycles):
        cluster.cycle()
    objects = list(cluster.objects.items())
    order.shuffle(objects)
    other = Encoder("quorate")
    for (kind, _), one in objects:
        other.update(kind, None, one)
    mine, yours = (decide(one.snapshot(cluster.now)) for one in (cluster.encoder, other))
    assert (mine.changes, mine.refusals) == (yours.changes, yours.refusals)
