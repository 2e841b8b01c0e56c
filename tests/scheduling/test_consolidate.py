"""Who is moved so that a waiting gang fits."""

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
