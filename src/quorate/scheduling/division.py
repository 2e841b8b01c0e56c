"""Divides an amount of one resource among sibling queues; `fairness` calls it for each level and resource.

With quota Q, limit L, weight w, request R and past usage u of each queue, and `wanted = min(R, L)`:

1. deserved: every queue gets `min(Q, wanted)`, even where the quotas promise more than there is;
2. over quota, priority by priority from the highest: among the queues still hungry, with `n = w / Σw` and
   `x = max(0, n + k·(n - u))`, each is offered `amount · x / Σx`; it takes what it wants or the whole units
   of the offer, and if somebody wanted less than the offer, the rest is offered again;
3. what the rounding left goes, unit by unit, to the largest lost fraction, before any lower priority.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Of an offer: what is beyond them is an error of arithmetic, which no unit may hang on.
_DIGITS = 6


class Siblings(NamedTuple):
    """The claims of sibling queues on one resource, oldest queue first; unlimited is `inf`."""

    quota: Floats
    limit: Floats
    weight: Floats
    requested: Floats
    usage: Floats
    priority: Floats

    @property
    def wanted(self) -> Floats:
        return np.minimum(self.requested, self.limit)


def divide(total: float, queues: Siblings, *, unit: float = 1.0, k: float = 1.0) -> Floats:
    """The share of each queue; adds up to more than `total` only where the quotas do."""
    shares = deserved(total, queues)
    return divide_over_quota(total - float(shares.sum()), shares, queues, unit=unit, k=k)


def deserved(total: float, queues: Siblings) -> Floats:
    quota = np.where(np.isinf(queues.quota), total, queues.quota)
    return np.minimum(quota, queues.wanted)


def divide_over_quota(
    amount: float, shares: Floats, queues: Siblings, *, unit: float = 1.0, k: float = 1.0
) -> Floats:
    """Steps 2 and 3 on top of given shares; returns the new shares."""
    shares = shares.copy()
    for priority in np.unique(queues.priority)[::-1]:
        if amount <= 0:
            break
        band = np.flatnonzero(queues.priority == priority)
        members = Siblings(*(column[band] for column in queues))
        given, lost = shares[band], np.full(len(band), -1.0)
        amount = _rounds(amount, given, lost, members, unit=unit, k=k)
        amount = _remainder(amount, given, lost, members, unit=unit)
        shares[band] = given
    return shares


def _rounds(amount: float, shares: Floats, lost: Floats, queues: Siblings, *, unit: float, k: float) -> float:
    """Step 2 in one priority, on `shares` and the lost fractions (-1: none); returns what is left."""
    while amount > 0:
        ask = queues.wanted - shares
        weight = np.where(ask > 0, queues.weight, 0.0)
        if weight.sum() <= 0:
            break
        n = weight / weight.sum()
        x = np.where(weight > 0, np.maximum(0.0, n + k * (n - queues.usage)), 0.0)
        if x.sum() <= 0:
            break
        offer = np.round(amount * x / x.sum(), _DIGITS)
        whole = np.floor(offer / unit) * unit
        taken = np.where(ask <= offer, ask, whole)
        taken[x <= 0] = 0.0
        lost[:] = np.where((x > 0) & (ask > offer), (offer - whole) / unit, -1.0)
        shares += taken
        amount -= float(taken.sum())
        if not np.any((x > 0) & (ask < offer)):
            break
    return amount


def _remainder(amount: float, shares: Floats, lost: Floats, queues: Siblings, *, unit: float) -> float:
    """Step 3: one unit each in the order of the lost fraction, on `shares`; returns what is left."""
    for index in np.argsort(-lost, kind="stable"):
        if amount <= 0 or lost[index] < 0:
            break
        given = min(unit, amount, float(queues.wanted[index] - shares[index]))
        shares[index] += given
        amount -= given
    return amount
