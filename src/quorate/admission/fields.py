"""Faults that fields of several kinds share."""

from collections.abc import Iterator

from quorate.api.duration import DurationError, seconds
from quorate.rules.validity import Cause, Fault


def duration(field: str, text: str | None, *, may_be_negative: bool = False) -> Iterator[Fault]:
    if not text:
        return
    try:
        value = seconds(text)
    except DurationError as error:
        yield Fault(field, str(error), Cause.VALUE)
        return
    if value < 0 and not may_be_negative:
        yield Fault(field, f'"{text}" is negative: write a duration of at least 0s', Cause.VALUE)


def one_of(field: str, value: str, allowed: tuple[str, ...]) -> Iterator[Fault]:
    if value and value not in allowed:
        yield Fault(field, f'"{value}" is not one of {", ".join(allowed)}', Cause.VALUE)


def missing(field: str, message: str) -> Fault:
    """A name that stands for nothing yet: admitted with a warning, as it may be created later."""
    return Fault(field, message, Cause.REFERENCE)
