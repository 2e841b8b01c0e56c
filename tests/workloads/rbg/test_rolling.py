"""What sets are told about updates by rules of a policy."""

from typing import Any

import msgspec

from quorate.api.rbg import ROLE_BASED_GROUP, RoleBasedGroup
from quorate.workloads.rbg.group import read
from quorate.workloads.rbg.instances import Instances
from quorate.workloads.rbg.placing import Held, targets
from quorate.workloads.rbg.rolling import Told, told

NEW = {"prefill": "new", "decode": "new"}


def _held(count: int, updated: int) -> Held:
    all_ = frozenset(range(count))
    revisions = {at: frozenset({"new" if at >= count - updated else "old"}) for at in range(count)}
    return Held(count, Instances(all_, all_, all_, revisions))


def _told(strategy: dict[str, Any], updated: tuple[int, int], *, partition: int = 0) -> dict[str, Told]:
    template = {"spec": {"containers": [{"name": "c"}]}}
    roles = [
        {
            "name": name,
            "replicas": count,
            "template": template,
            "rolloutStrategy": {"rollingUpdate": {"partition": partition}},
        }
        for name, count in (("prefill", 40), ("decode", 20))
    ]
    rules = [{"name": "r", "strategy": {"rollingUpdate": strategy}}]
    wire = {"metadata": {"name": "g"}, "spec": {"roles": roles, "coordinationRequirements": rules}}
    group = read(ROLE_BASED_GROUP, msgspec.convert(wire, RoleBasedGroup))
    held = {"prefill": _held(40, updated[0]), "decode": _held(20, updated[1])}
    return told(group, targets(group, held), held, {}, NEW)


def test_only_the_role_that_is_furthest_behind_may_go_on() -> None:
    found = _told({"maxSkew": "5%"}, (10, 3))
    assert {name: one.partition for name, one in found.items()} == {"prefill": 30, "decode": 15}


def test_once_all_is_new_nothing_is_held_back() -> None:
    assert {one.partition for one in _told({"maxSkew": "5%"}, (40, 20)).values()} == {0}


def test_a_rule_says_what_may_be_unavailable_and_what_stays_old() -> None:
    found = _told({"maxUnavailable": 4, "partition": "50%"}, (0, 0))
    assert {name: (one.partition, one.max_unavailable) for name, one in found.items()} == {
        "prefill": (20, 4),
        "decode": (10, 4),
    }


def test_a_rule_never_undercuts_the_partition_of_a_role() -> None:
    assert _told({"partition": 3}, (0, 0), partition=7)["prefill"].partition == 7
