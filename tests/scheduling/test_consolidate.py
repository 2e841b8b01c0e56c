"""Who is moved so that a waiting gang fits, and where everybody ends up."""

from quorate.plan import Bind
from tests.fakes.clusters import Cluster, Group


def test_the_one_whose_move_is_enough_is_found_beside_others_who_have_nowhere_to_go() -> None:
    cluster = Cluster()
    cluster.node("a", 4)
    cluster.node("b", 3)
    for name, gpus, node in (("old", 1, "a"), ("young", 2, "a"), ("other", 2, "b")):
        cluster.gang(name, [Group("", min_member=1, members=1, gpus=gpus, running=(node,))])
    cluster.gang("new", [Group("", min_member=1, members=1, gpus=2)])
    cluster.settle()
    assert (cluster.bound("new"), cluster.bound("old"), cluster.evicted) == (["a"], ["b"], 1)


def two_nodes() -> Cluster:
    """Two nodes of four GPUs."""
    cluster = Cluster()
    cluster.node("a", 4)
    cluster.node("b", 4)
    return cluster


def alone(cluster: Cluster, name: str, node: str, *, gpus: int, priority: int = 50) -> None:
    group = Group("", min_member=1, members=1, gpus=gpus, running=(node,))
    cluster.gang(name, [group], priority=priority)


def test_a_gang_of_two_sizes_leaves_the_moved_a_place_where_it_would_have_taken_it() -> None:
    cluster = two_nodes()
    alone(cluster, "first", "a", gpus=2)
    alone(cluster, "second", "b", gpus=2)
    sizes = [Group(name, min_member=1, members=1, gpus=gpus) for name, gpus in (("small", 1), ("large", 3))]
    cluster.gang("taker", [Group(""), *sizes])
    cluster.settle()
    assert (len(set(cluster.bound("taker"))), cluster.evicted) == (1, 1)
    assert cluster.bound("first") == cluster.bound("second")


def test_members_who_would_come_back_to_their_nodes_stay_there() -> None:
    cluster = two_nodes()
    groups = [
        Group(name, min_member=1, members=1, gpus=gpus, running=(node,))
        for name, gpus, node in (("small", 1, "a"), ("large", 3, "b"))
    ]
    cluster.gang("wide", [Group(""), *groups])
    cluster.gang("taker", [Group("", min_member=1, members=1, gpus=4)])
    cluster.settle()
    assert (cluster.bound("wide"), cluster.bound("taker"), cluster.evicted) == (["b", "b"], ["a"], 1)


def test_of_nodes_that_lack_as_much_the_one_with_the_lower_priority_is_cleared() -> None:
    cluster = two_nodes()
    alone(cluster, "low", "a", gpus=2)
    alone(cluster, "high", "b", gpus=2, priority=75)
    cluster.gang("taker", [Group("", min_member=1, members=1, gpus=3)])
    cluster.settle()
    assert (cluster.bound("low"), cluster.bound("high"), cluster.bound("taker")) == (["b"], ["b"], ["a"])


def test_who_goes_only_because_of_others_who_come_back_stays_too() -> None:
    cluster = Cluster()
    for name, gpus, zone in (("a", 4, "x"), ("b", 6, "x"), ("c", 6, "x"), ("d", 6, "y")):
        cluster.node(name, gpus, zone=zone, rack="r")
    cluster.gang("wide", [Group("", min_member=2, members=3, gpus=3, running=("a", "b", "b"))])
    cluster.composite("pair", needed=1, required="zone")
    cluster.gang("taker", [Group("", min_member=0, members=2, gpus=4)], composite="pair")
    cluster.settle()
    assert (sorted(cluster.bound("wide")), sorted(cluster.bound("taker"))) == (["b", "b", "d"], ["a", "c"])
    assert cluster.evicted == 1


def test_a_gang_that_is_moved_in_parts_is_never_bound_in_part() -> None:
    cluster = Cluster()
    cluster.node("a", 6, zone="x", rack="r")
    cluster.node("b", 6, zone="y", rack="r")
    cluster.gang("here", [Group("", min_member=2, members=2, gpus=3, running=("a", "a"))])
    leaves = [Group("c", min_member=0, members=1, gpus=0), Group("d", min_member=0, members=2, gpus=2)]
    cluster.gang("taker", [Group("", required="zone"), *leaves])
    for _ in range(6):
        plan = cluster.cycle()
        starts = [one for one in plan.changes if isinstance(one, Bind) and one.pod.name.startswith("here")]
        assert not starts or len(cluster.bound("here")) == 2
    assert len(cluster.bound("taker")) == 3
