"""Which instances start together: the segments of each team, a team being the roles that coordinations link.

A PodGroup has one parent, so roles that coordinations share put all of them into one team. Segment n of a team
holds the instances n * s .. (n + 1) * s - 1 of each role with size s, as far as the role's target goes: it
never counts an instance that nobody is going to create yet, for it would start never.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quorate.workloads.segments import Coordination

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Team:
    """Roles whose segments start together; named after the first coordination in it."""

    name: str
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class Segment:
    """Segment `index` (from 0) of a team, with the indexes of its instances by role; no role is empty."""

    team: str
    index: int
    instances: Mapping[str, range]

    @property
    def count(self) -> int:
        return sum(map(len, self.instances.values()))


def segment_of(instance: int, size: int) -> int:
    return instance // size


def instances_of(segment: int, size: int, limit: int) -> range:
    """Those of one role; `limit` is the number of its instances."""
    return range(min(segment * size, limit), min((segment + 1) * size, limit))


def teams(coordinations: Sequence[Coordination]) -> list[Team]:
    """In order of their first coordinations; each role is in one team at most."""
    found: list[Team] = []
    for coordination in coordinations:
        linked = [team for team in found if team.sizes.keys() & coordination.sizes.keys()]
        parts = (*(team.sizes for team in linked), coordination.sizes)
        sizes = {role: size for part in parts for role, size in part.items()}
        team = Team(linked[0].name if linked else coordination.name, sizes)
        place = found.index(linked[0]) if linked else len(found)
        found[place : place + 1] = [team]
        found = [each for each in found if each not in linked[1:]]
    return found


def segments(team: Team, limits: Mapping[str, int]) -> Iterator[Segment]:
    """Every segment that holds an instance; `limits` are the targets by role."""
    count = max((-(-limits[role] // size) for role, size in team.sizes.items()), default=0)
    for index in range(count):
        ranges = {role: instances_of(index, size, limits[role]) for role, size in team.sizes.items()}
        yield Segment(team.name, index, {role: found for role, found in ranges.items() if found})
