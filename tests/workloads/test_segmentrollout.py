"""Which segment is updated next, and what each role's set is told."""

from quorate.workloads.segmentgangs import Team
from quorate.workloads.segmentrollout import RoleRevision, RoleUpdate, update

TEAM = Team("pd", {"prefill": 4, "decode": 2})


def _all(count: int) -> frozenset[int]:
    return frozenset(range(count))


def test_the_highest_old_segment_is_updated_in_every_role() -> None:
    roles = {"prefill": RoleRevision(10, _all(10)), "decode": RoleRevision(5, _all(5))}
    found = update(TEAM, roles)
    assert found.segment == 2
    assert {role: told.partition for role, told in found.roles.items()} == {"prefill": 9, "decode": 4}
    assert dict(found.waits_for) == {"prefill": (8, 9), "decode": (4,)}


def test_a_segment_waits_until_the_one_above_is_ready_in_every_role() -> None:
    roles = {"prefill": RoleRevision(8, _all(4)), "decode": RoleRevision(4, _all(2), frozenset({3}))}
    found = update(TEAM, roles)
    assert (found.segment, dict(found.waits_for)) == (1, {"decode": (3,)})
    assert {role: told.partition for role, told in found.roles.items()} == {"prefill": 4, "decode": 3}


def test_an_old_instance_that_fails_below_holds_nothing() -> None:
    roles = {"prefill": RoleRevision(8, _all(8), frozenset({0})), "decode": RoleRevision(4)}
    assert update(TEAM, roles).segment == 1


def test_a_segment_that_never_started_holds_nothing() -> None:
    roles = {"prefill": RoleRevision(8, _all(4), frozenset({4, 5, 6, 7})), "decode": RoleRevision(4)}
    assert update(TEAM, roles).segment == 1
    assert update(TEAM, roles, frozenset({1})).segment == 0


def test_a_segment_that_never_started_is_updated_last_if_it_alone_is_old() -> None:
    found = update(
        TEAM, {"prefill": RoleRevision(8, frozenset({4})), "decode": RoleRevision(4)}, frozenset({1})
    )
    assert (found.segment, found.roles["prefill"].partition) == (1, 4)


def test_instances_below_the_users_partition_stay_old() -> None:
    roles = {"prefill": RoleRevision(8, _all(6), partition=6), "decode": RoleRevision(4)}
    found = update(TEAM, roles)
    assert (found.segment, found.roles["prefill"].partition) == (None, 6)


def test_a_pause_keeps_new_instances_new_and_old_ones_old() -> None:
    roles = {"prefill": RoleRevision(8, _all(5)), "decode": RoleRevision(4, _all(2), paused=True)}
    found = update(TEAM, roles)
    assert found.segment is None
    assert {role: told.partition for role, told in found.roles.items()} == {"prefill": 5, "decode": 2}


def test_the_partition_lets_as_many_go_as_may_be_unavailable_in_the_segment() -> None:
    roles = {
        "prefill": RoleRevision(8, _all(8), max_unavailable="50%"),
        "decode": RoleRevision(4, _all(4), max_unavailable=9),
    }
    found = update(TEAM, roles).roles
    assert {role: told.partition for role, told in found.items()} == {"prefill": 6, "decode": 2}
    halfway = {**roles, "prefill": RoleRevision(8, _all(6), frozenset({7}), max_unavailable="50%")}
    assert update(TEAM, halfway).roles["prefill"].partition == 5


def test_with_surge_the_set_keeps_to_its_budget_beside_what_is_not_ready_elsewhere() -> None:
    roles = {
        "prefill": RoleRevision(8, _all(8), frozenset({0}), max_unavailable=0, max_surge="50%"),
        "decode": RoleRevision(4),
    }
    assert update(TEAM, roles).roles["prefill"] == RoleUpdate(4, max_unavailable=1, max_surge=2)


def test_while_a_segment_waits_for_room_there_is_no_surge() -> None:
    roles = {
        "prefill": RoleRevision(8, _all(4), frozenset({4, 5, 6, 7}), max_unavailable=0, max_surge=1),
        "decode": RoleRevision(4),
    }
    assert update(TEAM, roles, frozenset({1})).roles["prefill"] == RoleUpdate(
        3, max_unavailable=8, max_surge=0
    )


def test_nothing_old_leaves_everything_to_the_new_revision() -> None:
    found = update(TEAM, {"prefill": RoleRevision(8), "decode": RoleRevision(4)})
    assert (found.segment, found.roles["prefill"].partition, dict(found.waits_for)) == (None, 0, {})
