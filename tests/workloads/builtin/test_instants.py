from quorate.workloads.builtin.instants import epoch, rfc3339, rfc3339_micro


def test_texts_read_back_to_the_second() -> None:
    assert rfc3339(1_767_225_600.9) == "2026-01-01T00:00:00Z"
    assert epoch("2026-01-01T00:00:00Z") == 1_767_225_600
    assert epoch(rfc3339_micro(1_767_225_600.25)) == 1_767_225_600.25
    assert epoch(None) == 0
