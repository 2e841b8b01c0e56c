"""What has to be written for a RoleBasedGroup: one pass from what is seen to a plan.

    read          the group in its internal type, and what its roles have
    composites    the gangs its segments start in, before anything that names them
    sets          a LeaderWorkerSet for each role, as large and as new as it may be now
    restarts      where a failure means the whole group, the pods that are older than it
    discovery     Services and the file of addresses
    adapters      what autoscalers write to
    revisions     what the group can go back to
    status        conditions, roles, coordinations

A group with a fault gets its status and nothing else: what runs goes on running.
"""

from collections.abc import Iterator

from quorate.api import timestamps
from quorate.api.composite import COMPOSITE_POD_GROUP
from quorate.api.core import CONFIG_MAP, SERVICE
from quorate.api.lws import LEADER_WORKER_SET
from quorate.api.rbg import RoleBasedGroupStatus
from quorate.plan import Change, Delete, Plan, Ref
from quorate.rules.statuschange import status_change
from quorate.workloads.rbg import adapters, discovery, events, faulty, revisions
from quorate.workloads.rbg.composites import composites
from quorate.workloads.rbg.names import workload_name
from quorate.workloads.rbg.objects import is_ours, settled
from quorate.workloads.rbg.restart import RECREATE_GROUP, outlived
from quorate.workloads.rbg.rolling import told
from quorate.workloads.rbg.seen import Seen, View, view_of
from quorate.workloads.rbg.sets import is_carried_out, set_of
from quorate.workloads.rbg.status import status_of


def reconcile(seen: Seen) -> Plan:
    if seen.found.metadata.deletion_timestamp is not None:
        return Plan()
    view = view_of(seen)
    old = seen.found.status
    if view.faults:
        return Plan(changes=(*events.of_faults(view, old), *_status(seen, faulty.status_of(view, seen))))
    name, recorded = revisions.recorded(view.group, seen.found, seen.revisions)
    new = status_of(view, old, name, seen.now)
    changes = [
        *_composites(seen, view),
        *_sets(seen, view),
        *_restarts(seen, view),
        *_discovery(seen, view),
        *adapters.missing(
            view.group, {role.name: role for role in seen.found.spec.roles or ()}, seen.adapters
        ),
        *adapters.statuses(view.group, _existing(view), seen.adapters, timestamps.text(seen.now)),
        *recorded,
        *_status(seen, new),
        *events.of_progress(view, old, new),
    ]
    return Plan(changes=tuple(changes))


def _composites(seen: Seen, view: View) -> Iterator[Change]:
    wanted = composites(view.group, view.targets, view.held, view.updates, seen.composites, seen.now)
    return settled(COMPOSITE_POD_GROUP, view.group, wanted, seen.composites)


def _sets(seen: Seen, view: View) -> Iterator[Change]:
    """A role without a set gets one once it may have instances; sets of roles that are gone go."""
    group, kept = view.group, set()
    revisions = {name: one.revision for name, one in view.made.items()}
    for name, one in told(group, view.targets, view.held, view.updates, revisions).items():
        change = set_of(group, group.by_name[name], view.targets.teams, view.made[name], one)
        found = seen.sets.get(change.target.name)
        kept.add(change.target.name)
        is_due = found is not None or one.replicas or not view.targets.waits[name]
        if is_due and not is_carried_out(found, change):
            yield change
            yield from events.of_scaling(view, name, one.replicas)
    for name in sorted(seen.sets.keys() - kept):
        meta = seen.sets[name].metadata
        if is_ours(seen.sets[name], group) and meta.deletion_timestamp is None:
            yield Delete(
                target=Ref(kind=LEADER_WORKER_SET, name=name, namespace=meta.namespace, uid=meta.uid)
            )


def _restarts(seen: Seen, view: View) -> Iterator[Change]:
    names = [
        workload_name(view.group.name, one.name) for one in view.group.roles if one.restart == RECREATE_GROUP
    ]
    return outlived({name: seen.sets[name] for name in names if name in seen.sets}, seen.pods)


def _discovery(seen: Seen, view: View) -> Iterator[Change]:
    group = view.group
    yield from settled(CONFIG_MAP, group, [discovery.file_of(group, view.targets.replicas)], seen.files)
    yield from settled(SERVICE, group, discovery.services_of(group), seen.services)


def _existing(view: View) -> dict[str, int]:
    return {name: held.told or 0 for name, held in view.held.items()}


def _status(seen: Seen, new: RoleBasedGroupStatus) -> Iterator[Change]:
    change = status_change(seen.kind, seen.found, old=seen.found.status, new=new)
    if change is not None:
        yield change
