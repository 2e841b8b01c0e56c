"""What the settings of a cycle change."""

import pytest
from msgspec.structs import replace

from quorate.api.podgroup import POD_GROUP, PodGroupStatus, SchedulingCondition
from quorate.scheduling.minruntime import Method
from quorate.scheduling.policy import Policy, Spread
from tests.fakes.clusters import Cluster, Group


def test_pods_with_gpus_are_spread_while_others_are_packed() -> None:
    cluster = Cluster(policy=Policy(spread=frozenset({Spread.GPU})))
    for name in "abc":
        cluster.node(name, 4)
    cluster.gang("gpus", [Group("", min_member=3, members=3, gpus=1)])
    cluster.gang("none", [Group("", min_member=3, members=3, gpus=0)])
    cluster.settle()
    assert (len(set(cluster.bound("gpus"))), len(set(cluster.bound("none")))) == (3, 1)


def test_nobody_evicts_many_times_what_it_asks_for() -> None:
    evicted = []
    for bound in (4.0, 7.0, 8.0):
        cluster = Cluster(policy=Policy(evicted_per_requested=bound))
        cluster.node("n", 8)
        cluster.gang("large", [Group("", min_member=8, members=8, running=("n",) * 8)])
        cluster.gang("small", [Group("", min_member=1, members=1)], priority=75)
        cluster.settle()
        evicted.append(cluster.evicted)
    assert evicted == [0, 0, 8]


def test_a_gang_in_peace_gives_what_is_beyond_its_minimum_and_no_more() -> None:
    cluster = Cluster()
    cluster.queue("q", quota=-1, min_runtime=1000)
    cluster.node("n", 4)
    cluster.gang("elastic", [Group("", min_member=2, members=4)], queue="q")
    cluster.settle()
    cluster.gang("dear", [Group("", min_member=1, members=3)], queue="q", priority=75)
    cluster.settle()
    assert (len(cluster.bound("elastic")), len(cluster.bound("dear"))) == (2, 2)
    cluster.now += 2000
    cluster.settle()
    assert len(cluster.bound("dear")) == 3


def peaceful(method: Method, *, seconds: int) -> Cluster:
    """A victim in queue `leaf` below `team`, whose protection is its team's, and a taker in another team."""
    cluster = Cluster(policy=Policy(reclaim_min_runtime=method))
    cluster.queue("theirs", quota=4)
    cluster.queue("team", quota=0, min_runtime=seconds)
    cluster.queue("leaf", parent="team", min_runtime=1)
    cluster.queue("taker", parent="theirs", quota=4)
    cluster.node("n", 4)
    cluster.gang("victim", [Group("", min_member=4, members=4)], queue="leaf")
    cluster.settle()
    cluster.gang("new", [Group("", min_member=4, members=4)], queue="taker")
    return cluster


@pytest.mark.parametrize(("method", "held"), [(Method.LCA, ["n"] * 4), (Method.QUEUE, [])])
def test_protection_from_reclaim_is_looked_for_where_the_method_says(method: Method, held: list[str]) -> None:
    cluster = peaceful(method, seconds=1000)
    cluster.now += 100
    cluster.settle()
    assert cluster.bound("victim") == held
    cluster.now += 1000
    cluster.settle()
    assert cluster.bound("new") == ["n"] * 4


def test_a_gang_takes_from_nobody_before_its_delay_has_passed() -> None:
    cluster = Cluster()
    cluster.node("n", 4)
    cluster.gang("low", [Group("", min_member=4, members=4)])
    cluster.settle()
    cluster.gang("high", [Group("", min_member=4, members=4)], priority=75, delay=2000)
    (refusal,) = cluster.cycle().refusals
    assert (cluster.evicted, refusal.gate) == (0, "PreemptionDelayNotElapsed")
    cluster.now += 2000
    cluster.settle()
    assert cluster.bound("high") == ["n"] * 4


def test_a_gang_that_wants_one_try_gets_no_second_one_while_it_shows_the_first() -> None:
    cluster = Cluster()
    cluster.gang("once", [Group("", min_member=1, members=1)])
    asks = cluster.podgroups["once"]
    shown = PodGroupStatus(
        scheduling_conditions=[SchedulingCondition(type="UnschedulableOnNodePool", status="True")]
    )
    spec = replace(asks.spec, scheduling_backoff=1)
    cluster.show(POD_GROUP, replace(asks, spec=spec, status=shown), was=asks)
    cluster.node("n", 4)
    cluster.settle()
    assert cluster.bound("once") == []
    cluster.show(POD_GROUP, replace(asks, spec=spec), was=asks)
    cluster.settle()
    assert cluster.bound("once") == ["n"]


def test_seats_that_are_being_freed_are_kept_for_the_gang_that_paid() -> None:
    cluster = Cluster(linger=3)
    cluster.queue("q", quota=-1)
    cluster.node("n", 4)
    cluster.gang("low", [Group("", min_member=4, members=4)], queue="q")
    cluster.settle()
    cluster.gang("paid", [Group("", min_member=4, members=4)], queue="q", priority=75)
    cluster.cycle()
    cluster.gang("late", [Group("", min_member=1, members=1)], queue="q", priority=60)
    cluster.settle()
    assert (cluster.evicted, len(cluster.bound("paid"))) == (4, 4)


def test_a_gang_that_must_be_in_one_rack_makes_room_in_a_full_one() -> None:
    cluster = Cluster()
    for rack in ("a", "b"):
        cluster.node(rack, 4, zone="z", rack=rack)
    for name, node in (("one", "a"), ("two", "b")):
        cluster.gang(name, [Group("", min_member=2, members=4, running=(node,) * 4)])
    cluster.gang("high", [Group("", min_member=4, members=4, required="rack")], priority=75)
    cluster.settle()
    assert len(cluster.bound("high")) == 4
    assert len(set(cluster.bound("high"))) == 1
    assert cluster.evicted == 4


def test_what_is_preferred_is_given_up_level_by_level() -> None:
    for members, nodes in (2, {"a"}), (4, {"a", "b"}), (6, {"a", "b", "c"}):
        cluster = Cluster()
        for name, zone in (("a", "x"), ("b", "x"), ("c", "y")):
            cluster.node(name, 2, zone=zone, rack=name)
        cluster.gang("job", [Group("", min_member=members, members=members, preferred="rack")])
        cluster.settle()
        assert set(cluster.bound("job")) == nodes
