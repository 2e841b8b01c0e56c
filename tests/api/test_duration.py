import pytest

from quorate.api.duration import DurationError, seconds


@pytest.mark.parametrize(
    ("text", "expected"), [("60s", 60), ("1h30m", 5400), ("-1s", -1), ("0", 0), ("1.5m", 90), ("250ms", 0.25)]
)
def test_go_durations_are_read(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "60", "s", "1d", "1h 30m"])
def test_a_text_that_is_no_duration_is_named(text: str) -> None:
    with pytest.raises(DurationError, match="is not a duration: write numbers with units"):
        seconds(text)
