"""How many instances each role may have now: segments, then dependencies, then what exists already.

1. What a set was told counts as existing, so that a step is never taken back while it is carried out.
2. A team grows by its next segment only once the instances of the last one exist; so do the roles of a rule.
3. A role in segments follows them alone: a rule that measures otherwise could hold what a segment needs.
4. A role whose dependencies are not ready does not grow; nothing else waits with it.
5. A role that starts in order, and is in no segment, grows by one instance once all it has are ready.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quorate.workloads.rbg import scaling
from quorate.workloads.rbg.group import Group, Role
from quorate.workloads.rbg.instances import Instances, first
from quorate.workloads.rbg.scaling import ScaledRole
from quorate.workloads.segmentgangs import Team, teams
from quorate.workloads.segments import Placement, RoleState, place


@dataclass(frozen=True, slots=True)
class Held:
    """What a role has: the replicas its set was told (None: there is no set) and its instances."""

    told: int | None
    instances: Instances

    @property
    def is_short(self) -> bool:
        """Whether fewer instances exist than the set was told."""
        return not first(self.told or 0) <= self.instances.existing


@dataclass(frozen=True, slots=True)
class Targets:
    """Instances by role, with what the coordinations say, and who waits for which roles."""

    replicas: Mapping[str, int]
    states: Mapping[str, RoleState]
    placement: Placement
    teams: tuple[Team, ...]
    waits: Mapping[str, tuple[str, ...]]


def targets(group: Group, held: Mapping[str, Held]) -> Targets:
    states = {role.name: state_of(role, held[role.name]) for role in group.roles}
    linked = tuple(teams(group.coordinations))
    placement = place(group.coordinations, states)
    waits = {role.name: tuple(_unready(role, states)) for role in group.roles}
    together = [*(team.sizes.keys() for team in linked), *(rule.roles for rule in group.scaling)]
    short = {role for roles in together if any(held[role].is_short for role in roles) for role in roles}
    ruled = scaling.targets(
        group.scaling, {role.name: _scaled(role, held[role.name]) for role in group.roles}
    )
    replicas = {}
    for role in group.roles:
        state = states[role.name]
        target = placement.targets.get(role.name)
        if target is None:
            target = _in_order(role, state, ruled.get(role.name, role.replicas))
        waiting = role.name in short or waits[role.name]
        replicas[role.name] = min(target, state.current) if waiting else target
    return Targets(replicas, states, placement, linked, waits)


def state_of(role: Role, held: Held) -> RoleState:
    """Instances beyond what the set was told, or is going to be, are on their way out and ready for nothing."""
    told = held.told or 0
    staying = min(told, role.replicas)
    return RoleState(role.replicas, told, sum(index < staying for index in held.instances.ready))


def _in_order(role: Role, state: RoleState, target: int) -> int:
    if not role.starts_in_order or target <= state.current:
        return target
    return state.current + (state.ready == state.current)


def _scaled(role: Role, held: Held) -> ScaledRole:
    state = state_of(role, held)
    bound = sum(index < state.current for index in held.instances.bound)
    return ScaledRole(state.desired, state.current, bound, state.ready)


def _unready(role: Role, states: Mapping[str, RoleState]) -> Iterator[str]:
    """The roles this one waits for: not there yet, or not ready as far as they were told to be."""
    for name in role.needs:
        state = states[name]
        if state.desired and (not state.current or state.ready < min(state.current, state.desired)):
            yield name
