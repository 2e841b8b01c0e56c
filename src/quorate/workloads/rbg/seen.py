"""What one pass over a group reads (`Seen`), and what follows from it (`View`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from quorate.api.apps import ControllerRevision
from quorate.api.composite import CompositePodGroup
from quorate.api.core import Pod
from quorate.api.lws import LeaderWorkerSet
from quorate.api.meta import Kind, Object
from quorate.api.rbg import RoleBasedGroup
from quorate.api.rbgpolicy import CoordinatedPolicy, ScalingAdapter
from quorate.rules.validity import Cause, Fault
from quorate.workloads.rbg.adapters import scaled
from quorate.workloads.rbg.composites import is_undecided, never_started, without_room
from quorate.workloads.rbg.group import Group, Role, read
from quorate.workloads.rbg.instances import NOBODY, first, of_pods
from quorate.workloads.rbg.names import workload_name
from quorate.workloads.rbg.objects import is_ours
from quorate.workloads.rbg.placing import Held, Targets, targets
from quorate.workloads.rbg.rolling import nothing_to_update, segment_update
from quorate.workloads.rbg.sets import Made, made
from quorate.workloads.segmentgangs import Team, segment_of
from quorate.workloads.segmentrollout import SegmentUpdate
from quorate.workloads.segments import wanted


@dataclass(frozen=True, slots=True)
class Seen:
    """Objects by name as the caches show them; `pods` are those of each set, by the name of the set."""

    kind: Kind
    found: RoleBasedGroup
    now: float
    policy: CoordinatedPolicy | None = None
    sets: Mapping[str, LeaderWorkerSet] = field(default_factory=dict)
    pods: Mapping[str, Sequence[Pod]] = field(default_factory=dict)
    composites: Mapping[str, CompositePodGroup] = field(default_factory=dict)
    services: Mapping[str, Object] = field(default_factory=dict)
    files: Mapping[str, Object] = field(default_factory=dict)
    adapters: Sequence[ScalingAdapter] = ()
    revisions: Mapping[str, ControllerRevision] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class View:
    """The group with what its roles have and may have; `updates` and `without_room` are by team, all else by role."""

    group: Group
    held: Mapping[str, Held]
    targets: Targets
    made: Mapping[str, Made]
    updates: Mapping[str, SegmentUpdate]
    without_room: Mapping[str, int | None]  # segments, of teams that are not ready
    faults: tuple[Fault, ...] = ()

    def updated(self, role: str) -> int:
        instances = self.held[role].instances
        return len(instances.existing - instances.old(self.made[role].revision))

    def whole_segments(self, sizes: Mapping[str, int]) -> int:
        """Of which every instance is ready."""
        states = self.targets.states
        broken: set[int] = set()
        for role, size in sizes.items():
            if not states[role].is_whole:
                up = self.held[role].instances.ready & first(self.held[role].told or 0)
                broken.update(segment_of(index, size) for index in first(states[role].desired) - up)
        return wanted(sizes, states) - len(broken)


def view_of(seen: Seen) -> View:
    group = read(seen.kind, seen.found, seen.policy, scaled(seen.adapters))
    taken = tuple(_taken(group, seen.sets))
    held = {role.name: _held(group, seen, role) for role in group.roles}
    found = targets(group, held)
    what = {role.name: made(group, role) for role in group.roles}
    updates = {team.name: _update(group, found, team, held, what, seen) for team in found.teams}
    growing = [team for team in found.teams if not all(found.states[role].is_whole for role in team.sizes)]
    without = {team.name: without_room(group, found, team, seen.composites) for team in growing}
    return View(group, held, found, what, updates, without, (*group.faults, *taken))


def _update(
    group: Group,
    found: Targets,
    team: Team,
    held: Mapping[str, Held],
    what: Mapping[str, Made],
    seen: Seen,
) -> SegmentUpdate:
    """Which segments never started matters only to a team that has old instances.

    A segment that is about to start must not do so with seats that an update leaves: it goes first.
    """
    revisions = {role: what[role].revision for role in team.sizes}
    if not any(held[role].instances.old(revision) for role, revision in revisions.items()):
        return nothing_to_update(team, group.by_name, held)
    never = never_started(group, found, team, held, seen.composites)
    is_growing = any(found.replicas[role] > (held[role].told or 0) for role in team.sizes)
    waits = is_growing or is_undecided(group, found, team, never, seen.composites, seen.now)
    return segment_update(team, group.by_name, held, revisions, never, waits=waits)


def _held(group: Group, seen: Seen, role: Role) -> Held:
    name = workload_name(group.name, role.name)
    found, pods = seen.sets.get(name), seen.pods.get(name, ())
    ready_by = seen.now - role.min_ready_seconds if role.min_ready_seconds else None
    return Held(
        found.spec.replicas if found else None, of_pods(pods, role.size, ready_by) if pods else NOBODY
    )


def _taken(group: Group, sets: Mapping[str, LeaderWorkerSet]) -> Iterator[Fault]:
    """Two roles may come to one name, and a set of that name may belong to somebody else."""
    names = [workload_name(group.name, role.name) for role in group.roles]
    for index, name in enumerate(names):
        field_name = f"spec.roles[{index}].name"
        role = group.roles[index].name
        if name in names[:index]:
            other = group.roles[names.index(name)].name
            text = f'roles "{other}" and "{role}" would both be called {name}: shorten one of the names'
            yield Fault(field_name, text, Cause.STRUCTURE)
        if name in sets and not is_ours(sets[name], group):
            text = (
                f'role "{role}" needs LeaderWorkerSet {name}, which is not the group\'s: rename one of them'
            )
            yield Fault(field_name, text, Cause.LIVE)
