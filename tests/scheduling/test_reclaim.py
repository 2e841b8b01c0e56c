"""Who takes from whom across queues, where a step may be made of several kinds of members or resources."""

from msgspec.structs import replace

from quorate.api.queue import QueueResource
from tests.fakes.clusters import Cluster, Group


def two_queues(victims: int, *, gpus: int, theirs: int = 2, minimum: int = 1) -> Cluster:
    """A full node of four GPUs in `theirs`, and the queue `mine` with a quota of two."""
    cluster = Cluster()
    cluster.node("n", 4)
    cluster.queue("mine", quota=2)
    cluster.queue("theirs", quota=theirs)
    for at in range(victims):
        group = Group("", min_member=minimum, members=1, gpus=gpus, running=("n",))
        cluster.gang(f"victim{at}", [group], queue="theirs")
    return cluster


def test_a_child_within_the_share_is_made_room_for_where_the_first_is_not() -> None:
    cluster = two_queues(4, gpus=1)
    children = [Group(name, min_member=1, members=1, gpus=gpus) for name, gpus in (("a", 4), ("b", 2))]
    cluster.gang("taker", [Group("", min_sub_group=1), *children], queue="mine")
    cluster.settle()
    assert (cluster.bound("taker", "a"), cluster.bound("taker", "b"), cluster.evicted) == ([], ["n"], 2)


def test_no_room_is_made_for_a_child_beyond_the_share_where_the_first_fits_nowhere() -> None:
    cluster = two_queues(1, gpus=4)
    children = [Group(name, min_member=1, members=1, gpus=gpus) for name, gpus in (("a", 1), ("b", 4))]
    cluster.gang("taker", [Group("", min_sub_group=1), *children], queue="mine")
    first = cluster.pods["taker.a.0"]
    cluster.change(replace(first, spec=replace(first.spec, node_selector={"no": "where"})))
    cluster.settle()
    assert (cluster.bound("taker"), cluster.evicted) == ([], 0)


def test_a_queue_beyond_its_share_of_one_resource_takes_nothing_of_another() -> None:
    for cpus, evicted in (64, 2), (16, 0):
        cluster = two_queues(4, gpus=1)
        share = QueueResource(quota=cpus * 1000, limit=-1, over_quota_weight=0)
        cluster.queue("mine", quota=2, cpu=share)
        cluster.gang(
            "mine", [Group("", min_member=1, members=1, gpus=0, cpus=32, running=("n",))], queue="mine"
        )
        cluster.gang("taker", [Group("", min_member=1, members=1, gpus=2, cpus=0)], queue="mine")
        cluster.settle()
        assert cluster.evicted == evicted


def test_who_is_short_of_all_that_is_asked_for_gives_nothing_whatever_else_it_has_too_much_of() -> None:
    for quota, evicted in (4, 1), (5, 0):
        cluster = two_queues(4, gpus=1)
        cluster.queue("theirs", quota=quota, cpu=QueueResource(quota=1000, limit=-1, over_quota_weight=1))
        cluster.gang("taker", [Group("", min_member=1, members=1, cpus=0)], queue="mine")
        cluster.settle()
        assert cluster.evicted == evicted


def test_a_gang_in_peace_gives_all_that_its_minimum_does_not_ask_for() -> None:
    cluster = Cluster()
    cluster.node("n", 4)
    cluster.queue("mine", quota=4)
    cluster.queue("theirs", quota=0, min_runtime=1000)
    children = [Group(name, min_member=1, members=1, gpus=1) for name in "ab"]
    cluster.gang("tree", [Group("", min_sub_group=1), *children], queue="theirs")
    cluster.gang("optional", [Group("", min_member=0, members=2)], queue="theirs")
    cluster.settle()
    cluster.gang("taker", [Group("", min_member=1, members=4)], queue="mine")
    cluster.settle()
    assert [len(cluster.bound(name)) for name in ("tree", "optional", "taker")] == [1, 0, 3]


def test_who_has_no_quota_of_what_is_asked_for_gives_what_it_holds_beyond_another() -> None:
    cluster = two_queues(4, gpus=1)
    cluster.gang("taker", [Group("", min_member=1, members=1, gpus=0, cpus=61)], queue="mine")
    cluster.settle()
    assert cluster.bound("taker") == ["n"]


def test_others_are_moved_for_a_protected_gang_in_its_quota_where_nobody_holds_too_much() -> None:
    cluster = Cluster()
    cluster.node("wide", 3)
    cluster.node("narrow", 2)
    cluster.queue("mine", quota=2)
    cluster.queue("theirs", quota=3)
    for name, gpus, node in (("large", 2, "wide"), ("small", 1, "narrow")):
        group = Group("", min_member=1, members=1, gpus=gpus, running=(node,))
        cluster.gang(name, [group], queue="theirs")
    cluster.gang("taker", [Group("", min_member=1, members=1, gpus=2)], queue="mine", priority=100)
    cluster.settle()
    assert (cluster.bound("taker"), cluster.bound("small"), cluster.evicted) == (["narrow"], ["wide"], 1)
