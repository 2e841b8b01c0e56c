"""Coordinated scaling by progress: no role gets further ahead of the slowest than the policy's skew.

The progress of a role that has c of d instances is c / d. With p the smallest progress of the unfinished
roles, a role may have p * d instances and the skew beyond them; the slowest always gets one more, so that a
skew of nothing is slow and never a stand-still. Whoever is at its desired count, or above it, goes there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil

from quorate.rules.skew import NO_LIMIT, Skew


class Gate(StrEnum):
    NONE = ""  # more instances whenever the skew allows
    SCHEDULED = "OrderScheduled"  # only while every instance that exists has its nodes
    READY = "OrderReady"  # only while every instance that exists is ready


@dataclass(frozen=True, slots=True)
class ScaledRole:
    """Instances of a role; `scheduled` counts instances, not pods."""

    desired: int
    current: int = 0
    scheduled: int = 0
    ready: int = 0

    @property
    def is_growing(self) -> bool:
        return self.current < self.desired

    @property
    def progress(self) -> Fraction:
        return Fraction(self.current, self.desired)


@dataclass(frozen=True, slots=True)
class ScalingRule:
    roles: tuple[str, ...]
    skew: Skew = NO_LIMIT
    gate: Gate = Gate.NONE


def targets(rules: Sequence[ScalingRule], roles: Mapping[str, ScaledRole]) -> dict[str, int]:
    """A role in several rules gets the smallest of its targets; rules do not hold one another."""
    found: dict[str, int] = {}
    for rule in rules:
        for name, target in rule_targets(rule, roles).items():
            found[name] = min(target, found.get(name, target))
    return found


def rule_targets(rule: ScalingRule, roles: Mapping[str, ScaledRole]) -> dict[str, int]:
    if not rule.roles:
        raise ValueError("no role states provided")
    unknown = next((name for name in rule.roles if name not in roles), None)
    if unknown is not None:
        raise ValueError(f'role "{unknown}" of the rule does not exist: the group has {", ".join(roles)}')
    among = {name: roles[name] for name in rule.roles}
    growing = [role for role in among.values() if role.is_growing]
    slowest = min((role.progress for role in growing), default=Fraction(1))
    is_open = all(_passes(rule.gate, role) for role in growing)
    return {name: _target(role, rule.skew, slowest, is_open=is_open) for name, role in among.items()}


def _passes(gate: Gate, role: ScaledRole) -> bool:
    if gate is Gate.NONE:
        return True
    return (role.ready if gate is Gate.READY else role.scheduled) >= role.current


def _target(role: ScaledRole, skew: Skew, slowest: Fraction, *, is_open: bool) -> int:
    if not role.is_growing:
        return role.desired
    allowed = slowest * role.desired + skew.of(role.desired)
    if not is_open or (role.current >= allowed and role.progress > slowest):
        return role.current
    return min(role.desired, max(role.current + 1, ceil(allowed)))
