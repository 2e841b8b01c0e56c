"""A small world in which every order of events is tried: what the brains of segments say, a cluster carries out.

Every step is one of: the controller looks and writes; the cluster seats a segment, whole if it never started; an
instance gets ready or fails; a set replaces an old instance that its partition lets go; somebody scales or rolls.
Capacity is counted in instances. `explore` finds all states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from quorate.workloads.lws.rollout import Pace, Seen, decide
from quorate.workloads.segmentgangs import Team, segment_of, segments, teams
from quorate.workloads.segmentrollout import RoleRevision, update
from quorate.workloads.segments import Coordination, Progression, RoleState, place, reach


class Status(IntEnum):
    WAITS = 0  # no seat yet
    STARTS = 1  # has a seat
    READY = 2


class Instance(NamedTuple):
    revision: int = 0
    status: Status = Status.WAITS


class Told(NamedTuple):
    """What the set of a role was told last."""

    revision: int = 0
    partition: int = 0
    max_unavailable: int = 1


class World(NamedTuple):
    """Roles by position; the last four are events that may still happen."""

    desired: tuple[int, ...]
    roles: tuple[tuple[Instance, ...], ...]
    told: tuple[Told, ...]
    started: frozenset[tuple[str, int]] = frozenset()
    revision: int = 0
    failures: int = 0
    scales: tuple[tuple[int, ...], ...] = ()
    rolls: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    names: tuple[str, ...]
    coordinations: tuple[Coordination, ...]
    capacity: int
    max_unavailable: int = 1

    def start(
        self,
        desired: tuple[int, ...],
        *,
        running: tuple[int, ...] | None = None,
        failures: int = 0,
        scales: tuple[tuple[int, ...], ...] = (),
        rolls: int = 0,
    ) -> World:
        counts = running or (0,) * len(desired)
        roles = tuple((Instance(status=Status.READY),) * count for count in counts)
        started = frozenset(
            (team.name, segment.index)
            for team in teams(self.coordinations)
            for segment in segments(team, dict(zip(self.names, counts, strict=True)))
        )
        told = (Told(),) * len(desired)
        return World(desired, roles, told, started, 0, failures, scales, rolls)

    def states(self, world: World) -> dict[str, RoleState]:
        return {
            name: RoleState(desired, len(role), sum(each.status == Status.READY for each in role))
            for name, desired, role in zip(self.names, world.desired, world.roles, strict=True)
        }

    def teams(self) -> list[Team]:
        return teams(self.coordinations)

    def is_done(self, world: World) -> bool:
        return all(
            len(role) == desired and all(each == Instance(world.revision, Status.READY) for each in role)
            for role, desired in zip(world.roles, world.desired, strict=True)
        )

    def steps(self, world: World) -> Iterator[World]:
        """What happens by itself; nothing here needs luck."""
        yield self.controlled(world)
        yield from self.seated(world)
        for at, role in enumerate(world.roles):
            for index, each in enumerate(role):
                if each.status == Status.STARTS:
                    yield _put(world, at, index, each._replace(status=Status.READY))
            yield from self.replaced(world, at)

    def events(self, world: World) -> Iterator[World]:
        """What somebody does to the group, or happens to it."""
        if world.failures:
            for at, role in enumerate(world.roles):
                for index, each in enumerate(role):
                    if each.status == Status.READY:
                        failed = _put(world, at, index, each._replace(status=Status.STARTS))
                        yield failed._replace(failures=world.failures - 1)
        for at, desired in enumerate(world.scales):
            left = world.scales[:at] + world.scales[at + 1 :]
            yield world._replace(desired=desired, scales=left)
        if world.rolls:
            yield world._replace(revision=world.revision + 1, rolls=world.rolls - 1)

    def controlled(self, world: World) -> World:
        """One pass of the controller; checks what must hold of every pass."""
        states = self.states(world)
        targets = place(self.coordinations, states).targets
        told = dict(zip(self.names, world.told, strict=True))
        for team in self.teams():
            revisions = {name: self._revision(world, name) for name in team.sizes}
            never = frozenset(range(99)) - {index for name, index in world.started if name == team.name}
            for name, said in update(team, revisions, never).roles.items():
                told[name] = Told(world.revision, said.partition, said.max_unavailable)
        self._check(states, dict(targets))
        roles = tuple(
            _resized(role, targets.get(name, desired), told[name])
            for name, role, desired in zip(self.names, world.roles, world.desired, strict=True)
        )
        return world._replace(roles=roles, told=tuple(told[name] for name in self.names))

    def seated(self, world: World) -> Iterator[World]:
        """A segment that never started takes all its seats or none; later each instance finds its own."""
        free = self.capacity - sum(each.status != Status.WAITS for role in world.roles for each in role)
        limits = {name: len(role) for name, role in zip(self.names, world.roles, strict=True)}
        for team in self.teams():
            for segment in segments(team, limits):
                waiting = [
                    (self.names.index(name), index)
                    for name, indexes in segment.instances.items()
                    for index in indexes
                    if world.roles[self.names.index(name)][index].status == Status.WAITS
                ]
                is_started = (team.name, segment.index) in world.started
                for unit in [[seat] for seat in waiting] if is_started else [waiting]:
                    if unit and len(unit) <= free:
                        yield self._seat(world, unit, (team.name, segment.index))

    def replaced(self, world: World, at: int) -> Iterator[World]:
        """What the set of the role does with what it was told; each replacement is a step of its own."""
        told, role = world.told[at], world.roles[at]
        pace = Pace(len(role), told.max_unavailable, 0, told.partition)
        seen = [
            Seen(
                exists=True,
                is_ready=each.status == Status.READY,
                is_updated=each.revision == told.revision or index < told.partition,
            )
            for index, each in enumerate(role)
        ]
        for index in decide(pace, seen).remove if seen else ():
            yield _put(world, at, index, Instance(told.revision))

    def _revision(self, world: World, name: str) -> RoleRevision:
        role = world.roles[self.names.index(name)]
        return RoleRevision(
            len(role),
            frozenset(index for index, each in enumerate(role) if each.revision != world.revision),
            frozenset(index for index, each in enumerate(role) if each.status != Status.READY),
            max_unavailable=self.max_unavailable,
        )

    def _seat(self, world: World, unit: list[tuple[int, int]], segment: tuple[str, int]) -> World:
        for at, index in unit:
            seated = world.roles[at][index]._replace(status=Status.STARTS)
            world = _put(world, at, index, seated)
        return world._replace(started=world.started | {segment})

    def _check(self, states: dict[str, RoleState], targets: dict[str, int]) -> None:
        for name, target in targets.items():
            state = states[name]
            assert min(state.current, state.desired) <= target <= state.desired, (name, state, target)
        for coordination in self.coordinations:
            if coordination.progression is Progression.PARALLEL:
                continue
            first = reach(coordination.sizes, states, lambda state: state.current) + 1
            for name, size in coordination.sizes.items():
                is_growing = targets[name] > states[name].current
                assert not is_growing or targets[name] <= first * size, (name, states, targets)


@dataclass(frozen=True, slots=True)
class Explored:
    """Every state that some order of steps and events leads to, and where each ends if nobody acts any more."""

    ends: dict[World, World]

    def __len__(self) -> int:
        return len(self.ends)


def explore(model: Model, first: World, limit: int) -> Explored:
    following: dict[World, World] = {}
    open_ = [first]
    while open_:
        world = open_.pop()
        if world in following:
            continue
        assert len(following) < limit, f"more than {limit} states"
        steps = [each for each in model.steps(world) if each != world]
        following[world] = steps[0] if steps else world
        open_ += [each for each in (*steps, *model.events(world)) if each not in following]
    return Explored(_ends(following))


def _ends(following: dict[World, World]) -> dict[World, World]:
    """Where the first step of each state leads to; going round in circles is no end."""
    ends: dict[World, World] = {}
    for world in tuple(following):
        path: dict[World, None] = {}
        while world not in ends and following[world] != world:
            assert world not in path, f"goes round in circles at {world}"
            path[world] = None
            world = following[world]  # noqa: PLW2901 - the path from this state on
        end = ends.get(world, world)
        ends[world] = end
        ends.update(dict.fromkeys(path, end))
    return ends


def unready_segments(model: Model, world: World) -> list[tuple[str, int]]:
    """Segments that have started and hold an instance that is not ready, and new if anything is to be rolled."""
    found = {
        (team.name, segment_of(index, size))
        for team in model.teams()
        for name, size in team.sizes.items()
        for index, each in enumerate(world.roles[model.names.index(name)])
        if each.status != Status.READY and each.revision == world.revision
    }
    return sorted(found & world.started)


def statuses_by_segment(model: Model, world: World) -> list[set[Status]]:
    counts = {name: len(role) for name, role in zip(model.names, world.roles, strict=True)}
    roles = dict(zip(model.names, world.roles, strict=True))
    return [
        {roles[name][index].status for name, indexes in segment.instances.items() for index in indexes}
        for team in model.teams()
        for segment in segments(team, counts)
    ]


def _resized(role: tuple[Instance, ...], target: int, told: Told) -> tuple[Instance, ...]:
    added = (
        Instance(told.revision if index >= told.partition else max(told.revision - 1, 0))
        for index in range(len(role), target)
    )
    return (*role[:target], *added)


def _put(world: World, at: int, index: int, instance: Instance) -> World:
    role = world.roles[at]
    changed = (*role[:index], instance, *role[index + 1 :])
    return world._replace(roles=(*world.roles[:at], changed, *world.roles[at + 1 :]))
