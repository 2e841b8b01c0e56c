"""Coordination requirements of a RoleBasedGroup as the coordinations that `segments` places.

A segment without sizes takes them from the roles: with the greatest common divisor g of what its roles want,
a segment has want / g instances of each, the smallest segment that keeps the ratio. 100 and 50 make 50 segments
of 2 and 1; 101 and 50 have no common divisor and make a single one. Roles that want none are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from quorate.api.rbgcoordination import CoordinationRequirement
from quorate.rules.coordination import DEFAULT_PROGRESSION
from quorate.workloads.segments import Coordination, Progression


def coordinations(
    requirements: Sequence[CoordinationRequirement], desired: Mapping[str, int]
) -> list[Coordination]:
    """Of requirements that admission lets pass; one without roles is about every role."""
    return list(_coordinations(requirements, desired))


def _coordinations(
    requirements: Sequence[CoordinationRequirement], desired: Mapping[str, int]
) -> Iterator[Coordination]:
    for index, requirement in enumerate(requirements):
        placement = requirement.strategy.segment_placement
        if placement is None:
            continue
        roles = requirement.roles or list(desired)
        sizes = placement.segment_size or automatic_sizes({role: desired[role] for role in roles})
        progression = Progression(placement.progression or DEFAULT_PROGRESSION)
        yield Coordination(requirement.name or f"coordination-{index + 1}", sizes, progression)


def automatic_sizes(desired: Mapping[str, int]) -> dict[str, int]:
    divisor = gcd(*desired.values())
    return {role: count // divisor for role, count in desired.items() if count}
