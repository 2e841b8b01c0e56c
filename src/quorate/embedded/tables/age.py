"""Ages as kubectl shows them: two or three figures, `<unknown>` where there is no time."""

from datetime import datetime
from functools import lru_cache

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


def since(timestamp: str | None, now: float) -> str:
    if not timestamp:
        return "<unknown>"
    return human(now - epoch(timestamp))


@lru_cache(maxsize=65536)
def epoch(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).timestamp()


# Up to which duration it is shown in which unit, and with which smaller one beside it.
_STEPS = (
    (2 * MINUTE, "s", ""),
    (10 * MINUTE, "m", "s"),
    (3 * HOUR, "m", ""),
    (8 * HOUR, "h", "m"),
    (2 * DAY, "h", ""),
    (8 * DAY, "d", "h"),
    (2 * YEAR, "d", ""),
    (8 * YEAR, "y", "d"),
)
_UNITS = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "y": YEAR}


def human(seconds: float) -> str:
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    whole = max(whole, 0)
    unit, small = next(((unit, small) for limit, unit, small in _STEPS if whole < limit), ("y", ""))
    count, rest = divmod(whole, _UNITS[unit])
    rest = rest // _UNITS[small] if small else 0
    return f"{count}{unit}{rest}{small}" if rest else f"{count}{unit}"
