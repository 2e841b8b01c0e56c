"""Who may take from whom across queues: the rules that bound reclaim, on the amounts of two lineages.

A gang may reclaim while its queues stay within their fair share with it. A victim may be taken where its side
of the tree holds more than it may keep, or where the taker is still within quota and the victim's side beyond
its own. A taker within quota takes nothing from who has less than its own of what is asked for and more of none
of it; what has no quota does not count.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from quorate.scheduling.accounts import Accounts
from quorate.scheduling.fairness import Shares
from quorate.scheduling.snapshot import NONE, Bools, Floats, Ints

Amounts = Sequence[float]


def may_start(accounts: Accounts, shares: Shares, queue: int, requested: Ints, *, protected: bool) -> bool:
    """Within the fair share of its own queue in every resource, and a protected gang within its quota."""
    if np.any(accounts.allocated[queue] + requested > shares.fair[queue]):
        return False
    return not protected or not np.any(accounts.protected[queue] + requested > shares.quota[queue])


def up_to_fair(shares: Shares, queue: int) -> Shares:
    """The shares under which a queue may not grow beyond its fair share: what is found for a taker is bound by it."""
    limit = shares.limit.copy()
    limit[queue] = np.minimum(limit[queue], shares.fair[queue])
    return replace(shares, limit=limit)


def fork_of(lineage: Ints, taker: int, victim: int) -> tuple[int, int]:
    """The two queues just below the lowest common ancestor: the taker's side and the victim's side."""
    ours, theirs = _down(lineage[taker]), _down(lineage[victim])
    for mine, other in zip(ours, theirs, strict=False):
        if mine != other:
            return mine, other
    return taker, victim


def may_take(shares: Shares, taker: int, taker_held: Amounts, victim: int, victim_held: Amounts) -> bool:
    """Whether the next unit may go from the victim's side, which holds `victim_held` before it goes.

    `taker_held` is what the taker's side holds with the whole request.
    """
    if any(held > kept for held, kept in zip(victim_held, shares.allocatable_rows[victim], strict=True)):
        return True
    beyond = any(held > bound for held, bound in zip(victim_held, shares.quota_rows[victim], strict=True))
    return beyond and is_within_quota(shares, taker, taker_held)


def is_within_quota(shares: Shares, queue: int, held: Amounts) -> bool:
    return all(has <= bound for has, bound in zip(held, shares.quota_rows[queue], strict=True))


def is_short(shares: Shares, queue: int, held: Amounts, requested: Amounts) -> bool:
    """Whether a queue holds less than its quota of something that is asked for, and more of nothing."""
    rows = zip(requested, held, shares.quota_rows[queue], strict=True)
    beyond = [has - bound for asks, has, bound in rows if asks and bound != math.inf]
    return min(beyond, default=0) < 0 and max(beyond) <= 0


def stays_fair(  # noqa: PLR0913 - two queues with what each holds, and how strict to be
    shares: Shares,
    taker: int,
    taker_held: Floats,
    victim: int,
    victim_held: Floats,
    asked: Bools,
    *,
    multiplier: float = 1.0,
) -> bool:
    """After the exchange no taker above its share is better off than the sibling it took from."""
    ours = _saturation(shares.fair[taker], taker_held)
    theirs = _saturation(shares.fair[victim], victim_held)
    unfair = asked & (ours > 1) & (shares.fair[victim] > 0) & (ours * multiplier >= theirs)
    return not bool(unfair.any())


def _saturation(fair: Floats, held: Floats) -> Floats:
    """Held ÷ fair share; 0 where the share is unlimited, infinite where there is none to hold."""
    ratio = np.divide(held, fair, out=np.where(held > 0, np.inf, 0.0), where=fair > 0)
    return np.where(np.isinf(fair), 0.0, ratio)


def _down(row: Ints) -> list[int]:
    return [queue for queue in row.tolist()[::-1] if queue != NONE]
