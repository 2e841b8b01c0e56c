"""How long pods that fail again and again wait before they are made again.

The n-th restart in a row waits min(base * 2^(n-2), longest), the first none at all. Restarts are in a row while
they are less than the stable window apart: twice the longest delay, ten minutes at least.
"""

from typing import NamedTuple

SHORTEST_WINDOW_SECONDS = 600


class Backoff(NamedTuple):
    """Seconds; a longest delay of 0 is no limit."""

    base: int
    longest: int

    def delay(self, restarts: int) -> int:
        """Seconds to wait after so many restarts in a row."""
        if restarts < 1 or self.base <= 0:
            return 0
        # 31 doublings exceed every limit there can be, and without one keep the number readable
        delay = self.base << min(restarts - 1, 31)
        return min(delay, self.longest) if self.longest > 0 else delay

    def remaining(self, restarts: int, since: float | None) -> float:
        """Seconds left of the delay; `since` is the age of the last restart, None if there was none."""
        return 0 if since is None else max(self.delay(restarts) - since, 0)

    @property
    def window(self) -> int:
        return max(2 * self.longest, SHORTEST_WINDOW_SECONDS)

    def is_recent(self, since: float | None) -> bool:
        return since is not None and since < self.window

    def counted(self, restarts: int, since: float | None) -> int:
        """Restarts in a row with one more now."""
        return restarts + 1 if self.is_recent(since) else 1
