"""Scaling by role: an adapter is what `kubectl scale` and an autoscaler write to, and it wins over the role.

The group's own `replicas` stay as their author wrote them; what an adapter says counts while it is there.
"""

from collections.abc import Iterator, Mapping, Sequence

from quorate.api import labels
from quorate.api.meta import Json
from quorate.api.rbg import SCALING_ADAPTER
from quorate.api.rbg import Role as WireRole
from quorate.api.rbgpolicy import ScalingAdapter, ScalingAdapterStatus
from quorate.plan import Change, Create, Ref
from quorate.rules.statuschange import status_change
from quorate.workloads.rbg.group import Group, Role
from quorate.workloads.rbg.names import workload_name

BOUND, UNBOUND = "Bound", "NotBound"


def scaled(adapters: Sequence[ScalingAdapter]) -> dict[str, int]:
    """Instances by role; of several adapters for one role the first by name counts."""
    found: dict[str, int] = {}
    for adapter in sorted(adapters, key=lambda one: one.metadata.name):
        if adapter.spec.replicas is not None:
            found.setdefault(adapter.spec.scale_target_ref.role, adapter.spec.replicas)
    return found


def missing(
    group: Group, wire: Mapping[str, WireRole], adapters: Sequence[ScalingAdapter]
) -> Iterator[Change]:
    """An adapter for each role that asks for one, which begins with what the role says."""
    present = {adapter.metadata.name for adapter in adapters}
    for role in group.roles:
        name = workload_name(group.name, role.name)
        if role.has_adapter and name not in present:
            body = _adapter(group, role, wire[role.name].replicas)
            yield Create(target=Ref(kind=SCALING_ADAPTER, name=name, namespace=group.namespace), body=body)


def _adapter(group: Group, role: Role, replicas: int) -> Json:
    return {
        "metadata": {
            "labels": {**role.adapter_labels, labels.RBG_GROUP_NAME: group.name},
            "ownerReferences": [group.owner_reference],
        },
        "spec": {"replicas": replicas, "scaleTargetRef": {"name": group.name, "role": role.name}},
    }


def statuses(
    group: Group, told: Mapping[str, int], adapters: Sequence[ScalingAdapter], now: str
) -> Iterator[Change]:
    """What an autoscaler reads: how many instances there are, and which pods they are."""
    for adapter in adapters:
        role, old = adapter.spec.scale_target_ref.role, adapter.status
        if role in told:
            is_news = old.replicas is not None and old.replicas != told[role]
            new = ScalingAdapterStatus(
                phase=BOUND,
                replicas=told[role],
                selector=f"{labels.RBG_GROUP_NAME}={group.name},{labels.RBG_ROLE_NAME}={role}",
                last_scale_time=now if is_news else old.last_scale_time,
            )
        else:
            new = ScalingAdapterStatus(phase=UNBOUND, last_scale_time=old.last_scale_time)
        change = status_change(SCALING_ADAPTER, adapter, old=old, new=new)
        if change is not None:
            yield change
