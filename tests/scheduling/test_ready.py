"""Seats that need not wait are bound at once, and no extra comes before its core."""

from quorate.plan import Bind, Evict
from tests.fakes.clusters import Cluster, Group


def test_a_victim_that_was_placed_in_the_same_cycle_costs_no_cycle() -> None:
    cluster = Cluster()
    cluster.node("three", 3)
    cluster.node("four", 4)
    cluster.gang("small", [Group("", min_member=1, members=1, gpus=1)])
    cluster.gang("large", [Group("", min_member=1, members=2, gpus=3)])
    plan = cluster.cycle()
    assert not any(isinstance(change, Evict) for change in plan.changes)
    assert sum(isinstance(change, Bind) for change in plan.changes) == 3


def test_no_extra_is_bound_while_the_start_of_its_gang_waits_for_a_seat() -> None:
    cluster = Cluster(linger=1)
    cluster.node("n", 3)
    cluster.gang("cheap", [Group("", min_member=1, members=1)])
    cluster.settle()
    optional = Group("optional", min_member=0, members=1, gpus=0)
    cluster.gang("dear", [Group(""), optional, Group("needed", min_member=1, members=1, gpus=3)], priority=75)
    cluster.cycle()
    cluster.cycle()
    assert not cluster.bound("dear")
    cluster.settle()
    assert len(cluster.bound("dear")) == 2
