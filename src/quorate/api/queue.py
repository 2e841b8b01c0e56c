"""Queue: who may use how much of each resource, as a tree by `parentQueue`."""

from typing import Annotated

import msgspec

from quorate.api.described import DURATION, described
from quorate.api.meta import Condition, Kind, Object, Part, Wire
from quorate.api.podspec import ResourceList

QUEUE = Kind("scheduling.run.ai", "v2", "Queue", "queues", namespaced=False)

UNLIMITED = -1


class QueueResource(Part, frozen=True):
    """Units: CPU in thousandths of a core, memory in megabytes (10⁶), GPU in devices."""

    quota: Annotated[float, described("Amount the queue deserves; -1: unlimited.", minimum=-1, default=0)] = 0
    limit: Annotated[
        float, described("Amount the queue never exceeds; -1: unlimited.", minimum=-1, default=0)
    ] = 0
    over_quota_weight: Annotated[
        float,
        described("Weight in the division of what is left over.", minimum=0, default=0),
    ] = 0


class QueueResources(Part, frozen=True):
    cpu: QueueResource = QueueResource()
    memory: QueueResource = QueueResource()
    gpu: QueueResource = QueueResource()


class QueueSpec(Wire):
    display_name: Annotated[str, described("Name shown to people; none: the object's name.")] = ""
    parent_queue: Annotated[
        str, described("Queue above this one; none: a queue of its own.", maxLength=253)
    ] = ""
    priority: Annotated[
        int, described("Queues of a higher priority are served first.", format="int32", default=100)
    ] = 100
    resources: Annotated[QueueResources | None, described("Quota, limit and weight per resource.")] = None
    preempt_min_runtime: Annotated[
        str | None,
        described(
            "How long a gang runs before a gang of its own queue may preempt it; none: inherited.",
            pattern=DURATION,
        ),
    ] = None
    reclaim_min_runtime: Annotated[
        str | None,
        described(
            "How long a gang runs before another queue may reclaim from it; none: inherited.",
            pattern=DURATION,
        ),
    ] = None


class QueueStatus(Wire):
    child_queues: list[str] | None = None
    requested: ResourceList | None = None
    allocated: ResourceList | None = None
    allocated_non_preemptible: ResourceList | None = None
    fair_share: Annotated[ResourceList | None, described("What fairness grants the queue now.")] = None
    conditions: list[Condition] | None = None


class Queue(Object):
    spec: QueueSpec = msgspec.field(default_factory=QueueSpec)
    status: QueueStatus = msgspec.field(default_factory=QueueStatus)
