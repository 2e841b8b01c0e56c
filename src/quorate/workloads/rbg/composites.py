"""The gangs of gangs in which instances start: one CompositePodGroup for each segment of each team.

A composite asks for exactly the instances that its roles may have now, so it never waits for one that nobody
makes. It gates the start; that a segment has started is written on it, for those who must tell a segment that
never started from one that is being replaced. While a segment that runs is updated or misses a seat, one that has
found no room may not start: seats that are free for a moment are not for it. Whether it found room is for the
scheduler to say; until then nothing is updated, and after some seconds without a word there is no room.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from quorate.api import labels, timestamps
from quorate.api.composite import COMPOSITE_POD_GROUP, REFUSED, SATISFIED, CompositePodGroup
from quorate.api.rbgcoordination import SegmentTopologyAffinity
from quorate.plan import Apply
from quorate.rules.composites import beginning_of, composite_name
from quorate.rules.conditions import find
from quorate.workloads.rbg.group import Group, Owner
from quorate.workloads.rbg.instances import first
from quorate.workloads.rbg.objects import owned
from quorate.workloads.rbg.placing import Held, Targets
from quorate.workloads.segmentgangs import Segment, Team, segments
from quorate.workloads.segmentrollout import SegmentUpdate

STARTED = "quorate.dev/started"
HELD = "quorate.dev/held"
PATIENCE_SECONDS = 10

Found = Mapping[str, CompositePodGroup]
Notes = tuple[tuple[str, str], ...]  # annotations
RUNS: Notes = ((STARTED, "true"),)
# such a composite asks for one instance more than there are: it cannot start
RUNNING_FIRST: Notes = ((HELD, "segments that run are updated, and get their seats back, first"),)
Sizes = tuple[tuple[int, int], ...]  # of each role in a team: instances of a segment, and of all
Terms = tuple[SegmentTopologyAffinity | None, str]  # where a segment keeps to, and whom it keeps apart from


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
        update, beginning = updates[team.name], beginning_in(group, targets.teams, team)
        terms = affinity_of(group, team), beginning_of(group.name, team.name)
        if update.segment is None and _runs_whole(team, targets, held):
            sizes = tuple((size, targets.replicas[role]) for role, size in team.sizes.items())
            yield from _running(group.owner, beginning, sizes, terms)
            continue
        made = list(segments(team, targets.replicas))
        made += _beyond(team, targets, update, len(made))
        named = {composite_name(beginning, one.index): one for one in made}
        for name, minimum, notes in _starting(named, held, update, found, now):
            yield _composite(group.owner, name, named[name].index, minimum, terms, notes)


def _starting(
    named: Mapping[str, Segment],
    held: Mapping[str, Held],
    update: SegmentUpdate,
    found: Found,
    now: float,
) -> Iterator[tuple[str, int, Notes]]:
    """How many instances each segment needs to start, and what is noted on it."""
    started = {one.index for name, one in named.items() if _has_started(one, held, found.get(name))}
    goes_first = update.segment in started or any(
        one.index in started and not _is_seated(one, held) for one in named.values()
    )
    for name, segment in named.items():
        if segment.index in started:
            yield name, segment.count, RUNS
        elif goes_first and segment.count and _is_blocked(found.get(name), now):
            yield name, segment.count + 1, RUNNING_FIRST
        else:
            yield name, segment.count, ()


def _runs_whole(team: Team, targets: Targets, held: Mapping[str, Held]) -> bool:
    return all(first(targets.replicas[role]) <= held[role].instances.bound for role in team.sizes)


@lru_cache(maxsize=256)
def _running(owner: Owner, beginning: str, sizes: Sizes, terms: Terms) -> tuple[Apply, ...]:
    """Those of a team that has all its seats, which is what nearly every pass finds."""
    team = Team("", {str(at): size for at, (size, _) in enumerate(sizes)})
    made = segments(team, {str(at): count for at, (_, count) in enumerate(sizes)})
    return tuple(
        _composite(owner, composite_name(beginning, one.index), one.index, one.count, terms, RUNS)
        for one in made
    )


def _beyond(team: Team, targets: Targets, update: SegmentUpdate, count: int) -> list[Segment]:
    """Segments past the last for extra instances of roles that roll; nobody has to be in them."""
    if update.segment is None:
        return []
    room = {role: targets.replicas[role] + update.roles[role].max_surge for role in team.sizes}
    return [Segment(team.name, one.index, {}) for one in segments(team, room)][count:]


def _is_blocked(composite: CompositePodGroup | None, now: float) -> bool:
    """Whether it found no room; then it would start with the seats of an instance that is replaced."""
    if composite is None:
        return False
    if composite.metadata.annotation(HELD) or _is_refused(composite):
        return True
    made = composite.metadata.creation_timestamp
    return bool(made) and now - timestamps.epoch(made) >= PATIENCE_SECONDS


def _is_refused(composite: CompositePodGroup) -> bool:
    said = find(composite.status.conditions, SATISFIED)
    return said is not None and said.reason == REFUSED


def without_room(group: Group, targets: Targets, team: Team, found: Found) -> int | None:
    """The first segment for which the scheduler has no room."""
    beginning = beginning_in(group, targets.teams, team)
    named = (
        (one.index, found.get(composite_name(beginning, one.index)))
        for one in segments(team, targets.replicas)
    )
    return next(
        (index for index, composite in named if composite is not None and _is_refused(composite)), None
    )


def is_undecided(
    group: Group, targets: Targets, team: Team, never: AbstractSet[int], found: Found, now: float
) -> bool:
    """Whether a segment is about to start or to find no room; `never` started so far."""
    beginning = beginning_in(group, targets.teams, team)
    return not all(_is_blocked(found.get(composite_name(beginning, index)), now) for index in never)


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


def _has_started(segment: Segment, held: Mapping[str, Held], found: CompositePodGroup | None) -> bool:
    if found is not None and found.metadata.annotation(STARTED):
        return True
    return any(
        not held[role].instances.bound.isdisjoint(within) for role, within in segment.instances.items()
    )


def _is_seated(segment: Segment, held: Mapping[str, Held]) -> bool:
    return all(held[role].instances.bound.issuperset(within) for role, within in segment.instances.items())


# a group of a hundred segments makes the same hundred objects in every pass
@lru_cache(maxsize=8192)
def _composite(owner: Owner, name: str, index: int, minimum: int, terms: Terms, notes: Notes) -> Apply:
    affinity, spread = terms
    spec: dict[str, object] = {"minGroupCount": minimum}
    if affinity is not None and not affinity.is_best_effort:
        level = "requiredTopologyLevel" if affinity.is_required else "preferredTopologyLevel"
        spec["topologyConstraint"] = {level: affinity.topology_key}
    if affinity is not None and affinity.spread_segments:
        spec["spread"] = spread
    metadata = {"labels": {labels.RBG_SEGMENT_INDEX: str(index)}, "annotations": dict(notes)}
    return owned(owner, COMPOSITE_POD_GROUP, name, metadata=metadata, spec=spec)
