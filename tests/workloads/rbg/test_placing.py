"""How many instances roles may have now, with segments, rules and dependencies together."""

from typing import Any

import msgspec

from quorate.api.rbg import ROLE_BASED_GROUP, RoleBasedGroup
from quorate.workloads.rbg.group import Group, read
from quorate.workloads.rbg.instances import Instances
from quorate.workloads.rbg.placing import Held, targets

Json = dict[str, Any]
NOTHING = Held(None, Instances())


def _group(roles: dict[str, int], *rules: Json, needs: dict[str, list[str]] | None = None) -> Group:
    template = {"spec": {"containers": [{"name": "c"}]}}
    wire = {
        "metadata": {"name": "g"},
        "spec": {
            "roles": [
                {
                    "name": name,
                    "replicas": count,
                    "template": template,
                    "dependencies": (needs or {}).get(name),
                }
                for name, count in roles.items()
            ],
            "coordinationRequirements": list(rules),
        },
    }
    group = read(ROLE_BASED_GROUP, msgspec.convert(wire, RoleBasedGroup))
    assert not group.faults
    return group


def _held(
    told: int, *, existing: int | None = None, ready: int | None = None, bound: int | None = None
) -> Held:
    there = told if existing is None else existing
    return Held(
        told,
        Instances(
            existing=frozenset(range(there)),
            ready=frozenset(range(there if ready is None else ready)),
            bound=frozenset(range(there if bound is None else bound)),
        ),
    )


def _rule(progression: str = "", skew: str = "10%") -> Json:
    return {"name": "r", "strategy": {"scaling": {"maxSkew": skew, "progression": progression}}}


def test_a_rule_lets_no_role_get_ahead_of_the_others() -> None:
    group = _group({"prefill": 20, "decode": 10}, _rule())
    assert targets(group, {"prefill": NOTHING, "decode": NOTHING}).replicas == {"prefill": 2, "decode": 1}
    behind = {"prefill": _held(4), "decode": _held(1)}
    assert targets(group, behind).replicas == {"prefill": 4, "decode": 2}


def test_a_rule_makes_the_next_instances_when_the_last_ones_exist() -> None:
    group = _group({"prefill": 20, "decode": 10}, _rule())
    found = targets(group, {"prefill": _held(2, existing=1), "decode": _held(1)})
    assert found.replicas == {"prefill": 2, "decode": 1}


def test_a_rule_waits_for_nodes_or_for_readiness_if_it_says_so() -> None:
    held = {"prefill": _held(2, ready=1, bound=2), "decode": _held(1)}
    grown = {
        gate: targets(_group({"prefill": 20, "decode": 10}, _rule(gate)), held).replicas["prefill"]
        for gate in ("", "OrderScheduled", "OrderReady")
    }
    assert grown == {"": 4, "OrderScheduled": 4, "OrderReady": 2}


def test_a_role_in_segments_follows_them_alone_and_is_still_measured() -> None:
    """Ratios that disagree: with both, prefill would wait for decode's segment, and decode for prefill's share."""
    segments = {"name": "s", "strategy": {"segmentPlacement": {"segmentSize": {"prefill": 1, "decode": 5}}}}
    group = _group({"prefill": 100, "decode": 10, "router": 10}, segments, _rule(skew="0%"))
    found = targets(group, {"prefill": NOTHING, "decode": NOTHING, "router": _held(2)})
    assert found.replicas == {"prefill": 1, "decode": 5, "router": 2}


def test_an_unready_dependency_holds_only_those_that_wait_for_it() -> None:
    group = _group({"a": 4, "b": 4, "c": 4}, needs={"b": ["a"]})
    found = targets(group, {"a": _held(4, ready=3), "b": _held(2), "c": _held(1)})
    assert (found.replicas, found.waits["b"]) == ({"a": 4, "b": 2, "c": 4}, ("a",))


def test_a_role_that_waits_still_shrinks() -> None:
    group = _group({"a": 4, "b": 1}, needs={"b": ["a"]})
    assert targets(group, {"a": _held(4, ready=0), "b": _held(3)}).replicas["b"] == 1
