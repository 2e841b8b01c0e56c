"""Numbers that people write into workloads: read exactly, refused with the name of the field."""

import re
from typing import Any

from quorate.grouping.errors import MalformedError

INT32_MAX = 2**31 - 1
_INTEGER = re.compile(r"[+-]?\d{1,12}")


def whole(value: Any, field: str, *, least: int = 0) -> int:
    """A whole number of at least `least`, given as a number or as its text."""
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedError(f"{field}: {value!r} is not a whole number")
    if not least <= value <= INT32_MAX:
        raise MalformedError(f"{field}: {value} is not between {least} and {INT32_MAX}")
    return value


def whole_or(value: Any, default: int, field: str, *, least: int = 0) -> int:
    """The same, with a value for a field that is absent."""
    return default if value is None else whole(value, field, least=least)
