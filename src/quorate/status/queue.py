"""The status of queues: what their gangs ask for and hold, summed up the tree.

Sums come from the status of PodGroups, so that a queue never says anything that no gang says.
"""

from collections.abc import Mapping, Sequence

from quorate.api import timestamps
from quorate.api.meta import Condition
from quorate.api.podgroup import PodGroup, ResourcesStatus
from quorate.api.podspec import ResourceList
from quorate.api.queue import QUEUE, Queue, QueueStatus
from quorate.plan import SetStatus
from quorate.rules.conditions import transitioned
from quorate.rules.queues import MOST, absurd_amounts, lineage, unreadable_runtimes
from quorate.rules.statuschange import status_change
from quorate.status.amounts import read, shown, total

# One unit of a quota in thousandths of the unit of its resource.
_QUOTA_MILLI = {"cpu": 1, "memory": 1000 * 10**6, "nvidia.com/gpu": 1000}

Amounts = dict[str, int]


def changes(
    queues: Sequence[Queue],
    podgroups: Sequence[PodGroup],
    now: float,
    *,
    shares: Mapping[str, ResourceList] | None = None,
) -> list[SetStatus]:
    """What to write for all queues, in order of name."""
    wanted = statuses(queues, podgroups, now, shares=shares)
    found = (
        status_change(QUEUE, queue, old=queue.status, new=wanted[queue.metadata.name])
        for queue in sorted(queues, key=lambda queue: queue.metadata.name)
    )
    return [change for change in found if change is not None]


def statuses(
    queues: Sequence[Queue],
    podgroups: Sequence[PodGroup],
    now: float,
    *,
    shares: Mapping[str, ResourceList] | None = None,
) -> dict[str, QueueStatus]:
    """The status of each queue by name; `shares` is what fairness granted in the last cycle."""
    by_name = {queue.metadata.name: queue for queue in queues}
    sums: dict[str, list[ResourcesStatus]] = {name: [] for name in by_name}
    for group in podgroups:
        if group.status.resources_status is not None:
            for name in _upward(by_name, group.spec.queue):
                sums[name].append(group.status.resources_status)
    return {
        name: _status(by_name, queue, sums[name], (shares or {}).get(name), now)
        for name, queue in by_name.items()
    }


def _status(
    by_name: Mapping[str, Queue],
    queue: Queue,
    parts: Sequence[ResourcesStatus],
    share: ResourceList | None,
    now: float,
) -> QueueStatus:
    name = queue.metadata.name
    children = sorted(child for child, each in by_name.items() if each.spec.parent_queue == name)
    allocated = total(read(part.allocated) for part in parts)
    return QueueStatus(
        child_queues=children or None,
        requested=shown(total(read(part.requested) for part in parts)),
        allocated=shown(allocated),
        allocated_non_preemptible=shown(total(read(part.allocated_non_preemptible) for part in parts)),
        fair_share=share or None,
        conditions=transitioned(
            [_invalid(by_name, queue), _orphan(by_name, queue), _over_quota(queue, allocated)],
            queue.status.conditions,
            timestamps.text(now),
        ),
    )


def _upward(by_name: Mapping[str, Queue], name: str) -> list[str]:
    """The queue and all above it; parents that point in a circle are walked once."""
    path: list[str] = []
    while name in by_name and name not in path:
        path.append(name)
        name = by_name[name].spec.parent_queue
    return path


def _invalid(by_name: Mapping[str, Queue], queue: Queue) -> Condition:
    parent = lineage(queue.metadata.name, by_name).fault
    faults = [*([parent] if parent else []), *absurd_amounts(queue), *unreadable_runtimes(queue)]
    if faults:
        return Condition(type="Invalid", status="True", reason="InvalidSpec", message="; ".join(faults))
    return Condition(type="Invalid", status="False", reason="Valid")


def _orphan(by_name: Mapping[str, Queue], queue: Queue) -> Condition:
    parent = queue.spec.parent_queue
    if parent and parent not in by_name:
        text = f'parent queue "{parent}" does not exist: create it, or remove parentQueue'
        return Condition(type="Orphan", status="True", reason="ParentMissing", message=text)
    return Condition(type="Orphan", status="False", reason="ParentFound" if parent else "TopLevel")


def _over_quota(queue: Queue, allocated: Amounts) -> Condition:
    quotas = _quotas(queue)
    over = [name for name, amount in sorted(quotas.items()) if allocated.get(name, 0) > amount]
    if over:
        held, allowed = shown(allocated) or {}, shown(quotas) or {}
        text = "; ".join(
            f"{held[name]} {name} allocated, the quota is {allowed.get(name, 0)}" for name in over
        )
        return Condition(type="OverQuota", status="True", reason="AboveQuota", message=text)
    return Condition(type="OverQuota", status="False", reason="WithinQuota")


def _quotas(queue: Queue) -> Amounts:
    """Thousandths by resource; unlimited ones are left out."""
    resources = queue.spec.resources
    if resources is None:
        return {}
    asked = {"cpu": resources.cpu, "memory": resources.memory, "nvidia.com/gpu": resources.gpu}
    return {
        name: int(min(each.quota, MOST) * _QUOTA_MILLI[name])
        for name, each in asked.items()
        if each.quota >= 0  # any negative amount counts as unlimited
    }
