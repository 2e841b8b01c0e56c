"""Exponential back-off per key: how long to leave alone what keeps failing."""

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Backoff(Generic[K]):
    """The n-th failure in a row waits min(cap, base x 2^(n-1)) seconds."""

    def __init__(self, *, base: float = 0.2, cap: float = 60.0) -> None:
        self._base = base
        self._cap = cap
        self._failures: dict[K, int] = {}

    def fail(self, key: K) -> float:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # 2^63 is beyond any cap, and a float overflows long after
        return min(self._cap, self._base * 2.0 ** min(failures, 63))

    def forget(self, key: K) -> None:
        self._failures.pop(key, None)

    def failures(self, key: K) -> int:
        return self._failures.get(key, 0)
