"""Which segment gets the new revision next, and what that means for the LeaderWorkerSet of each role.

The highest segment that holds an old instance is updated, all its roles at once, and no other; it has to be
updated and ready in every role before the one below it follows. A role's partition is the first instance of
that segment, so that everything below keeps its revision, and everything above has the new one already.

1. An instance that is not ready in a segment above holds the update: a bad revision costs one segment.
2. An old instance that is not ready, below, holds nothing: its own update may be the cure.
3. A segment that never started holds nothing, and is brought up to date whenever those above it are.
4. A user's partition counts: instances below it are not old. One paused role pauses its team.
5. Amounts in percent, and all caps, are of the instances that the segment has of the role. Without surge the
   partition alone keeps to them: it goes down instance by instance, and the set may lose any. What a set makes of
   a budget of its own depends on all of its instances, and one without room at its end would stop the others.
6. While a segment waits for room there is none for surge.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from quorate.workloads.builtin.amounts import resolve
from quorate.workloads.segmentgangs import Team, instances_of, segment_of


@dataclass(frozen=True, slots=True)
class RoleRevision:
    """Instances of a role by index: which have not the template that is wanted, which are not ready.

    `old` compares with the template about to be written, so that a set never gets it without its partition;
    `partition` is what the user wrote: no instance below it changes.
    """

    replicas: int
    old: frozenset[int] = frozenset()
    unready: frozenset[int] = frozenset()
    partition: int = 0
    max_unavailable: int | str = 1
    max_surge: int | str = 0
    paused: bool = False

    @property
    def outdated(self) -> frozenset[int]:
        """Those that the update is about."""
        return frozenset(index for index in self.old if self.partition <= index < self.replicas)

    @property
    def failing(self) -> frozenset[int]:
        """Those that have the new revision and are not ready."""
        return frozenset(index for index in self.unready - self.old if index < self.replicas)


@dataclass(frozen=True, slots=True)
class RoleUpdate:
    """What the LeaderWorkerSet of a role is told."""

    partition: int
    max_unavailable: int
    max_surge: int


@dataclass(frozen=True, slots=True)
class SegmentUpdate:
    """What each role is told; `segment` (None: there is none) is being updated, or holds the update.

    `waits_for` are the instances, by role, that have to become new and ready before the next segment.
    """

    segment: int | None
    roles: Mapping[str, RoleUpdate]
    waits_for: Mapping[str, tuple[int, ...]]


Roles = Mapping[str, RoleRevision]


def update(
    team: Team, roles: Roles, never_started: AbstractSet[int] = frozenset(), *, waits: bool = False
) -> SegmentUpdate:
    """`roles` holds at least those of the team; `never_started` are indexes of its segments."""
    upcoming = None if waits else _upcoming(team, roles, never_started)
    if upcoming is None:
        told = {role: _kept(size, roles[role]) for role, size in team.sizes.items()}
        return SegmentUpdate(None, told, {})
    held_by = _holding(team, roles, upcoming, never_started)
    first = upcoming if held_by is None else upcoming + 1
    told = {
        role: _told(size, roles[role], first, has_room=not never_started) for role, size in team.sizes.items()
    }
    segment = upcoming if held_by is None else held_by
    return SegmentUpdate(segment, told, dict(_waits(team, roles, segment)))


def _upcoming(team: Team, roles: Roles, never_started: AbstractSet[int]) -> int | None:
    if any(roles[role].paused for role in team.sizes):
        return None
    outdated = {
        segment_of(index, size) for role, size in team.sizes.items() for index in roles[role].outdated
    }
    started = outdated - never_started
    return max(started) if started else min(outdated, default=None)


def _holding(team: Team, roles: Roles, upcoming: int, never_started: AbstractSet[int]) -> int | None:
    """The highest segment above that has the new revision and is not ready with it."""
    failing = {segment_of(index, size) for role, size in team.sizes.items() for index in roles[role].failing}
    return max((segment for segment in failing - never_started if segment > upcoming), default=None)


def _kept(size: int, role: RoleRevision) -> RoleUpdate:
    """Nothing more is updated: what is new stays, what is old stays."""
    partition = min(max(max(role.outdated, default=-1) + 1, role.partition), role.replicas)
    return RoleUpdate(partition, *_amounts(role, size))


def _told(size: int, role: RoleRevision, first: int, *, has_room: bool) -> RoleUpdate:
    """From segment `first` on, all is new or becomes new."""
    within = instances_of(first, size, role.replicas)
    unavailable, surge = _amounts(role, len(within) or size)
    begin = max(min(first * size, role.replicas), role.partition)
    if surge and has_room:
        outside = sum(index not in within and index < role.replicas for index in role.unready)
        return RoleUpdate(min(begin, role.replicas), unavailable + outside, surge)
    unfinished = [index for index in reversed(within) if index in role.outdated or index in role.unready]
    taken = unfinished[: max(unavailable, 1)]
    partition = min(taken, default=begin)
    return RoleUpdate(min(max(partition, begin), role.replicas), max(role.replicas, 1), 0)


def _amounts(role: RoleRevision, count: int) -> tuple[int, int]:
    """How many of `count` may be missing, and how many may be there beyond them; not both none."""
    unavailable = min(resolve(role.max_unavailable, count, up=False), count)
    surge = min(resolve(role.max_surge, count, up=True), count)
    return (unavailable, surge) if unavailable or surge else (1, 0)


def _waits(team: Team, roles: Roles, segment: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    for role, size in team.sizes.items():
        state = roles[role]
        within = instances_of(segment, size, state.replicas)
        missing = tuple(index for index in within if index in state.outdated or index in state.unready)
        if missing:
            yield role, missing
