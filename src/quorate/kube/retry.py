"""When a request may be sent again, and after how long.

`delays` is decorrelated jitter: next = min(cap, uniform(base, 3 x previous)), so that clients which failed
together do not come back together. `may_repeat` is the safety rule of `client.py`.
"""

import random
from collections.abc import Iterator

from quorate.kube.errors import (
    ApiError,
    BudgetExhausted,
    ConnectionFailed,
    ConnectionLost,
    KubeError,
    ServerFailed,
    TooManyRequests,
)

BASE_SECONDS = 0.05
CAP_SECONDS = 8.0
ATTEMPTS = 6
LONGEST_ASKED_SECONDS = 30.0


def delays(chance: random.Random, cap: float = CAP_SECONDS) -> Iterator[float]:
    previous = BASE_SECONDS
    while True:
        previous = min(cap, chance.uniform(BASE_SECONDS, previous * 3))
        yield previous


def may_repeat(error: KubeError, *, repeatable: bool) -> bool:
    """Whether sending again cannot do harm: the request is repeatable, or was surely not processed."""
    match error:
        case BudgetExhausted():
            return False  # not overload but an answer: the caller decides when to ask again
        case TooManyRequests() | ConnectionFailed():
            return True
        case ServerFailed() | ConnectionLost():
            return repeatable
        case _:
            return False


def asked_wait(error: KubeError) -> float:
    """The wait a server asks for; a long one is cut, because the caller's plan gets old meanwhile."""
    return min(error.retry_after or 0.0, LONGEST_ASKED_SECONDS) if isinstance(error, ApiError) else 0.0
