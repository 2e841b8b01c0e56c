"""Who is taken to make room: nobody who could have stayed."""

from tests.fakes import judge
from tests.fakes.clusters import Cluster, Group


def test_the_member_whose_seat_helps_is_taken_and_not_the_last_one() -> None:
    cluster = Cluster()
    cluster.node("wanted", 4, zone="z", rack="a")
    cluster.node("other", 4, zone="z", rack="b")
    on_both = ("wanted",) * 4 + ("other",) * 4
    cluster.gang("elastic", [Group("", min_member=1, members=8, running=on_both)])
    cluster.gang("dear", [Group("", min_member=2, members=2, required="rack")], priority=75)
    before = judge.seats(cluster)
    plan = cluster.cycle()
    assert not list(judge.faults(cluster, before, plan))
    assert cluster.evicted == 2


def test_a_child_without_a_seat_that_helps_stays() -> None:
    cluster = Cluster()
    cluster.node("n", 1)
    cluster.gang(
        "tree",
        [
            Group(""),
            Group("seat", min_member=0, members=1, running=("n",)),
            Group("none", min_member=0, members=1, gpus=0, running=("n",)),
        ],
    )
    cluster.gang("dear", [Group("", min_member=1, members=1)], priority=75)
    cluster.settle()
    assert (len(cluster.bound("tree", "seat")), len(cluster.bound("tree", "none"))) == (0, 1)
    assert cluster.evicted == 1
