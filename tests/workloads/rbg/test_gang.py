"""The gang of a whole group."""

import msgspec
import pytest

from quorate.api.rbg import Role
from quorate.workloads.rbg.gang import GangRole, gang, pods_of

ROLES = {"prefill": GangRole(4, 2), "decode": GangRole(6, 1), "router": GangRole(2, 1)}


def test_without_minimums_every_pod_is_in_the_gang() -> None:
    assert gang(ROLES).min_member == 16
    assert gang(ROLES).roles == ROLES


def test_with_minimums_the_listed_roles_are_in_it_and_the_others_outside() -> None:
    found = gang(ROLES, {"prefill": 2, "decode": 1})
    assert found.min_member == 5
    assert dict(found.roles) == {"prefill": GangRole(2, 2), "decode": GangRole(1, 1)}


def test_minimums_that_cannot_be_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match='names role "x": the group has prefill, decode, router'):
        gang(ROLES, {"x": 1})
    with pytest.raises(ValueError, match=r"minReplicas\.decode is 0"):
        gang(ROLES, {"decode": 0})


def test_pods_of_an_instance_follow_its_pattern() -> None:
    patterns: list[dict[str, object]] = [
        {},
        {"leaderWorkerPattern": {"size": 3}},
        {"customComponentsPattern": {"components": [{"name": "a", "size": 2}, {"name": "b"}]}},
        {"customComponentsPattern": {"components": []}},
    ]
    assert [pods_of(msgspec.convert({"name": "r", **each}, Role)) for each in patterns] == [1, 3, 3, 1]
