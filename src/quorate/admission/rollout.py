"""Counts that may be percentages, as rollouts of workloads take them; the texts are Kubernetes' own."""

import re
from collections.abc import Iterator

from quorate.rules.validity import Cause, Fault

_PERCENT = re.compile(r"[0-9]+%")
_SCALABLE = re.compile(r"[+-]?[0-9]+%")
_PERCENT_TEXT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)

Amount = int | str


def invalid(field: str, value: object, message: str) -> Fault:
    shown = f'"{value}"' if isinstance(value, str) else "null" if value is None else value
    return Fault(field, f"Invalid value: {shown}: {message}", Cause.VALUE)


def amount_faults(field: str, amount: Amount) -> Iterator[Fault]:
    """A count of at least 0, or a percentage of at most 100."""
    if isinstance(amount, int):
        if amount < 0:
            yield invalid(field, amount, "must be greater than or equal to 0")
    elif not _PERCENT.fullmatch(amount):
        yield invalid(field, amount, _PERCENT_TEXT)
    elif int(amount[:-1]) > 100:
        yield invalid(field, amount, "must not be greater than 100%")


def budget_faults(root: str, max_unavailable: Amount, max_surge: Amount, replicas: int) -> Iterator[Fault]:
    """A rollout needs room: either extra groups, or groups that may be missing."""
    unavailable, surge = f"{root}.maxUnavailable", f"{root}.maxSurge"
    yield from amount_faults(unavailable, max_unavailable)
    yield from amount_faults(surge, max_surge)
    missing = scaled(max_unavailable, replicas, up=False)
    extra = scaled(max_surge, replicas, up=True)
    if missing is None:
        yield invalid(unavailable, max_unavailable, "invalid value")
    if extra is None:
        yield invalid(surge, max_surge, "invalid value")
    if replicas and not missing and not extra:
        yield invalid(unavailable, max_unavailable, "must not be 0 when `maxSurge` is 0")


def scaled(amount: Amount, total: int, *, up: bool) -> int | None:
    """The count that an amount means; None for a text that means none."""
    if isinstance(amount, int):
        return amount
    if not _SCALABLE.fullmatch(amount):
        return None
    share = int(amount[:-1]) * total
    return -(-share // 100) if up else share // 100
