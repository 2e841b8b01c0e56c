"""What happens to a group, told to people: each event once, when it happens."""

from collections.abc import Iterator

from quorate.api.rbg import RoleBasedGroupStatus
from quorate.plan import Emit, EventType, Ref
from quorate.workloads.rbg.seen import View
from quorate.workloads.rbg.status import CONFIGURED


def of_scaling(view: View, role: str, replicas: int) -> Iterator[Emit]:
    before = view.held[role].told or 0
    if before != replicas:
        yield _normal(view, "ScalingRole", f"role {role}: from {before} to {replicas} instances")


def of_faults(view: View, old: RoleBasedGroupStatus) -> Iterator[Emit]:
    message = "; ".join(map(str, view.faults))
    said = next(
        (one.message for one in old.conditions or () if one.status == "False" and one.type == CONFIGURED), ""
    )
    if not said.endswith(message):
        yield Emit(about=_about(view), type=EventType.WARNING, reason="InvalidConfiguration", message=message)


def of_progress(view: View, old: RoleBasedGroupStatus, new: RoleBasedGroupStatus) -> Iterator[Emit]:
    before = {one.name: one for one in old.coordinations or ()}
    for one in new.coordinations or ():
        last = before.get(one.name)
        if one.ready > (last.ready if last else 0):
            text = f"coordination {one.name}: {one.ready} of {one.wanted} segments are ready"
            yield _normal(view, "SegmentReady", text)
        if one.updating is not None and (last is None or last.updating != one.updating):
            text = f"coordination {one.name}: segment {one.updating} of {one.wanted} gets the new revision"
            yield _normal(view, "UpdatingSegment", text)


def _normal(view: View, reason: str, message: str) -> Emit:
    return Emit(about=_about(view), type=EventType.NORMAL, reason=reason, message=message)


def _about(view: View) -> Ref:
    group = view.group
    return Ref(kind=group.kind, name=group.name, namespace=group.namespace, uid=group.uid)
