"""Which domain members go to that come after others of their group."""

import pytest

from tests.fakes.clusters import Cluster, Group


def three_racks() -> Cluster:
    """Racks `a` and `b` in one zone, `c` in another; `c` is the fullest."""
    cluster = Cluster()
    for rack, zone in (("a", "x"), ("b", "x"), ("c", "y")):
        cluster.node(rack, 4, zone=zone, rack=rack)
    cluster.gang("other", [Group("", min_member=1, members=1, gpus=2, running=("c",))])
    return cluster


def test_new_members_go_where_a_preference_has_put_the_others() -> None:
    cluster = three_racks()
    cluster.gang("flat", [Group("", min_member=1, members=2, preferred="rack", running=("a",))])
    leaf = Group("leaf", min_member=1, members=2, preferred="rack", running=("b",))
    cluster.gang("tree", [Group(""), leaf])
    cluster.settle()
    assert (cluster.bound("flat"), cluster.bound("tree")) == (["a", "a"], ["b", "b"])


@pytest.mark.parametrize(("members", "seats"), [(6, "aaaabb"), (10, "aaaabbbbcc")])
def test_new_members_leave_a_preferred_domain_level_by_level(members: int, seats: str) -> None:
    cluster = three_racks()
    cluster.gang("gang", [Group("", min_member=1, members=members, preferred="rack", running=("a",))])
    cluster.settle()
    assert "".join(sorted(cluster.bound("gang"))) == seats


def test_an_optional_child_is_started_where_its_gang_prefers_to_be() -> None:
    cluster = three_racks()
    children = [
        Group(name, min_member=2, members=2, running=("a",) * at) for name, at in (("x", 2), ("y", 0))
    ]
    cluster.gang("gang", [Group("", min_sub_group=1, preferred="zone"), *children])
    cluster.settle()
    assert set(cluster.bound("gang", "y")) <= {"a", "b"}


def test_a_member_that_may_go_anywhere_is_not_held_up_by_a_sibling_that_must_be_in_a_rack() -> None:
    cluster = Cluster()
    cluster.node("outside", 4)
    leaves = [
        Group("bound", min_member=0, members=1, required="rack"),
        Group("free", min_member=0, members=1),
    ]
    cluster.gang("gang", [Group("", min_sub_group=0), *leaves])
    cluster.settle()
    assert (cluster.bound("gang", "bound"), cluster.bound("gang", "free")) == ([], ["outside"])
