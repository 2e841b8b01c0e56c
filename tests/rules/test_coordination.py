from quorate.api.rbgcoordination import CoordinationRequirement, CoordinationStrategy, SegmentPlacement
from quorate.rules.coordination import conflicts


def segments(progression: str = "", **sizes: int) -> CoordinationRequirement:
    placement = SegmentPlacement(segment_size=sizes, progression=progression)
    return CoordinationRequirement(strategy=CoordinationStrategy(segment_placement=placement))


def test_coordinations_that_agree_do_not_conflict() -> None:
    assert conflicts([segments(prefill=5, decode=3), segments("OrderedReady", decode=3, router=2)]) == []


def test_sizes_come_before_progressions() -> None:
    found = conflicts([segments("Ordered", prefill=5), segments("Parallel", prefill=10)])
    assert [fault.message for fault in found] == [
        ('segment size conflict for role "prefill": coordination has segment size 10, '
        "but another coordination has 5"),
        ('progression strategy conflict for role "prefill": coordination has strategy "Parallel", '
        'but another coordination has "Ordered"'),
    ]  # fmt: skip


def test_the_field_is_the_later_coordination() -> None:
    (fault,) = conflicts([segments(a=1), segments(b=2, a=2)])
    assert fault.field == "spec.coordinationRequirements[1].strategy.segmentPlacement.segmentSize.a"
