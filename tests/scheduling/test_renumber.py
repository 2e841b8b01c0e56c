"""Numbers of nodes and shapes that are gone are given up, and nobody sees a difference."""

from hypothesis import given, settings

from quorate.scheduling.decide import decide
from quorate.scheduling.encode import nodes, pods
from tests.fakes.clusters import Cluster, Group
from tests.fakes.drawn import EXAMPLES, Event, beginnings, of


@settings(max_examples=EXAMPLES, deadline=None)
@given(beginnings())
def test_a_cluster_that_is_numbered_anew_is_decided_the_same(events: list[Event]) -> None:
    cluster = of(events)
    cluster.cycle()
    before = cluster.encoder.snapshot(cluster.now)
    cluster.encoder._renumber()  # noqa: SLF001 - it takes thousands of nodes to come to it
    after = cluster.encoder.snapshot(cluster.now)
    assert decide(before) == decide(after)


def test_nodes_that_come_and_go_under_new_names_take_no_room() -> None:
    cluster = Cluster()
    cluster.gang("g", [Group("", min_member=1, members=1)])
    for number in range(4 * nodes.LITTER):
        cluster.node(f"n{number}", 1)
        if number:
            cluster.lose(f"n{number - 1}")
        if not number % 100:
            cluster.cycle()
    assert len(cluster.encoder._nodes.slots) <= nodes.LITTER + 200  # noqa: SLF001
    cluster.settle()
    assert cluster.bound("g") == [f"n{4 * nodes.LITTER - 1}"]


def test_shapes_of_pods_that_are_gone_take_no_room() -> None:
    cluster, other = Cluster(), Cluster()
    for one in (cluster, other):
        one.node("n", 8)
    for number in range(2 * pods.LITTER):
        cluster.gang("g", [Group("", min_member=1, members=1, cpus=number + 100)])
        if not number % 1000:
            cluster.encoder.snapshot(cluster.now)
    other.gang("g", [Group("", min_member=1, members=1, cpus=2 * pods.LITTER + 99)])
    assert len(cluster.encoder._shapes.requests) < pods.LITTER + 1001  # noqa: SLF001
    mine, yours = (one.encoder.snapshot(0.0) for one in (cluster, other))
    assert len(mine.pods.refs) == len(yours.pods.refs) == 1
    assert (mine.requests[mine.pods.shape] == yours.requests[yours.pods.shape]).all()
