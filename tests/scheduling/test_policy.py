"""What the settings of a cycle change."""

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
