"""A scenario is measured in a process of its own, whose end is not that of the benchmark."""

from bench.measure import alone


def test_a_scenario_whose_process_dies_is_told_from_one_that_was_measured() -> None:
    assert alone("a name that no scenario has", repeat=1) is None
    found = alone("D6 impossible on 100 nodes", repeat=1)
    assert found is not None
    assert (found.name, found.faults) == ("D6 impossible on 100 nodes", [])
