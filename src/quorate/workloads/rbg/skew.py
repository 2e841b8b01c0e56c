"""Coordinated rolling update: the role that is furthest behind moves next, towards the one furthest ahead.

With a of b instances of the fastest role updated, and d instances of the slowest, the slowest may have

    a * d / b - skew .. a * d / b + skew     (rounded; never below 0)

and goes to the middle of that, by half the skew if it is there, by one at least, and at most one beyond.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from quorate.rules.skew import Skew
from quorate.workloads.builtin.amounts import resolve
from quorate.workloads.rbg.amounts import kept_back, rounded

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class UpdateRule:
    """Roles that are updated together; without a skew each goes at its own speed."""

    roles: tuple[str, ...]
    skew: Skew | None = None
    partition: int | str | None = None
    max_unavailable: int | str | None = None


@dataclass(frozen=True, slots=True)
class RolePace:
    """What rules say of one role; None says nothing."""

    max_unavailable: int | str | None = None
    partition: int | str | None = None


def fastest_and_slowest(desired: Counts, updated: Counts) -> tuple[str, str] | None:
    """By the updated share; of equals the larger role counts as slower. None unless there are two roles."""
    if len(desired) < 2:
        return None
    order = sorted(desired, key=lambda role: (_share(updated[role], desired[role]), -desired[role], role))
    return order[-1], order[0]


def bounds(skew: Skew, updated: int, desired: int, total: int) -> tuple[int, int]:
    """How many of `total` may be updated while the reference has `updated` of `desired`."""
    if not desired:
        return 0, 0
    balance, width = Fraction(updated * total, desired), skew.of(total)
    return rounded(max(balance - width, Fraction(0))), rounded(balance + width)


def next_targets(skew: Skew, desired: Counts, updated: Counts) -> dict[str, int]:
    """How many instances of each role may be updated now; only the slowest gets more."""
    found = {role: updated[role] for role in desired}
    pair = fastest_and_slowest(desired, updated)
    if pair is None:
        return dict(desired)
    fastest, slowest = pair
    total, done = desired[slowest], updated[slowest]
    lower, upper = bounds(skew, updated[fastest], desired[fastest], total)
    middle = (lower + upper + 1) // 2
    step = max(middle - done, int(skew.of(total)) // 2, 1)
    found[slowest] = min(done + step, upper + 1, total)
    return found


def paces(rules: Sequence[UpdateRule], desired: Counts, updated: Counts) -> dict[str, RolePace]:
    """What all rules together say of each role now."""
    found: dict[str, RolePace] = {}
    for rule in rules:
        total = {role: desired[role] for role in rule.roles}
        targets = total if rule.skew is None else next_targets(rule.skew, total, updated)
        one = {
            role: RolePace(
                rule.max_unavailable, partition(kept_back(rule.partition, count), count, targets[role])
            )
            for role, count in total.items()
        }
        found = merged(found, one)
    return found


def partition(own: int, desired: int, target: int) -> int:
    """The instances that keep their revision: those of the role itself, or more until its turn comes."""
    return max(own, desired - target, 0)


def merged(first: Mapping[str, RolePace], second: Mapping[str, RolePace]) -> dict[str, RolePace]:
    """Of two rules the stricter: fewer unavailable, a larger partition; compared on a base of 100."""
    found = dict(first)
    for role, pace in second.items():
        before = found.get(role)
        found[role] = pace if before is None else _stricter(before, pace)
    return found


def _stricter(one: RolePace, other: RolePace) -> RolePace:
    unavailable = [amount for amount in (one.max_unavailable, other.max_unavailable) if amount is not None]
    partitions = [amount for amount in (one.partition, other.partition) if amount is not None]
    return RolePace(min(unavailable, key=_of_100, default=None), max(partitions, key=_of_100, default=None))


def _of_100(amount: int | str) -> int:
    return resolve(amount, 100, up=True)


def _share(updated: int, desired: int) -> Fraction:
    return Fraction(updated, desired) if desired else Fraction(1)
