"""Counts of instances that may be percentages, each rounded as the rule asks that reads it; no float anywhere."""

from fractions import Fraction

from quorate.workloads.builtin.amounts import resolve


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
    return resolve(wanted, replicas, up=False) if surge else at_least_one(wanted, replicas)
