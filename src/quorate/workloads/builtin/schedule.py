"""Cron schedules: `*/5 8-18 * * mon-fri` and `@daily`, and the next instant that one names."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = {
    name: at
    for at, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
_DAYS = {name: at for at, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_HORIZON = timedelta(days=366 * 5)


class ScheduleError(ValueError):
    """A text is no cron schedule."""


class Schedule(NamedTuple):
    """The values each field allows; a day fits by day of month or of week if both are restricted."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool
    zone: tzinfo

    def fits_day(self, at: datetime) -> bool:
        if at.month not in self.months:
            return False
        day, weekday = at.day in self.days, at.isoweekday() % 7 in self.weekdays
        return (day and weekday) if self.any_day or self.any_weekday else (day or weekday)


def parse(text: str, zone: str = "") -> Schedule:
    fields = _MACROS.get(text.strip(), text).split()
    if len(fields) != 5:
        raise ScheduleError(f'schedule "{text}": write five fields, as in "*/5 * * * *"')
    minutes, hours, days = (
        _values(fields[0], 0, 59, {}),
        _values(fields[1], 0, 23, {}),
        _values(fields[2], 1, 31, {}),
    )
    months, weekdays = _values(fields[3], 1, 12, _MONTHS), _values(fields[4], 0, 7, _DAYS)
    weekdays = frozenset(day % 7 for day in weekdays)
    starred = fields[2].startswith(("*", "?")), fields[4].startswith(("*", "?"))
    return Schedule(minutes, hours, days, months, weekdays, *starred, ZoneInfo(zone) if zone else UTC)


def next_after(schedule: Schedule, seconds: float) -> float | None:
    """The first instant after the given one; `None` if there is none in five years."""
    start = datetime.fromtimestamp(seconds, schedule.zone).replace(second=0, microsecond=0)
    at, end = start + timedelta(minutes=1), start + _HORIZON
    while at < end:
        if not schedule.fits_day(at):
            at = (at + timedelta(days=1)).replace(hour=0, minute=0)
        elif at.hour not in schedule.hours:
            at = (at + timedelta(hours=1)).replace(minute=0)
        elif at.minute not in schedule.minutes:
            at += timedelta(minutes=1)
        else:
            return at.timestamp()
    return None


def _values(field: str, low: int, high: int, names: dict[str, int]) -> frozenset[int]:
    found: set[int] = set()
    for part in field.lower().split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span in {"*", "?"}:
            start, stop = low, high
        else:
            start = _number(first, names, field)
            stop = _number(last, names, field) if dash else (high if step else start)
        every = _number(step, {}, field) if step else 1
        if not (low <= start <= stop <= high) or every < 1:
            raise ScheduleError(f'schedule field "{field}": values go from {low} to {high}')
        found.update(range(start, stop + 1, every))
    return frozenset(found)


def _number(text: str, names: dict[str, int], field: str) -> int:
    if text in names:
        return names[text]
    if not text.isdigit():
        raise ScheduleError(f'schedule field "{field}": "{text}" is not a number')
    return int(text)
