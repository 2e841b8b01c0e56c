"""The tree on arrays means what `rules.tree` means, and what the model of its next steps says."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.rules import tree as rules
from quorate.scheduling import gang, growth
from quorate.scheduling.agenda import Start
from quorate.scheduling.core import core_of
from quorate.scheduling.victims import next_unit
from tests.fakes.clusters import Cluster
from tests.fakes.drawn import trees
from tests.fakes.onegang import NAME, NODE, by_leaf, one_gang, started, trial_of
from tests.scheduling import tree_model as model


@st.composite
def running_gangs(draw: st.DrawFn) -> tuple[Cluster, dict[str, int], dict[str, int]]:
    """A gang of which some members run: active and live members by leaf."""
    groups = [
        replace(group, running=(NODE,) * draw(st.integers(0, group.members))) for group in draw(trees())
    ]
    kind = draw(st.sampled_from(["preemptible", "semi-preemptible"]))
    active = {group.name: len(group.running) for group in groups}
    return one_gang(groups, preemptibility=kind), active, {group.name: group.members for group in groups}


@settings(max_examples=200, deadline=None)
@given(running_gangs())
def test_satisfied_agrees_with_the_rules(drawn: tuple[Cluster, dict[str, int], dict[str, int]]) -> None:
    cluster, active, _ = drawn
    trial = trial_of(cluster)
    names = trial.snapshot.groups.names
    holds = {name: gang.is_satisfied(trial, row) for row, name in enumerate(names)}
    assert holds == rules.satisfied(rules.build(cluster.podgroups[NAME]), active)
    at_once = gang.all_satisfied(trial.snapshot.groups, trial.active)
    assert holds == dict(zip(names, at_once.tolist(), strict=True))


@settings(max_examples=200, deadline=None)
@given(running_gangs())
def test_next_steps_agree_with_the_model(drawn: tuple[Cluster, dict[str, int], dict[str, int]]) -> None:
    cluster, active, live = drawn
    trial = trial_of(cluster)
    names = trial.snapshot.groups.names
    wanted = model.units(rules.build(cluster.podgroups[NAME]), active, live)
    got = [names[step.group if isinstance(step, Start) else step.leaf] for step in growth.steps(trial, 0)]
    assert got == [name for name in wanted if name in got]
    assert bool(got) == bool(wanted)


@settings(max_examples=200, deadline=None)
@given(running_gangs(), st.data())
def test_the_core_agrees_with_the_rules_whoever_comes(
    drawn: tuple[Cluster, dict[str, int], dict[str, int]], data: st.DataObject
) -> None:
    cluster, active, _ = drawn
    trial = trial_of(cluster)
    waiting = trial.pending(0)
    more = waiting[: data.draw(st.integers(0, len(waiting)))]
    names = trial.snapshot.groups.names
    after = Counter(active)
    after.update(names[leaf] for leaf in trial.snapshot.pods.leaf[more])
    found = Counter(names[leaf] for leaf in trial.snapshot.pods.leaf[core_of(trial, 0, more)])
    assert found == rules.core(rules.build(cluster.podgroups[NAME]), after)


@settings(max_examples=300, deadline=None)
@given(running_gangs())
def test_a_started_unit_satisfies_its_group_with_members_that_exist(
    drawn: tuple[Cluster, dict[str, int], dict[str, int]],
) -> None:
    cluster, active, live = drawn
    trial = trial_of(cluster)
    more = started(trial)
    after = {name: active[name] + more.get(name, 0) for name in active}
    assert all(after[name] <= live[name] for name in after)
    assert bool(more) <= rules.satisfied(rules.build(cluster.podgroups[NAME]), after)[rules.ROOT]


@settings(max_examples=300, deadline=None)
@given(running_gangs())
def test_victims_agree_with_the_model_to_the_last_and_leave_the_core(
    drawn: tuple[Cluster, dict[str, int], dict[str, int]],
) -> None:
    cluster, active, _ = drawn
    trial = trial_of(cluster)
    podgroup = cluster.podgroups[NAME]
    tree, is_semi = rules.build(podgroup), podgroup.spec.preemptibility == "semi-preemptible"
    core = rules.core(tree, active) if is_semi else {}
    left = Counter(active)
    while len(unit := next_unit(trial, 0)):
        taken = by_leaf(trial, unit)
        assert taken == model.next_victim(tree, left, protected=core)
        trial.evict(unit)
        left -= Counter(taken)
    assert not model.next_victim(tree, left, protected=core)
    assert left >= Counter(core)
