"""Resource quantities as the API server reads and prints them: parse exactly, print in canonical form.

Defaulting rewrites what a client sent to the canonical form, validation compares exact values.
"""

import re
from collections.abc import Callable
from functools import lru_cache

NANO = 1_000_000_000
_FORM = re.compile(
    r"([+-]?)(\d+(?:\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d{1,3})?", re.ASCII
)
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
BAD_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@lru_cache(maxsize=4096)
def nanos(text: str) -> int:
    """The value in billionths, rounded away from zero; raises ValueError for what is no quantity."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(BAD_FORMAT)
    sign, number, suffix = match.groups(default="")
    whole, _, fraction = number.partition(".")
    mantissa = int(whole + fraction or "0") * NANO
    if suffix in _BINARY:
        mantissa *= 1024 ** _BINARY.index(suffix)
        exponent = -len(fraction)
    else:
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        exponent -= len(fraction)
    scale: int = 10 ** abs(exponent)
    size = mantissa * scale if exponent >= 0 else -(-mantissa // scale)
    return -size if sign == "-" else size


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The form the server stores: no fraction, the largest suffix that keeps it whole, milli precision."""
    size = nanos(text)
    step = NANO // 1000
    if size % step:
        size += step - size % step if size > 0 else -(size % step)
    suffix = text.strip()[-2:]
    if suffix in _BINARY and abs(size) >= 1024 * NANO:
        return _binary(size)
    if re.search(r"[eE][+-]?\d+$", text):
        return _scaled(size, lambda power: f"e{power}" if power else "")
    return _scaled(size, lambda power: _SUFFIX.get(power, f"e{power}"))


def _binary(size: int) -> str:
    units = -(-abs(size) // NANO)
    power = 0
    while units % 1024 == 0 and power < len(_BINARY) - 1:
        units //= 1024
        power += 1
    return f"{'-' if size < 0 else ''}{units}{_BINARY[power]}"


def _scaled(size: int, suffix: Callable[[int], str]) -> str:
    if not size:
        return "0"
    power = -9
    while size % 1000 == 0 and power < 18:
        size //= 1000
        power += 3
    return f"{size}{suffix(power)}"
