"""The gangs of gangs in which instances start: one CompositePodGroup for each segment of each team.

A composite asks for exactly the instances that its roles may have now, so it never waits for one that nobody
makes. It gates the start; that a segment has started is written on it, for those who must tell a segment that
never started from one that is being replaced. While a segment that runs is updated or misses a seat, one that has
found no room for a while may not start: seats that are free for a moment are not for it.
"""

from collections.abc import Iterator, Mapping, Sequence

from quorate.api import labels, timestamps
from quorate.api.composite import COMPOSITE_POD_GROUP
from quorate.api.meta import Json, Object
from quorate.api.rbgcoordination import SegmentTopologyAffinity
from quorate.plan import Apply
from quorate.rules.composites import beginning_of, composite_name
from quorate.workloads.rbg.group import Group
from quorate.workloads.rbg.objects import owned
from quorate.workloads.rbg.placing import Held, Targets
from quorate.workloads.segmentgangs import Segment, Team, segments
from quorate.workloads.segmentrollout import SegmentUpdate

STARTED = "quorate.dev/started"
HELD = "quorate.dev/held"
PATIENCE_SECONDS = 10
REQUIRE, PREFER, BEST_EFFORT = "RequireSegmentAffinity", "PreferSegmentAffinity", "BestEffort"

Found = Mapping[str, Object]


def composites(
    group: Group,
    targets: Targets,
    held: Mapping[str, Held],
    updates: Mapping[str, SegmentUpdate],
    found: Found,
    now: float,
) -> Iterator[Apply]:
    """Extra instances of a role that rolls are beyond the last segment, and start freely."""
    for team in targets.teams:
        beginning = beginning_in(group, targets.teams, team)
        made = list(segments(team, targets.replicas))
        room = {role: targets.replicas[role] + _surge(updates[team.name], role) for role in team.sizes}
        extra = [Segment(team.name, one.index, {}) for one in segments(team, room)][len(made) :]
        started = {
            one.index
            for one in (*made, *extra)
            if _has_started(one, held, found.get(composite_name(beginning, one.index)))
        }
        goes_first = updates[team.name].segment in started or any(
            one.index in started and not _is_seated(one, held) for one in made
        )
        for segment in (*made, *extra):
            name = composite_name(beginning, segment.index)
            is_started = segment.index in started
            can_wait = bool(segment.count) and not is_started
            waits = goes_first and can_wait and _is_blocked(found.get(name), now)
            yield _composite(group, team, segment, name, is_started=is_started, is_held=waits)


def _surge(update: SegmentUpdate, role: str) -> int:
    return 0 if update.segment is None else update.roles[role].max_surge


def _is_blocked(composite: Object | None, now: float) -> bool:
    """Whether it did not start at once; then it would do so with the seats of an instance that is replaced."""
    if composite is None:
        return False
    made = composite.metadata.creation_timestamp
    return not made or now - timestamps.epoch(made) >= PATIENCE_SECONDS


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


def _is_seated(segment: Segment, held: Mapping[str, Held]) -> bool:
    return all(held[role].instances.bound.issuperset(within) for role, within in segment.instances.items())


def _composite(
    group: Group, team: Team, segment: Segment, name: str, *, is_started: bool, is_held: bool
) -> Apply:
    spec: Json = {"minGroupCount": segment.count + is_held}  # one more than there are: it cannot start
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
            "annotations": {
                **({STARTED: "true"} if is_started else {}),
                **(
                    {HELD: "segments that run are updated, and get their seats back, first"}
                    if is_held
                    else {}
                ),
            },
        },
        spec=spec,
    )
