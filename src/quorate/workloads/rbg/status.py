"""The status of a group: its conditions, its roles, and how far each coordination is."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from quorate.api import timestamps
from quorate.api.meta import Condition
from quorate.api.rbg import CoordinationStatus, RoleBasedGroupStatus, RoleStatus, SegmentStatus
from quorate.rules.conditions import transitioned
from quorate.rules.validity import Fault
from quorate.workloads.rbg.group import Group
from quorate.workloads.rbg.seen import View
from quorate.workloads.readiness import conditions
from quorate.workloads.segmentgangs import Team
from quorate.workloads.segments import Coordination, Progress, wanted

CONFIGURED = "ConfigurationValid"
MOST_SEGMENTS = 500  # rows: more make the object too large, and nobody reads them


def status_of(view: View, old: RoleBasedGroupStatus, revision: str, now: float) -> RoleBasedGroupStatus:
    group, states = view.group, view.targets.states
    pods = {role.name: role.size for role in group.roles}
    linked = view.targets.teams
    whole = [view.whole_segments(team.sizes) for team in linked]
    said = [*conditions(states, pods, group.coordinations, old.conditions, whole), configured(())]
    return RoleBasedGroupStatus(
        observed_generation=group.generation,
        conditions=since(said, group, old, now),
        role_statuses=[_role(view, role.name) for role in group.roles],
        segments=[row for team in linked for row in _segments(view, team)] or None,
        segments_ready=f"{sum(whole)}/{sum(wanted(team.sizes, states) for team in linked)}" if linked else "",
        coordinations=[
            _coordination(view, one, progress, old, now)
            for one, progress in zip(group.coordinations, view.targets.placement.progress, strict=True)
        ]
        or None,
        current_revision=revision,
    )


def configured(faults: Sequence[Fault]) -> Condition:
    if not faults:
        return Condition(type=CONFIGURED, status="True", reason="Valid", message="the group can be acted on")
    message = "; ".join(map(str, faults))
    return Condition(
        type=CONFIGURED, status="False", reason="Invalid", message=f"nothing is changed: {message}"
    )


def since(said: Sequence[Condition], group: Group, old: RoleBasedGroupStatus, now: float) -> list[Condition]:
    found = transitioned(said, old.conditions, timestamps.text(now))
    for condition in found:
        condition.observed_generation = group.generation
    return found


def _role(view: View, role: str) -> RoleStatus:
    instances = view.held[role].instances
    return RoleStatus(
        name=role,
        replicas=len(instances.existing),
        ready_replicas=len(instances.ready),
        updated_replicas=view.updated(role),
    )


def _segments(view: View, team: Team) -> Sequence[SegmentStatus]:
    """Segments that are wanted, from the first, counted in pods."""
    count = min(wanted(team.sizes, view.targets.states), MOST_SEGMENTS)
    roles = ((view.group.by_name[name], width) for name, width in team.sizes.items())
    parts = tuple(_Part(width, role.replicas, role.size) for role, width in roles)
    pods = _pods(parts, count)
    if all(view.targets.states[name].is_whole for name in team.sizes):
        return _rows(pods, pods)
    up = [0] * count
    for part, name in zip(parts, team.sizes, strict=True):
        for index in view.held[name].instances.ready:
            if index < min(part.instances, count * part.width):
                up[index // part.width] += part.pods
    return _rows(tuple(up), pods)


class _Part(NamedTuple):
    """Instances of a role in each segment, in all, and pods of an instance."""

    width: int
    instances: int
    pods: int


@lru_cache(maxsize=256)
def _pods(parts: tuple[_Part, ...], count: int) -> tuple[int, ...]:
    """Of each segment; the last may be smaller."""
    found = [0] * count
    for part in parts:
        for segment in range(count):
            found[segment] += min(max(part.instances - segment * part.width, 0), part.width) * part.pods
    return tuple(found)


# most passes find what the one before found
@lru_cache(maxsize=256)
def _rows(ready: tuple[int, ...], pods: tuple[int, ...]) -> tuple[SegmentStatus, ...]:
    return tuple(
        SegmentStatus(index=segment, ready=up == every, pods=f"{up}/{every}")
        for segment, (up, every) in enumerate(zip(ready, pods, strict=True), start=1)
    )


def _coordination(
    view: View, coordination: Coordination, progress: Progress, old: RoleBasedGroupStatus, now: float
) -> CoordinationStatus:
    """`since` stays for as long as no segment more exists or is ready."""
    before = next((one for one in old.coordinations or () if one.name == progress.name), CoordinationStatus())
    ready = view.whole_segments(coordination.sizes)
    moved = (before.complete, before.ready) != (progress.complete, ready)
    team = next(one.name for one in view.targets.teams if coordination.sizes.keys() <= one.sizes.keys())
    updating = view.updates[team].segment
    held_by = f" (held by {progress.held_by})" if progress.held_by else ""
    return CoordinationStatus(
        name=progress.name,
        complete=progress.complete,
        ready=ready,
        wanted=progress.wanted,
        updating=None if updating is None else updating + 1,
        waits_for=", ".join(_waits(view, coordination, progress, team)) + held_by,
        since=timestamps.text(now) if moved or not before.since else before.since,
    )


def _waits(view: View, coordination: Coordination, progress: Progress, team: str) -> Iterator[str]:
    yield from map(str, progress.waits)
    for role in coordination.sizes:
        if needs := view.targets.waits[role]:
            yield f"role {role} waits until {' and '.join(needs)} is ready"
    without_room = view.without_room.get(team)
    if without_room is not None:
        yield f"room for segment {without_room + 1}"
