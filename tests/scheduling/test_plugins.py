"""Filters and scorers of other packages."""

import numpy as np
import pytest

from quorate.scheduling.plugins import PluginError, extended
from quorate.scheduling.policy import Policy
from quorate.scheduling.snapshot import Bools, Floats, Ints, Snapshot
from quorate.scheduling.trial import Trial
from tests.fakes.clusters import Cluster, Group


def not_on_the_first(snapshot: Snapshot, _shape: int) -> Bools:
    return np.array([name != "a" for name in snapshot.nodes.names])


def last_first(trial: Trial, _shape: int, nodes: Ints | slice) -> Floats:
    return 1e6 * np.arange(len(trial.snapshot.nodes.names), dtype=np.float64)[nodes]


def placed_with(policy: Policy) -> list[str]:
    cluster = Cluster(policy=policy)
    for name in "abc":
        cluster.node(name, 4)
    cluster.gang("job", [Group("", min_member=1, members=1)])
    cluster.settle()
    return cluster.bound("job")


def test_a_filter_closes_nodes_and_a_scorer_orders_them() -> None:
    assert placed_with(Policy()) == ["a"]
    assert placed_with(extended(Policy(), filters=[("mine", not_on_the_first)], scorers=[])) == ["b"]
    assert placed_with(extended(Policy(), filters=[], scorers=[("mine", last_first)])) == ["c"]


def test_what_answers_something_else_is_named() -> None:
    one = extended(Policy(), filters=[("mine", lambda _snapshot, _shape: [1.0])], scorers=[])
    with pytest.raises(PluginError, match=r"^mine: must return one bool for each node"):
        placed_with(one)
    endless = extended(Policy(), filters=[], scorers=[("mine", lambda _trial, _shape, _nodes: [np.inf] * 3)])
    with pytest.raises(PluginError, match=r"^mine: must return one finite number for each node"):
        placed_with(endless)
