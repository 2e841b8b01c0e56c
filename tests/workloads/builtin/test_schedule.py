import pytest

from quorate.workloads.builtin.instants import epoch, rfc3339
from quorate.workloads.builtin.schedule import ScheduleError, next_after, parse


@pytest.mark.parametrize(
    ("text", "zone", "after", "expected"),
    [
        ("*/5 * * * *", "", "2026-01-01T00:03:10Z", "2026-01-01T00:05:00Z"),
        ("*/5 * * * *", "", "2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"),
        ("30 8-18/5 * * mon-fri", "", "2026-01-03T00:00:00Z", "2026-01-05T08:30:00Z"),
        ("0 0 29 2 *", "", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 13 * 5", "", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ("@daily", "Asia/Tokyo", "2026-01-01T00:00:00Z", "2026-01-01T15:00:00Z"),
        ("0 12 * jan,dec 7", "", "2026-02-01T00:00:00Z", "2026-12-06T12:00:00Z"),
    ],
)
def test_next_time(text: str, zone: str, after: str, expected: str) -> None:
    found = next_after(parse(text, zone), epoch(after))
    assert found is not None
    assert rfc3339(found) == expected


def test_a_day_that_never_comes() -> None:
    assert next_after(parse("0 0 31 2 *"), 0) is None


@pytest.mark.parametrize(
    "text", ["", "* * * *", "61 * * * *", "* * * * mondays", "*/0 * * * *", "5-1 * * * *"]
)
def test_bad_schedules_are_refused(text: str) -> None:
    with pytest.raises(ScheduleError):
        parse(text)
