"""The gangs of gangs in which instances start: one CompositePodGroup for each segment of each team.

A composite asks for exactly the instances that its roles may have now, so it never waits for one that nobody
makes. It gates the start; that a segment has started is written on it, for those who must tell a segment that
never started from one that is being replaced.
"""

from collections.abc import Iterator, Mapping, Sequence

from quorate.api import labels
from quorate.api.composite import COMPOSITE_POD_GROUP
from quorate.api.meta import Json, Object
from quorate.api.rbgcoordination import SegmentTopologyAffinity
from quorate.plan import Apply
from quorate.rules.composites import beginning_of, composite_name
from quorate.workloads.rbg.group import Group
from quorate.workloads.rbg.objects import owned
from quorate.workloads.rbg.placing import Held, Targets
from quorate.workloads.segmentgangs import Segment, Team, segments

STARTED = "quorate.dev/started"
REQUIRE, PREFER, BEST_EFFORT = "RequireSegmentAffinity", "PreferSegmentAffinity", "BestEffort"

Found = Mapping[str, Object]


def composites(
    group: Group, targets: Targets, held: Mapping[str, Held], surges: Mapping[str, int], found: Found
) -> Iterator[Apply]:
    """`surges` are the extra instances by role while they roll: beyond the last segment they start freely."""
    for team in targets.teams:
        beginning = beginning_in(group, targets.teams, team)
        made = list(segments(team, targets.replicas))
        room = {role: targets.replicas[role] + surges.get(role, 0) for role in team.sizes}
        extra = [Segment(team.name, one.index, {}) for one in segments(team, room)][len(made) :]
        for segment in (*made, *extra):
            name = composite_name(beginning, segment.index)
            started = _has_started(segment, held, found.get(name))
            yield _composite(group, team, segment, name, is_started=started)


def never_started(
    group: Group, targets: Targets, team: Team, held: Mapping[str, Held], found: Found
) -> frozenset[int]:
    """Segments of the team that never had a pod on a node."""
    beginning = beginning_in(group, targets.teams, team)
    told = {role: held[role].told or 0 for role in team.sizes}
    return frozenset(
        segment.index
        for segment in segments(team, told)
        if not _has_started(segment, held, found.get(composite_name(beginning, segment.index)))
    )


def beginning_in(group: Group, linked: Sequence[Team], team: Team) -> str:
    """How the names of a team's composites begin."""
    number = linked.index(team)
    return beginning_of(group.name, f"team-{number + 1}") if number else beginning_of(group.name)


def affinity_of(group: Group, team: Team) -> SegmentTopologyAffinity | None:
    """What the first coordination of the team that says something asks for."""
    names = [one.name for one in group.coordinations if one.sizes.keys() & team.sizes.keys()]
    return next((group.affinities[name] for name in names if name in group.affinities), None)


def _has_started(segment: Segment, held: Mapping[str, Held], found: Object | None) -> bool:
    if found is not None and found.metadata.annotation(STARTED):
        return True
    return any(
        not held[role].instances.bound.isdisjoint(within) for role, within in segment.instances.items()
    )


def _composite(group: Group, team: Team, segment: Segment, name: str, *, is_started: bool) -> Apply:
    spec: Json = {"minGroupCount": segment.count}
    affinity = affinity_of(group, team)
    if affinity is not None and affinity.strategy != BEST_EFFORT:
        level = "requiredTopologyLevel" if affinity.strategy == REQUIRE else "preferredTopologyLevel"
        spec["topologyConstraint"] = {level: affinity.topology_key}
    if affinity is not None and affinity.spread_segments:
        spec["spread"] = beginning_of(group.name, team.name)
    return owned(
        group,
        COMPOSITE_POD_GROUP,
        name,
        metadata={
            "labels": {labels.RBG_SEGMENT_INDEX: str(segment.index)},
            "annotations": {STARTED: "true"} if is_started else {},
        },
        spec=spec,
    )
