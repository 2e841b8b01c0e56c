"""How the set of each role is told to roll: segment by segment within a team, by its own strategy outside."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from quorate.workloads.builtin.amounts import resolve
from quorate.workloads.rbg.amounts import kept_back, unavailable
from quorate.workloads.rbg.group import Group, Role
from quorate.workloads.rbg.instances import first
from quorate.workloads.rbg.placing import Held, Targets
from quorate.workloads.rbg.skew import RolePace, paces
from quorate.workloads.segmentgangs import Team
from quorate.workloads.segmentrollout import RoleRevision, SegmentUpdate, update


@dataclass(frozen=True, slots=True)
class Told:
    """What a LeaderWorkerSet is told: how many groups, and how they are updated."""

    replicas: int
    partition: int
    max_unavailable: int | str
    max_surge: int | str


def segment_update(
    team: Team,
    roles: Mapping[str, Role],
    held: Mapping[str, Held],
    revisions: Mapping[str, str],
    never_started: AbstractSet[int],
    *,
    waits: bool,
) -> SegmentUpdate:
    """`revisions` are those that pods shall have, by role; an update that waits stays where it is."""
    found = {name: _revision(roles[name], held[name], revisions[name]) for name in team.sizes}
    return update(team, found, never_started, waits=waits)


def nothing_to_update(team: Team, roles: Mapping[str, Role], held: Mapping[str, Held]) -> SegmentUpdate:
    """What a team without old instances is told."""
    none = frozenset[int]()
    return update(team, {name: _state(roles[name], held[name].told or 0, none, none) for name in team.sizes})


def _revision(role: Role, held: Held, revision: str) -> RoleRevision:
    indexes = first(held.told or 0)
    old, unready = held.instances.old(revision) & indexes, indexes - held.instances.ready
    return _state(role, len(indexes), old, unready)


def _state(role: Role, replicas: int, old: frozenset[int], unready: frozenset[int]) -> RoleRevision:
    rolling = role.rolling
    return RoleRevision(
        replicas=replicas,
        old=old,
        unready=unready,
        partition=kept_back(rolling.partition, replicas),
        max_unavailable=rolling.max_unavailable,
        max_surge=rolling.max_surge,
        paused=rolling.paused,
    )


def told(
    group: Group,
    targets: Targets,
    held: Mapping[str, Held],
    updates: Mapping[str, SegmentUpdate],
    revisions: Mapping[str, str],
) -> dict[str, Told]:
    """By role; a paused role keeps every instance as it is. Segments come before rules about the same role."""
    together = {name: each for one in updates.values() for name, each in one.roles.items()}
    counts = {name: one.told or 0 for name, one in held.items()}
    updated = {name: _updated(one, revisions[name]) for name, one in held.items()}
    ruled = paces(group.updating, counts, updated)
    found = {}
    for role in group.roles:
        replicas, each = targets.replicas[role.name], together.get(role.name)
        if each is None:
            found[role.name] = _alone(role, replicas, counts[role.name], ruled.get(role.name, RolePace()))
        else:
            found[role.name] = Told(replicas, each.partition, each.max_unavailable, each.max_surge)
    return found


def _alone(role: Role, replicas: int, before: int, ruled: RolePace) -> Told:
    """Counts instead of percentages: what rounds to no room at all would stand still."""
    rolling = role.rolling
    own = before if rolling.paused else kept_back(rolling.partition, replicas)
    surge = resolve(rolling.max_surge, replicas, up=True)
    missing = rolling.max_unavailable if ruled.max_unavailable is None else ruled.max_unavailable
    return Told(
        replicas, max(own, kept_back(ruled.partition, replicas)), unavailable(missing, surge, replicas), surge
    )


def _updated(held: Held, revision: str) -> int:
    """Instances that exist, of those that shall, and are made from what they shall be made from."""
    current = held.instances.existing - held.instances.old(revision)
    return sum(index < (held.told or 0) for index in current)
