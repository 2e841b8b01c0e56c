"""How much is written for many workloads: once for each gang and each pod, and then nothing."""

from bench.grouping import faults, measure


def test_one_write_a_gang_and_one_a_pod_and_none_on_a_second_pass() -> None:
    found = measure(40, 800)
    assert found["pods"] == 800
    assert found["writes"] == {"Apply": found["gangs"], "Patch": 800}
    assert found["writes_again"] == 0
    assert faults(found) == []
    assert faults({**found, "writes_again": 1}) == ["writes after the first pass"]
