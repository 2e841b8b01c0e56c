"""Whether coordinations that share roles agree; admission refuses conflicts, the controller checks again.

Per role, the later coordination of the list must say the same as the earlier: segment sizes first, then the
progression. A conflict of any role means that no role of the group gets a target.
"""

from collections.abc import Iterator, Sequence

from quorate.api.rbgcoordination import CoordinationRequirement, SegmentPlacement
from quorate.rules.validity import Cause, Fault

DEFAULT_PROGRESSION = "OrderedReady"


def placements(requirements: Sequence[CoordinationRequirement]) -> Iterator[tuple[str, SegmentPlacement]]:
    """The coordinations that place segments, each with its field."""
    for index, requirement in enumerate(requirements):
        placement = requirement.strategy.segment_placement
        if placement is not None:
            yield f"spec.coordinationRequirements[{index}].strategy.segmentPlacement", placement


def conflicts(requirements: Sequence[CoordinationRequirement]) -> list[Fault]:
    """In order of the list, roles sorted by name; sizes before progressions."""
    return [*_size_conflicts(requirements), *_progression_conflicts(requirements)]


def _size_conflicts(requirements: Sequence[CoordinationRequirement]) -> Iterator[Fault]:
    earlier: dict[str, int] = {}
    for field, placement in placements(requirements):
        for role, size in sorted((placement.segment_size or {}).items()):
            if earlier.setdefault(role, size) != size:
                text = (
                    f'segment size conflict for role "{role}": coordination has segment size {size}, '
                    f"but another coordination has {earlier[role]}"
                )
                yield Fault(f"{field}.segmentSize.{role}", text, Cause.STRUCTURE)


def _progression_conflicts(requirements: Sequence[CoordinationRequirement]) -> Iterator[Fault]:
    earlier: dict[str, str] = {}
    for field, placement in placements(requirements):
        progression = placement.progression or DEFAULT_PROGRESSION
        for role in sorted(placement.segment_size or {}):
            if earlier.setdefault(role, progression) != progression:
                text = (
                    f'progression strategy conflict for role "{role}": coordination has strategy '
                    f'"{progression}", but another coordination has "{earlier[role]}"'
                )
                yield Fault(f"{field}.progression", text, Cause.STRUCTURE)
