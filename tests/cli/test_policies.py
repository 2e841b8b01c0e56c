"""The file that says how the scheduler decides."""

from pathlib import Path

import pytest

from quorate.cli.policies import PolicyError, Scheduling, parse_policy
from quorate.scheduling.minruntime import Method
from quorate.scheduling.policy import Action, Policy, Spread
from tests.fakes.command import Quorate

EVERYTHING = """
actions: [allocate, reclaim]
spread: [cpu]
stalenessGracePeriod: 2m
reclaimMinRuntimeMethod: queue
saturationMultiplier: 1.2
evictedPerRequested: 4
consolidation: {movedUnits: 16, tries: 4}
search: {bulkStates: 100, exactStates: 1000, exactNodes: 16}
usage: {halfLife: 168h, factor: 0.5}
"""


def test_a_file_states_everything() -> None:
    policy = Policy(
        actions=(Action.ALLOCATE, Action.RECLAIM),
        spread=frozenset({Spread.CPU}),
        usage_factor=0.5,
        staleness_grace=120.0,
        reclaim_min_runtime=Method.QUEUE,
        saturation_multiplier=1.2,
        evicted_per_requested=4.0,
        moved_units=16,
        moving_tries=4,
        bulk_limit=100,
        exact_limit=1000,
        exact_nodes=16,
    )
    assert parse_policy(EVERYTHING) == Scheduling(policy, 7 * 24 * 3600.0)


@pytest.mark.parametrize("text", ["", "{}", "# nothing yet\n"])
def test_a_file_that_states_nothing_changes_nothing(text: str) -> None:
    assert parse_policy(text) == Scheduling()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("actions: [allocate, [", "this is not YAML"),
        ("- allocate", "the file: Expected `object`, got `array`"),
        ("action: [allocate]", "the file: Object contains unknown field `action`"),
        ("actions: [evict]", "actions[0]: Invalid enum value 'evict'"),
        ("actions: [allocate, allocate]", "actions: each may stand here once"),
        ("stalenessGracePeriod: 60", "stalenessGracePeriod: Expected `str`, got `int`"),
        ("stalenessGracePeriod: 1 minute", 'stalenessGracePeriod: "1 minute" is not a duration'),
        ("saturationMultiplier: 0.5", "saturationMultiplier: Expected `float` >= 1.0"),
        ("evictedPerRequested: 0", "evictedPerRequested: Expected `float` >= 1.0"),
        ("search: {exactNodes: 0}", "search.exactNodes: Expected `int` >= 1"),
        ("usage: {}", "usage: Object missing required field `halfLife`"),
        ("usage: {halfLife: 0s}", 'usage.halfLife: "0s" forgets everything at once'),
    ],
)
def test_what_means_nothing_is_refused_at_its_place(text: str, told: str) -> None:
    with pytest.raises(PolicyError) as refused:
        parse_policy(text)
    assert str(refused.value).startswith(told)


@pytest.mark.parametrize("command", ["run", "up"])
def test_the_command_line_names_the_file(quorate: Quorate, tmp_path: Path, command: str) -> None:
    file = tmp_path / "policy.yaml"
    ended = quorate(command, "--policy-file", str(file))
    assert (ended.status, ended.line) == (2, f"quorate: --policy-file {file}: no such file")
    file.write_text("spread: [tpu]")
    ended = quorate(command, "--policy-file", str(file))
    assert ended.status == 2
    assert ended.line == f"quorate: --policy-file {file}: spread[0]: Invalid enum value 'tpu'"
