from hypothesis import given
from hypothesis import strategies as st

from quorate.api.lws import LeaderWorkerSet, LeaderWorkerSetSpec
from quorate.api.meta import ObjectMeta
from quorate.workloads.lws.groups import Group
from quorate.workloads.lws.scaling import line_of, parsed, written


def set_of(replicas: int, **annotations: str) -> LeaderWorkerSet:
    notes = {f"quorate.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return LeaderWorkerSet(
        metadata=ObjectMeta(name="web", annotations=notes), spec=LeaderWorkerSetSpec(replicas=replicas)
    )


@given(st.sets(st.integers(0, 40)))
def test_ranges_are_read_as_they_were_written(indices: set[int]) -> None:
    assert parsed(written(sorted(indices))) == sorted(indices)


def test_text_that_is_no_range_is_none() -> None:
    assert [parsed(text) for text in ("", "a", "1-", "-1", "1,,2", "12345678")] == [[]] * 6


def test_plain_set_has_the_first_groups_and_no_note() -> None:
    line = line_of(set_of(2), {4: Group(4), 1: Group(1)})
    assert (list(line.wanted), list(line.others), line.note) == ([0, 1], [4], None)
    assert [line.index_at(place) for place in range(5)] == [0, 1, 4, 5, 6]


def test_holes_are_kept_while_the_number_is() -> None:
    line = line_of(set_of(2, groups="0,3"), {})
    assert (list(line.wanted), line.note) == ([0, 3], "0,3")
    assert list(line_of(set_of(3, groups="0,3"), {}).wanted) == [0, 1, 3]
    assert list(line_of(set_of(1, groups="0,3"), {}).wanted) == [0]


def test_missing_groups_are_the_sickest() -> None:
    line = line_of(set_of(2, groups="0-2", scale_down="unready-first"), {0: Group(0), 2: Group(2)})
    assert len(line.wanted) == 2
    assert line.note == written(line.wanted)
