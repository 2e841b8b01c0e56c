"""What holds for every cluster: drawn at random, checked by a judge that shares no code with the scheduler."""

import os

from hypothesis import given, settings

from quorate.plan import Bind, Evict
from tests.fakes import judge
from tests.fakes.clusters import Cluster
from tests.fakes.drawn import Event, beginnings, histories, of

EXAMPLES = int(os.environ.get("QUORATE_EXAMPLES", "100"))
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
