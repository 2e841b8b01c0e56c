"""Filters and scorers of other packages."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from quorate.scheduling.plugins import PluginError, extended
from quorate.scheduling.policy import Policy
from quorate.scheduling.snapshot import Bools, Floats, Ints, Snapshot
from quorate.scheduling.trial import Trial
from tests.fakes.clusters import Cluster, Group


@dataclass(frozen=True)
class Installed:
    """An entry point as an installed package makes it."""

    name: str
    function: Any
    value: str = "package:function"

    def load(self) -> Any:
        return self.function


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
    assert placed_with(extended(Policy(), [Installed("mine", not_on_the_first)], [])) == ["b"]
    assert placed_with(extended(Policy(), [], [Installed("mine", last_first)])) == ["c"]


def test_what_is_no_function_is_named() -> None:
    with pytest.raises(PluginError, match=r"entry point mine of quorate\.filters .*no function"):
        extended(Policy(), [Installed("mine", 3)], [])


def test_a_filter_that_answers_something_else_is_named() -> None:
    policy = extended(Policy(), [Installed("mine", lambda _snapshot, _shape: [1.0])], [])
    with pytest.raises(PluginError, match="one bool for each node"):
        placed_with(policy)
