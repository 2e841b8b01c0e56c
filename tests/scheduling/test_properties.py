"""What holds for every cluster: drawn at random, checked by the cluster's own judge."""

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.clusters import Cluster, Group

EXAMPLES = 20_000 if os.environ.get("QUORATE_NIGHTLY") else 120
LEVEL = st.sampled_from(["", "", "zone", "rack"])


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    cluster = Cluster()
    for number in range(draw(st.integers(1, 5))):
        zone, rack = draw(st.sampled_from("ab")), draw(st.sampled_from("xy"))
        cluster.node(f"n{number}", draw(st.integers(0, 8)), zone=zone, rack=rack)
    if draw(st.booleans()):
        cluster.queue("left", quota=draw(st.integers(0, 8)), limit=draw(st.sampled_from([-1, 4, 12])))
        cluster.queue("right", quota=draw(st.integers(0, 8)))
        queues = st.sampled_from(["left", "right"])
    else:
        queues = st.just("")
    for number in range(draw(st.integers(1, 4))):
        cluster.gang(
            f"g{number}",
            draw(trees()),
            queue=draw(queues),
            priority=draw(st.sampled_from([50, 75, 125])),
            preemptibility=draw(st.sampled_from(["", "preemptible", "non-preemptible", "semi-preemptible"])),
        )
    return cluster


@st.composite
def trees(draw: st.DrawFn) -> list[Group]:
    count = draw(st.integers(0, 3))
    if not count:
        return [draw(leaves("", ""))]
    root = Group("", min_sub_group=draw(st.sampled_from([None, 1, 2])), required=draw(LEVEL))
    found = [root]
    for at in range(count):
        if draw(st.integers(0, 3)):
            found.append(draw(leaves(f"c{at}", "")))
            continue
        least = draw(st.sampled_from([None, 1]))
        found.append(Group(f"c{at}", min_sub_group=least, min_member=draw(st.sampled_from([None, 2]))))
        found += [draw(leaves(f"c{at}-{below}", f"c{at}")) for below in range(2)]
    return found


@st.composite
def leaves(draw: st.DrawFn, name: str, parent: str) -> Group:
    return Group(
        name,
        parent=parent,
        min_member=draw(st.integers(0, 3)),
        members=draw(st.integers(0, 4)),
        gpus=draw(st.integers(1, 4)),
        required=draw(LEVEL),
        preferred=draw(st.sampled_from(["", "", "", "rack"])),
    )


@settings(max_examples=EXAMPLES, deadline=None)
@given(clusters())
def test_nothing_is_over_committed_nor_bound_below_a_minimum(cluster: Cluster) -> None:
    for _ in range(12):
        plan = cluster.cycle()
        assert not list(cluster.faults())
        if not plan.changes:
            return


@settings(max_examples=EXAMPLES, deadline=None)
@given(clusters())
def test_a_cluster_comes_to_rest_and_stays_there(cluster: Cluster) -> None:
    cluster.settle()
    for _ in range(3):
        assert not cluster.cycle().changes
