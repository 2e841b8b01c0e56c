"""Coordinated rolling update."""

from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.rules.skew import skew
from quorate.workloads.rbg.skew import RolePace, bounds, fastest_and_slowest, merged, next_targets, partition


def test_of_equals_the_larger_role_is_slower() -> None:
    assert fastest_and_slowest({"a": 200, "b": 100}, {"a": 20, "b": 10}) == ("b", "a")
    assert fastest_and_slowest({"a": 200}, {"a": 20}) is None


def test_bounds_lie_around_the_share_of_the_reference() -> None:
    assert bounds(skew("5%"), 50, 100, 200) == (90, 110)
    assert bounds(skew("10%"), 1, 10, 10) == (0, 2)
    assert bounds(skew(3), 10, 20, 20) == (7, 13)
    assert bounds(skew("10%"), 0, 0, 100) == (0, 0)


def test_only_the_slowest_moves_and_goes_to_the_middle() -> None:
    found = next_targets(skew("5%"), {"prefill": 40, "decode": 20}, {"prefill": 10, "decode": 3})
    assert found == {"prefill": 10, "decode": 5}


def test_a_single_role_is_not_held() -> None:
    assert next_targets(skew("5%"), {"a": 9}, {"a": 0}) == {"a": 9}


def test_a_roles_own_partition_is_never_undercut() -> None:
    assert (partition(2, 10, 3), partition(8, 10, 3), partition(0, 10, 12)) == (7, 8, 0)


def test_of_two_rules_the_stricter_counts() -> None:
    one = {"a": RolePace("20%", 5), "b": RolePace(None, 1)}
    other = {"a": RolePace("10%", 3), "b": RolePace(2, None), "c": RolePace(1, 1)}
    assert merged(one, other) == {"a": RolePace("10%", 5), "b": RolePace(2, 1), "c": RolePace(1, 1)}


@given(desired=st.lists(st.integers(1, 60), min_size=2, max_size=4), percent=st.integers(0, 100))
@settings(deadline=None)
def test_every_role_is_updated_in_the_end(desired: list[int], percent: int) -> None:
    wanted = {str(at): count for at, count in enumerate(desired)}
    updated = dict.fromkeys(wanted, 0)
    for _ in range(sum(desired)):
        following = next_targets(skew(f"{percent}%"), wanted, updated)
        assert all(updated[name] <= following[name] <= wanted[name] for name in wanted)
        updated = following
    assert updated == wanted
