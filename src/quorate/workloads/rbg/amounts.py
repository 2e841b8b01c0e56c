"""Counts of instances that may be percentages, each rounded as the rule asks that reads it; no float anywhere.

A skew is how far one role may be ahead of another: a share of what the role wants, or a number of instances.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from quorate.workloads.builtin.amounts import resolve

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


class AmountError(ValueError):
    """A text that is no percentage from 0% to 100%."""


@dataclass(frozen=True, slots=True)
class Skew:
    """`share` of what a role wants, plus `count` instances; one of them is 0."""

    share: Fraction = Fraction(0)
    count: int = 0

    def of(self, desired: int) -> Fraction:
        return self.share * desired + self.count


NO_LIMIT = Skew(Fraction(1))


def share(text: str) -> Fraction:
    found = _PERCENT.fullmatch(text.strip())
    if found is None or Fraction(found[1]) > 100:
        raise AmountError(f'"{text}" is not a percentage from 0% to 100%, such as "5%"')
    return Fraction(found[1]) / 100


def skew(amount: int | str | None) -> Skew:
    """Unset means no limit."""
    if amount is None:
        return NO_LIMIT
    if isinstance(amount, str):
        return Skew(share(amount))
    if amount < 0:
        raise AmountError(f"{amount} is negative: a skew is a count of instances or a percentage")
    return Skew(count=amount)


def kept_back(partition: int | str | None, replicas: int | None) -> int:
    """Instances that keep their revision: rounded up, but less than 100% leaves one to update."""
    total = 1 if replicas is None else replicas
    kept = resolve(partition, total, up=True)
    if isinstance(partition, str) and partition != "100%" and total and kept == total:
        kept = total - 1
    return max(min(kept, total), 0)


def at_least_one(amount: int | str | None, total: int) -> int:
    return max(resolve(amount, total, up=True), 1)


def rounded(value: Fraction) -> int:
    """To the nearest whole number, a half up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def unavailable(amount: int | str | None, surge: int, replicas: int) -> int:
    """Instances that may be missing while a role rolls; unset is 10%.

    Without surge at least one, rounded up: nothing would move else. With surge rounded down.
    """
    wanted = "10%" if amount is None else amount
    return resolve(wanted, replicas, up=False) if surge else max(resolve(wanted, replicas, up=True), 1)
