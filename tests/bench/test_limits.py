"""The quick tier of the benchmark as a guard: right plans, and no more work than was committed."""

import pytest

from bench.limits import LIMITS, exceeded
from bench.measure import measured
from bench.scenarios import SCENARIOS, Scenario

QUICK = [one for one in SCENARIOS if one.is_quick]


@pytest.mark.parametrize("scenario", QUICK, ids=lambda scenario: scenario.name)
def test_a_scenario_is_decided_rightly_and_costs_no_more_than_it_did(scenario: Scenario) -> None:
    found = measured(scenario, repeat=1)
    assert (found.faults, exceeded(found)) == ([], [])


def test_every_quick_scenario_has_limits() -> None:
    assert {one.name for one in QUICK} == LIMITS.keys()
