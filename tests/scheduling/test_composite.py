"""Gangs of gangs: they start together or not at all, and live alone afterwards."""

from typing import Any

import pytest

from tests.fakes.clusters import Cluster, Group


def member(cluster: Cluster, of: str, name: str, size: int, gpus: int = 1, **fields: Any) -> None:
    cluster.gang(name, [Group("", min_member=size, members=size, gpus=gpus)], composite=of, **fields)


def test_no_gang_of_a_composite_starts_if_not_all_fit() -> None:
    cluster = Cluster()
    cluster.node("n", 5)
    cluster.composite("segment")
    member(cluster, "segment", "prefill", 4)
    member(cluster, "segment", "decode", 2)
    plan = cluster.cycle()
    assert not plan.changes
    assert {refusal.message for refusal in plan.refusals} == {
        "CompositePodGroup ns/segment: room was found for 1 groups while 2 must start together"
    }


def test_all_start_in_one_cycle_once_they_fit() -> None:
    cluster = Cluster()
    cluster.node("n", 5)
    cluster.composite("segment")
    member(cluster, "segment", "prefill", 4)
    member(cluster, "segment", "decode", 2)
    cluster.cycle()
    cluster.node("m", 1)
    cluster.cycle()
    assert (len(cluster.bound("prefill")), len(cluster.bound("decode"))) == (4, 2)


def test_enough_of_them_suffice_and_the_rest_follows_alone() -> None:
    cluster = Cluster()
    cluster.node("n", 4)
    cluster.composite("set", needed=1)
    member(cluster, "set", "a", 9)
    member(cluster, "set", "b", 3)
    cluster.settle()
    assert (len(cluster.bound("a")), len(cluster.bound("b"))) == (0, 3)
    for name in "xyz":
        cluster.node(name, 3)
    cluster.settle()
    assert len(cluster.bound("a")) == 9


def test_a_composite_keeps_to_one_rack() -> None:
    cluster = Cluster()
    for rack, gpus in (("a", 3), ("b", 4)):
        cluster.node(rack, gpus, zone="z", rack=rack)
    cluster.composite("segment", required="rack")
    member(cluster, "segment", "one", 2)
    member(cluster, "segment", "two", 2)
    cluster.settle()
    assert {*cluster.bound("one"), *cluster.bound("two")} == {"b"}


def test_composites_in_a_composite_start_by_their_own_minimum() -> None:
    cluster = Cluster()
    cluster.node("n", 4)
    cluster.composite("all", needed=1)
    for name in ("left", "right"):
        cluster.composite(name, parent="all")
        member(cluster, name, f"{name}-a", 2)
        member(cluster, name, f"{name}-b", 2)
    cluster.settle()
    started = [name for name in ("left-a", "left-b", "right-a", "right-b") if cluster.bound(name)]
    assert started == ["left-a", "left-b"]


def test_a_gang_waits_for_the_composite_it_names() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    member(cluster, "late", "decode", 2)
    plan = cluster.cycle()
    assert [refusal.message for refusal in plan.refusals] == [
        "CompositePodGroup ns/late does not exist: create it, or take its name from the label of this gang"
    ]
    cluster.composite("late")
    cluster.settle()
    assert len(cluster.bound("decode")) == 2


def test_a_composite_waits_for_gangs_that_do_not_exist_yet() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    cluster.composite("segment", needed=2)
    member(cluster, "segment", "prefill", 2)
    plan = cluster.cycle()
    assert [refusal.message for refusal in plan.refusals] == [
        "CompositePodGroup ns/segment: 1 of the 2 groups that must start together exist"
    ]
    member(cluster, "segment", "decode", 2)
    cluster.settle()
    assert (len(cluster.bound("prefill")), len(cluster.bound("decode"))) == (2, 2)


def test_composites_that_spread_choose_different_racks_until_all_are_taken() -> None:
    cluster = Cluster()
    for rack in "abc":
        cluster.node(rack, 8, zone="z", rack=rack)
    for number in range(4):
        cluster.composite(f"segment-{number}", required="rack", spread="service")
        member(cluster, f"segment-{number}", f"gang-{number}", 2)
    cluster.settle()
    racks = [set(cluster.bound(f"gang-{number}")) for number in range(4)]
    assert all(len(found) == 1 for found in racks)
    assert set.union(*racks[:3]) == {"a", "b", "c"}


def test_a_composite_that_needs_none_holds_nobody() -> None:
    cluster = Cluster()
    cluster.node("n", 2)
    cluster.composite("free", needed=0)
    member(cluster, "free", "a", 9)
    member(cluster, "free", "b", 2)
    cluster.settle()
    assert (len(cluster.bound("a")), len(cluster.bound("b"))) == (0, 2)


def test_composites_in_a_circle_are_told_and_keep_nobody_else_waiting() -> None:
    cluster = Cluster()
    cluster.node("n", 5)
    cluster.composite("a", parent="b")
    cluster.composite("b", parent="a")
    cluster.composite("below", parent="b")
    for of in ("a", "below"):
        member(cluster, of, f"of-{of}", 1)
    cluster.gang("other", [Group("", min_member=1, members=1)])
    plan = cluster.cycle()
    assert cluster.bound("other") == ["n"]
    told = "its gangs do not start until that is mended"
    assert {refusal.gang.name: refusal.message for refusal in plan.refusals} == {
        "of-a": f"CompositePodGroup ns/a: spec.parent: parents form a circle: a -> b -> a; {told}",
        "of-below": f"CompositePodGroup ns/below: spec.parent: parents form a circle: below -> b -> a -> b; {told}",
    }


def test_composites_start_in_each_other_as_deep_as_may_be_and_no_deeper() -> None:
    cluster = Cluster()
    cluster.node("n", 5)
    for at in range(600):
        cluster.composite(f"c{at}", parent=f"c{at - 1}" if at else "")
    member(cluster, "c599", "deep", 1)
    (refusal,) = cluster.cycle().refusals
    assert "spec.parent: more than 64 composites stand above each other" in refusal.message
    cluster.composite("c536")
    cluster.cycle()
    assert cluster.bound("deep") == ["n"]


def full(*queues: str) -> Cluster:
    """Six GPUs, each taken by a gang of one pod, in a queue by turns."""
    cluster = Cluster()
    cluster.node("n", 6)
    for at in range(6):
        group = Group("", min_member=1, members=1, running=("n",))
        cluster.gang(f"victim{at}", [group], queue=queues[at % len(queues)] if queues else "")
    return cluster


def test_a_composite_preempts_for_all_of_its_gangs_at_once_and_waits_for_their_seats() -> None:
    cluster = full()
    cluster.linger = 2
    cluster.composite("segment")
    member(cluster, "segment", "prefill", 2, priority=75)
    member(cluster, "segment", "decode", 2, priority=60)
    cluster.cycle()
    assert cluster.evicted == 4
    cluster.gang("late", [Group("", min_member=1, members=1)], priority=125, delay=1000)
    cluster.settle()
    assert (len(cluster.bound("prefill")), len(cluster.bound("decode")), cluster.evicted) == (2, 2, 4)


@pytest.mark.parametrize(("low", "evicted"), [(75, 4), (50, 0)])
def test_a_composite_preempts_only_what_is_below_all_of_its_gangs(low: int, evicted: int) -> None:
    cluster = full()
    cluster.composite("segment")
    member(cluster, "segment", "prefill", 2, priority=75)
    member(cluster, "segment", "decode", 2, priority=low)
    cluster.settle()
    assert cluster.evicted == evicted


@pytest.mark.parametrize(("quota", "started"), [(4, 2), (3, 0)])
def test_a_composite_reclaims_what_all_of_its_gangs_may_have_together(quota: int, started: int) -> None:
    cluster = full("theirs")
    cluster.queue("mine", quota=quota)
    cluster.queue("theirs", quota=6 - quota)
    cluster.composite("segment")
    member(cluster, "segment", "prefill", 2, queue="mine")
    member(cluster, "segment", "decode", 2, queue="mine")
    cluster.settle()
    assert [len(cluster.bound(name)) for name in ("prefill", "decode")] == [started] * 2
    assert cluster.evicted == 2 * started


def test_others_are_moved_together_for_a_composite() -> None:
    cluster = Cluster()
    for node in "ab":
        cluster.node(node, 4)
        cluster.gang(f"old-{node}", [Group("", min_member=1, members=1, running=(node,))])
    cluster.composite("segment")
    member(cluster, "segment", "large", 1, gpus=4)
    member(cluster, "segment", "small", 1, gpus=2)
    cluster.settle()
    assert [len(cluster.bound(name)) for name in ("large", "small", "old-a", "old-b")] == [1] * 4


def test_of_a_composite_whose_gangs_differ_as_many_as_must_are_made_room_for() -> None:
    cluster = full()
    cluster.composite("set", needed=1)
    member(cluster, "set", "huge", 9, priority=75)
    member(cluster, "set", "small", 2, priority=75)
    cluster.settle()
    assert (cluster.bound("huge"), cluster.bound("small"), cluster.evicted) == ([], ["n"] * 2, 2)


def test_a_composite_of_several_queues_or_in_its_delay_takes_from_nobody() -> None:
    for fields in ({"queue": "other"}, {"queue": "mine", "delay": 1000}):
        cluster = full("theirs")
        for name, quota in (("mine", 4), ("other", 2), ("theirs", 0)):
            cluster.queue(name, quota=quota)
        cluster.composite("segment")
        member(cluster, "segment", "prefill", 2, queue="mine")
        member(cluster, "segment", "decode", 2, **fields)
        cluster.settle()
        assert cluster.evicted == 0


def test_a_composite_that_starts_keeps_all_that_it_gets_in_that_cycle() -> None:
    cluster = Cluster()
    cluster.node("a", 2)
    cluster.node("b", 1)
    cluster.gang("low", [Group("", min_member=1, members=1, running=("a",))])
    cluster.composite("segment")
    member(cluster, "segment", "prefill", 1)
    member(cluster, "segment", "decode", 1)
    cluster.gang("high", [Group("", min_member=1, members=1, gpus=2)], priority=75)
    cluster.cycle()
    assert (len(cluster.bound("prefill")), len(cluster.bound("decode"))) == (1, 1)
    cluster.settle()
    assert cluster.bound("high") == ["a"]


def test_the_gangs_of_a_composite_take_nothing_from_each_other() -> None:
    cluster = Cluster()
    for node in "ab":
        cluster.node(node, 2, zone="z", rack=node)
    cluster.composite("set", needed=1, required="rack")
    member(cluster, "set", "low", 2)
    cluster.settle()
    member(cluster, "set", "high", 4, priority=75)
    cluster.settle()
    assert (len(cluster.bound("low")), cluster.bound("high")) == (2, [])


def test_a_composite_with_a_choice_leaves_others_the_seats_that_they_paid_for() -> None:
    cluster = Cluster(linger=1)
    cluster.node("n", 4)
    cluster.gang("victim", [Group("", min_member=3, members=3)])
    cluster.settle()
    cluster.composite("set", needed=1)
    member(cluster, "set", "large", 2, gpus=2)
    member(cluster, "set", "small", 2, priority=75)
    cluster.gang("paid", [Group("", min_member=1, members=1, gpus=2)], priority=75)
    cluster.settle()
    assert [len(cluster.bound(name)) for name in ("paid", "small", "large")] == [1, 2, 0]


def test_gangs_that_a_composite_keeps_in_one_rack_are_not_moved_apart() -> None:
    cluster = Cluster()
    for node in "abc":
        cluster.node(node, 4, zone="z", rack=node)
    cluster.composite("segment", required="rack")
    member(cluster, "segment", "prefill", 1)
    member(cluster, "segment", "decode", 1)
    cluster.settle()
    assert {*cluster.bound("prefill"), *cluster.bound("decode")} == {"a"}
    for node in "bc":
        others = Group("", min_member=3, members=3, running=(node,) * 3)
        cluster.gang(f"fixed-{node}", [others], preemptibility="non-preemptible")
    cluster.gang("new", [Group("", min_member=1, members=1, gpus=4)])
    cluster.settle()
    assert cluster.evicted == 0


def test_a_member_that_does_not_fit_where_its_composite_is_says_what_is_missing_there() -> None:
    cluster = Cluster()
    for node, gpus in (("a", 0), ("b", 4)):
        cluster.node(node, gpus, zone=node, rack=node)
    cluster.composite("set", needed=1, required="zone")
    member(cluster, "set", "first", 1, gpus=0)
    leaves = [Group(name, min_member=0, members=1, gpus=gpus) for name, gpus in (("few", 0), ("many", 1))]
    cluster.gang("tree", [Group(""), *leaves], composite="set")
    (refusal,) = cluster.cycle().refusals
    assert refusal.message == (
        "Resources were not found for pod ns/tree.many.0 due to: no nodes with enough resources were found: "
        "1 node(s) didn't have enough resources: GPUs"
    )


@pytest.mark.parametrize("minimum", [0, 1])
def test_gangs_without_a_minimum_count_for_their_composite_and_hold_nobody(minimum: int) -> None:
    cluster = Cluster()
    cluster.node("n", 3)
    cluster.composite("set")
    cluster.gang("first", [Group("", min_member=minimum, members=1)], composite="set")
    cluster.gang("free", [Group("", min_member=0, members=1)], composite="set")
    cluster.gang("none", [Group("", min_member=0)], composite="set")
    cluster.settle()
    assert (cluster.bound("first"), cluster.bound("free")) == (["n"], ["n"])


def test_nobody_starts_while_those_it_starts_with_wait_for_seats() -> None:
    cluster = Cluster(linger=1)
    cluster.node("a", 2)
    cluster.node("b", 3)
    cluster.gang("here", [Group("", min_member=1, members=1, running=("a",))])
    cluster.composite("set")
    cluster.gang("free", [Group("", min_member=0, members=1, gpus=0)], composite="set")
    cluster.gang("wide", [Group("", min_member=2, members=2, gpus=2)], composite="set")
    while not cluster.bound("wide"):
        cluster.cycle()
        assert len(cluster.bound("free")) == len(cluster.bound("wide")) / 2
    assert sorted(cluster.bound("wide")) == ["a", "b"]
