import pytest

from quorate.api.timestamps import TimestampError, epoch, text


def test_a_point_in_time_reads_back_in_whole_seconds() -> None:
    assert text(1_700_000_000.9) == "2023-11-14T22:13:20Z"
    assert epoch("2023-11-14T22:13:20Z") == 1_700_000_000


def test_fractions_and_offsets_are_read() -> None:
    assert epoch("2023-11-14T23:13:20.500000+01:00") == 1_700_000_000.5


def test_a_text_that_is_no_timestamp_is_named() -> None:
    with pytest.raises(TimestampError, match='"soon" is not a timestamp: write it as'):
        epoch("soon")
