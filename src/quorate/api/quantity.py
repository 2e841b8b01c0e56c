"""Kubernetes quantities as exact integers: `milli` and `units` read every form, `canonical` writes them back.

A quantity is a signed decimal number followed by a binary suffix (Ki Mi Gi Ti Pi Ei), a decimal suffix
(n u m k M G T P E) or a decimal exponent (e3, E-2). Like Kubernetes, a fraction of the asked unit is
rounded away from zero, so that nothing that was asked for is lost.
"""

import re
from fractions import Fraction
from functools import lru_cache

_FORM = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?\d{1,3}))?"
)
_SCALE = (
    {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
    | {suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", 1)}
    | {f"{suffix}i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", 1)}
)
_DECIMAL = tuple((1000**power, suffix) for power, suffix in reversed(tuple(enumerate("kMGTPE", 1))))
_BINARY = tuple((1024**power, f"{suffix}i") for power, suffix in reversed(tuple(enumerate("KMGTPE", 1))))


class QuantityError(ValueError):
    """A text is no Kubernetes quantity."""

    def __init__(self, text: object) -> None:
        super().__init__(
            f'"{text}" is not a quantity: write a number with an optional suffix, as in "500m" or "2Gi"'
        )
        self.text = text


def milli(text: str | float) -> int:
    """Thousandths, rounded away from zero: `0.5` and `500m` are 500."""
    return _scaled(text, 1000)


def units(text: str | float) -> int:
    """Whole units, rounded away from zero: `1500m` is 2, `1Ki` is 1024."""
    return _scaled(text, 1)


def canonical(milli_units: int, *, binary: bool = False) -> str:
    """The shortest text without loss, as Kubernetes prints it: 1500 → `1500m`, binary 1024000 → `1Ki`."""
    if milli_units % 1000:
        return f"{milli_units}m"
    whole = milli_units // 1000
    for scale, suffix in _BINARY if binary else _DECIMAL:
        if whole and whole % scale == 0:
            return f"{whole // scale}{suffix}"
    return str(whole)


def _scaled(text: str | float, scale: int) -> int:
    if isinstance(text, int) and not isinstance(text, bool):
        return text * scale
    return _parsed(str(text), scale)


@lru_cache(maxsize=4096)
def _parsed(text: str, scale: int) -> int:
    form = _FORM.fullmatch(text)
    if form is None:
        raise QuantityError(text)
    exact = Fraction(form["number"]) * scale
    if form["suffix"]:
        exact *= _SCALE[form["suffix"]]
    elif form["exponent"]:
        exact *= Fraction(10) ** int(form["exponent"])
    away = -(-abs(exact.numerator) // exact.denominator)
    return away if exact >= 0 else -away
