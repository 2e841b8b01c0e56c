"""Coordination requirements as coordinations."""

import msgspec

from quorate.api.rbgcoordination import CoordinationRequirement
from quorate.workloads.coordinated import automatic_sizes, coordinations
from quorate.workloads.segments import Progression

WANTED = {"prefill": 100, "decode": 50, "router": 7}


def _requirement(**fields: object) -> CoordinationRequirement:
    return msgspec.convert(fields, CoordinationRequirement)


def test_sizes_and_progression_are_taken_as_written() -> None:
    placement = {"segmentSize": {"prefill": 10, "decode": 5}, "progression": "Ordered"}
    (found,) = coordinations([_requirement(strategy={"segmentPlacement": placement})], WANTED)
    assert (found.name, found.progression) == ("coordination-1", Progression.ORDERED)
    assert dict(found.sizes) == {"prefill": 10, "decode": 5}


def test_a_requirement_that_places_no_segments_is_left_out() -> None:
    assert coordinations([_requirement(name="x", strategy={})], WANTED) == []


def test_without_sizes_a_segment_is_the_smallest_that_keeps_the_ratio() -> None:
    requirement = _requirement(name="pd", roles=["prefill", "decode"], strategy={"segmentPlacement": {}})
    (found,) = coordinations([requirement], WANTED)
    assert dict(found.sizes) == {"prefill": 2, "decode": 1}
    assert found.progression is Progression.ORDERED_READY


def test_a_role_that_wants_nothing_has_no_automatic_size() -> None:
    assert automatic_sizes({"a": 6, "b": 0, "c": 4}) == {"a": 3, "c": 2}
    assert automatic_sizes({"a": 0}) == {}
