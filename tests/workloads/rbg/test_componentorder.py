"""In which order components start and go."""

from quorate.workloads.rbg.componentorder import deletion_gates, dependents, has_cycle, may_start

CHAIN = {"router": [], "leader": ["router"], "worker": ["leader"]}


def test_a_circle_is_found_and_an_unknown_name_is_none() -> None:
    assert not has_cycle(CHAIN)
    assert not has_cycle({"a": ["x"]})
    assert has_cycle({"a": ["b"], "b": ["a"]})


def test_components_go_in_the_reverse_order_of_their_start() -> None:
    assert dependents(CHAIN) == {"router": ["leader"], "leader": ["worker"], "worker": []}
    assert deletion_gates(CHAIN, {"worker": ["router"], "router": ["leader"]}) == {
        "router": ["leader"],
        "leader": ["worker"],
        "worker": ["router"],
    }


def test_a_component_starts_when_all_it_waits_for_are_ready() -> None:
    sizes = {"leader": 1, "worker": 2, "none": 0}
    assert may_start(["leader", "worker"], sizes, {"leader": 1, "worker": 2})
    assert not may_start(["leader", "worker"], sizes, {"leader": 1, "worker": 1})
    assert not may_start(["none"], sizes, {})
