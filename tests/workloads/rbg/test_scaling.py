"""Coordinated scaling by progress."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.rules.skew import skew
from quorate.workloads.rbg.scaling import Gate, ScaledRole, ScalingRule, targets

PAIR = ("prefill", "decode")


def _rule(amount: int | str | None, gate: Gate = Gate.NONE, roles: tuple[str, ...] = PAIR) -> ScalingRule:
    return ScalingRule(roles, skew(amount), gate)


def _roles(**counts: tuple[int, ...]) -> dict[str, ScaledRole]:
    return {name: ScaledRole(*values) for name, values in counts.items()}


@pytest.mark.parametrize(
    ("amount", "prefill", "decode", "expected"),
    [
        ("5%", (300, 0), (100, 0), (15, 5)),
        ("5%", (300, 15), (100, 0), (15, 5)),
        ("5%", (300, 285), (100, 90), (285, 95)),
        ("0%", (300, 3), (100, 1), (4, 2)),
        (None, (300, 0), (100, 0), (300, 100)),
        (2, (10, 4), (10, 4), (6, 6)),
        ("5%", (0, 0), (0, 4), (0, 0)),
    ],
)
def test_no_role_gets_further_ahead_than_the_skew(
    amount: int | str | None, prefill: tuple[int, ...], decode: tuple[int, ...], expected: tuple[int, int]
) -> None:
    found = targets([_rule(amount)], _roles(prefill=prefill, decode=decode))
    assert (found["prefill"], found["decode"]) == expected


@pytest.mark.parametrize(("gate", "expected"), [(Gate.NONE, 30), (Gate.SCHEDULED, 30), (Gate.READY, 15)])
def test_a_gate_waits_for_what_exists(gate: Gate, expected: int) -> None:
    roles = _roles(prefill=(300, 15, 15, 10), decode=(100, 5, 5, 5))
    assert targets([_rule("5%", gate)], roles)["prefill"] == expected


def test_a_role_of_several_rules_takes_the_smallest_target() -> None:
    roles = _roles(prefill=(300, 0), decode=(100, 0), worker=(100, 0))
    found = targets([_rule("5%"), _rule("10%", roles=("prefill", "worker"))], roles)
    assert found == {"prefill": 15, "decode": 5, "worker": 10}


def test_a_rule_names_the_role_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match='role "decode" of the rule does not exist: the group has prefill'):
        targets([_rule("5%")], _roles(prefill=(1, 0)))
    with pytest.raises(ValueError, match="no role states provided"):
        targets([_rule("5%", roles=())], {})


@given(
    desired=st.lists(st.integers(0, 40), min_size=2, max_size=4),
    percent=st.integers(0, 100),
    start=st.data(),
)
@settings(deadline=None)
def test_every_skew_reaches_what_is_desired(desired: list[int], percent: int, start: st.DataObject) -> None:
    rule = _rule(f"{percent}%", Gate.READY, tuple(str(at) for at in range(len(desired))))
    current = {str(at): start.draw(st.integers(0, 50)) for at in range(len(desired))}
    for _ in range(sum(desired) + 2):
        roles = {str(at): ScaledRole(wanted, *[current[str(at)]] * 3) for at, wanted in enumerate(desired)}
        following = targets([rule], roles)
        assert all(following[name] >= min(current[name], roles[name].desired) for name in current)
        current = following
    assert list(current.values()) == desired
