"""The status of a group that nobody may act on: what runs goes on, and is still counted."""

from quorate.api.rbg import Role, RoleBasedGroupStatus, RoleStatus
from quorate.workloads.rbg.gang import pods_of
from quorate.workloads.rbg.instances import of_pods
from quorate.workloads.rbg.names import workload_name
from quorate.workloads.rbg.seen import Seen, View
from quorate.workloads.rbg.status import CONFIGURED, configured, since
from quorate.workloads.readiness import READY, conditions
from quorate.workloads.segments import RoleState


def status_of(view: View, seen: Seen) -> RoleBasedGroupStatus:
    """Segments and coordinations stay as they were said last: the fault may be in what they are."""
    old, roles = seen.found.status, {role.name: role for role in seen.found.spec.roles or ()}
    states = {name: _state(seen, role) for name, role in roles.items()}
    (ready,) = conditions(states, {name: pods_of(role) for name, role in roles.items()}, (), old.conditions)
    kept = [one for one in old.conditions or () if one.type not in {READY, CONFIGURED}]
    updated = {one.name: one.updated_replicas for one in old.role_statuses or ()}
    return RoleBasedGroupStatus(
        observed_generation=view.group.generation,
        conditions=since([ready, *kept, configured(view.faults)], view.group, old, seen.now),
        role_statuses=[
            RoleStatus(
                name=name,
                replicas=state.current,
                ready_replicas=state.ready,
                updated_replicas=updated.get(name, 0),
            )
            for name, state in states.items()
        ],
        segments=old.segments,
        segments_ready=old.segments_ready,
        coordinations=old.coordinations,
        current_revision=old.current_revision,
    )


def _state(seen: Seen, role: Role) -> RoleState:
    pods = seen.pods.get(workload_name(seen.found.metadata.name, role.name), ())
    instances = of_pods(pods, max(pods_of(role), 1))
    return RoleState(max(role.replicas, 0), len(instances.existing), len(instances.ready))
