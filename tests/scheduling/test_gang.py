"""The tree on arrays means what `rules.tree` means."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.rules import tree as rules
from quorate.scheduling import gang, growth
from quorate.scheduling.agenda import Start
from quorate.scheduling.core import core_of
from quorate.scheduling.policy import Policy, new_trial
from quorate.scheduling.trial import Trial
from tests.fakes.clusters import Cluster, Group
from tests.fakes.drawn import trees


@st.composite
def running_gangs(draw: st.DrawFn) -> tuple[Cluster, dict[str, int], dict[str, int]]:
    """A gang of which some members run: active and live members by leaf."""
    cluster = Cluster()
    cluster.node("n", 99, zone="z", rack="r")
    groups = [
        Group(
            **{
                **vars(group),
                "running": ("n",) * draw(st.integers(0, group.members)),
            }
        )
        for group in draw(trees())
    ]
    cluster.gang("g", groups)
    active = {group.name: len(group.running) for group in groups}
    return cluster, active, {group.name: group.members for group in groups}


def trial_of(cluster: Cluster) -> Trial:
    return new_trial(cluster.encoder.snapshot(cluster.now), Policy())


@settings(max_examples=200, deadline=None)
@given(running_gangs())
def test_satisfied_agrees_with_the_rules(drawn: tuple[Cluster, dict[str, int], dict[str, int]]) -> None:
    cluster, active, _ = drawn
    trial = trial_of(cluster)
    names = trial.snapshot.groups.names
    holds = {name: gang.is_satisfied(trial, row) for row, name in enumerate(names)}
    assert holds == rules.satisfied(rules.build(cluster.podgroups["g"]), active)
    at_once = gang.all_satisfied(trial.snapshot.groups, trial.active)
    assert holds == dict(zip(names, at_once.tolist(), strict=True))


@settings(max_examples=200, deadline=None)
@given(running_gangs())
def test_next_steps_agree_with_the_rules(drawn: tuple[Cluster, dict[str, int], dict[str, int]]) -> None:
    cluster, active, live = drawn
    trial = trial_of(cluster)
    names = trial.snapshot.groups.names
    wanted = [unit.group for unit in rules.units(rules.build(cluster.podgroups["g"]), active, live)]
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
    assert found == rules.core(rules.build(cluster.podgroups["g"]), after)
