"""What a failed pod means for its instance: whether all its pods are made again, and after which delay.

The n-th restart in a row waits min(base * 2^(n-1), longest), the first none at all. Restarts are in a row while
they are less than the stable window apart: twice the longest delay, ten minutes at least.
"""

from dataclasses import dataclass

NONE = "None"
RECREATE_INSTANCE = "RecreateRoleInstanceOnPodRestart"
DEFAULT_BASE_SECONDS = 30
DEFAULT_LONGEST_SECONDS = 600
SHORTEST_WINDOW_SECONDS = 600


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """A longest delay of 0 is no limit."""

    type: str = NONE
    base_seconds: int = DEFAULT_BASE_SECONDS
    longest_seconds: int = DEFAULT_LONGEST_SECONDS

    def delay(self, restarts: int) -> int:
        """Seconds to wait after so many restarts in a row."""
        if restarts < 1 or self.base_seconds <= 0:
            return 0
        # 31 doublings exceed every limit there can be, and without one keep the number readable
        delay = self.base_seconds << min(restarts - 1, 31)
        return min(delay, self.longest_seconds) if self.longest_seconds > 0 else delay

    def remaining(self, restarts: int, since: int | None) -> int:
        """Seconds left of the delay; `since` is the age of the last restart, None if there was none."""
        return 0 if since is None else max(self.delay(restarts) - since, 0)


def effective_type(pattern: str, config_type: str = "", old_type: str = "") -> str:
    """The new field, else the deprecated one, else what suits the pattern."""
    return config_type or old_type or (NONE if pattern == "standalone" else RECREATE_INSTANCE)


def stable_window(longest_seconds: int | None) -> int:
    longest = DEFAULT_LONGEST_SECONDS if longest_seconds is None else longest_seconds
    return max(2 * longest, SHORTEST_WINDOW_SECONDS)


def is_recent(since: int | None, longest_seconds: int | None = None) -> bool:
    return since is not None and since < stable_window(longest_seconds)


def counted(restarts: int, since: int | None, longest_seconds: int | None = None) -> int:
    """Restarts in a row with one more now."""
    return restarts + 1 if is_recent(since, longest_seconds) else 1
