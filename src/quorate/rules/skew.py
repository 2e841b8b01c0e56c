"""How far one role may be ahead of another: a share of what the role wants, or a number of instances."""

import re
from dataclasses import dataclass
from fractions import Fraction

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


class SkewError(ValueError):
    """A skew that is neither a percentage from 0% to 100% nor a count."""


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
        raise SkewError(f'"{text}" is not a percentage from 0% to 100%, such as "5%"')
    return Fraction(found[1]) / 100


def skew(amount: int | str | None) -> Skew:
    """Unset means no limit."""
    if amount is None:
        return NO_LIMIT
    if isinstance(amount, str):
        return Skew(share(amount))
    if amount < 0:
        raise SkewError(f'{amount} is negative: use a count of instances, or a percentage such as "5%"')
    return Skew(count=amount)
