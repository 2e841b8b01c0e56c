"""Disruption budgets decide who may be a victim: what they forbid is not planned, and is said."""

import pytest
from msgspec.structs import replace

from quorate.api.core import PodStatus
from quorate.api.podspec import LabelSelector
from quorate.api.policy import POD_DISRUPTION_BUDGET, PodDisruptionBudget
from quorate.plan import Evict
from quorate.scheduling.policy import Policy
from tests.fakes.clusters import Cluster, Group


def full(*, elastic: int = 4, gangs: int = 1) -> Cluster:
    """A node that gangs of the lowest priority fill, each with one member it needs."""
    cluster = Cluster()
    cluster.queue("q", quota=-1)
    cluster.node("n", elastic * gangs)
    for at in range(gangs):
        group = Group("", min_member=1, members=elastic, running=("n",) * elastic)
        cluster.gang(f"low{at}", [group], queue="q")
    return cluster


def taker(cluster: Cluster, gpus: int = 1) -> None:
    cluster.gang("high", [Group("", min_member=1, members=1, gpus=gpus)], queue="q", priority=75)


def victims(cluster: Cluster) -> list[str]:
    return sorted(
        change.pod.name.split(".")[0] for change in cluster.cycle().changes if isinstance(change, Evict)
    )


def test_whom_a_budget_guards_is_not_chosen_where_another_would_do() -> None:
    cluster = full(gangs=2)
    cluster.guard("low1", 4)  # the younger, which would go first
    taker(cluster)
    assert victims(cluster) == ["low0"]


def test_no_more_go_than_the_budget_allows_and_the_rest_comes_from_others() -> None:
    cluster = full(gangs=2)
    cluster.guard("low1", 3)
    taker(cluster, gpus=3)
    assert victims(cluster) == ["low0", "low0", "low1"]


def test_where_only_guarded_ones_are_left_the_refusal_names_the_budget() -> None:
    cluster = full()
    cluster.guard("low0", 4)
    for name in ("high", "alike"):
        cluster.gang(name, [Group("", min_member=1, members=1)], queue="q", priority=75)
    plan = cluster.cycle()
    assert not plan.changes
    for refusal in plan.refusals:
        assert refusal.message.endswith("may be evicted now: PodDisruptionBudget ns/low0")
        assert refusal.numbers["budgets"] == ["ns/low0"]


def test_a_budget_that_is_not_in_the_way_is_not_named() -> None:
    cluster = full()
    cluster.guard("low0", 4)
    taker(cluster, gpus=8)
    (refusal,) = cluster.cycle().refusals
    assert "PodDisruptionBudget" not in refusal.message


def test_a_gang_is_not_taken_in_part_where_its_budget_allows_only_some() -> None:
    cluster = Cluster()
    cluster.queue("q", quota=-1)
    cluster.node("n", 4)
    cluster.gang("low", [Group("", min_member=4, members=4, running=("n",) * 4)], queue="q")
    cluster.guard("low", 3)
    taker(cluster)
    assert victims(cluster) == []


def test_one_more_goes_from_where_it_helps_though_others_were_looked_at_before() -> None:
    cluster = Cluster()
    cluster.queue("q", quota=-1)
    for node in ("m", "n"):
        cluster.node(node, 2, rack=node, zone="z")
    cluster.gang("low", [Group("", min_member=1, members=4, running=("m", "m", "n", "n"))], queue="q")
    cluster.guard("low", 3)
    cluster.gang("high", [Group("", min_member=1, members=1)], queue="q", priority=75)
    cluster.dress("high", node_selector={"rack": "m"})
    assert victims(cluster) == ["low"]


@pytest.mark.parametrize("least", [0, 1, 3])
def test_a_broken_gang_goes_as_fast_as_its_budget_allows(least: int) -> None:
    cluster = Cluster(policy=Policy(staleness_grace=0))
    cluster.node("n", 4)
    cluster.gang("broken", [Group("", min_member=8, members=4, running=("n",) * 4)])
    cluster.guard("broken", least)
    assert victims(cluster) == ["broken"] * (4 - least)


def test_of_two_budgets_at_once_nobody_is_evicted() -> None:
    cluster = full()
    cluster.guard("low0", 0)
    cluster.cycle()
    known = cluster.objects[POD_DISRUPTION_BUDGET, "low0"]
    other = replace(known, metadata=replace(known.metadata, name="other"))
    cluster.encoder.update(POD_DISRUPTION_BUDGET, None, other)
    taker(cluster)
    assert victims(cluster) == []


def test_a_budget_whose_status_is_older_than_its_spec_allows_nothing() -> None:
    cluster = full()
    cluster.guard("low0", 0)
    cluster.cycle()
    known = cluster.objects[POD_DISRUPTION_BUDGET, "low0"]
    late = replace(known, metadata=replace(known.metadata, generation=2))
    cluster.encoder.update(POD_DISRUPTION_BUDGET, known, late)
    cluster.budgets.clear()
    taker(cluster)
    assert victims(cluster) == []


def test_pods_that_are_not_ready_cost_a_budget_nothing_while_the_others_suffice() -> None:
    cluster = full()
    last = cluster.pods["low0.3"]
    cluster.change(replace(last, status=PodStatus(phase="Running")))
    cluster.budgets["low0"] = 3
    taker(cluster)
    assert victims(cluster) == ["low0"]


def test_a_budget_that_comes_to_guard_others_frees_those_it_guarded() -> None:
    cluster = full(gangs=2)
    cluster.guard("low1", 4)
    cluster.cycle()
    known = cluster.objects[POD_DISRUPTION_BUDGET, "low1"]
    assert isinstance(known, PodDisruptionBudget)
    other = replace(known.spec, selector=LabelSelector({"gang": "low0"}))
    cluster.show(POD_DISRUPTION_BUDGET, replace(known, spec=other), was=known)
    cluster.budgets.clear()
    taker(cluster)
    assert victims(cluster) == ["low1"]
    cluster.show(POD_DISRUPTION_BUDGET, None, was=known)
    cluster.gang("higher", [Group("", min_member=1, members=1, gpus=7)], queue="q", priority=75)
    assert sorted(set(victims(cluster))) == ["low0", "low1"]
