"""Whether a gang can start, by trying every placement: the measure of the search on small clusters.

Gangs and nodes are in the words of the `start` facts of the gang cases, whose judge says what a fault is.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

from tests.cases.gang_start import Placement, faults, is_satisfied, walk

Json = dict[str, Any]


def can_start(case: Json) -> bool:
    """Whether some placement keeps every rule and meets the minimum of the root."""
    gang = case["gang"]
    leaves = [(path, group) for path, group in walk(gang, gang["name"]) if "children" not in group]
    free = {node["name"]: int(node["gpus"]) for node in case["nodes"]}
    return any(
        is_satisfied(gang, gang["name"], placement) and not any(faults(case, placement))
        for placement in _placements(leaves, free)
    )


def _placements(leaves: list[tuple[str, Json]], free: dict[str, int]) -> Iterator[Placement]:
    """Every way to put members on nodes with room for them."""
    if not leaves:
        yield {}
        return
    (path, leaf), *others = leaves
    for count in (0, *range(max(leaf.get("minMember", 0), 1), leaf.get("members", 0) + 1)):
        for seats in combinations_with_replacement(sorted(free), count):
            left = {name: room - leaf["gpus"] * seats.count(name) for name, room in free.items()}
            if min(left.values()) >= 0:
                for rest in _placements(others, left):
                    yield {path: list(seats), **rest} if seats else rest
