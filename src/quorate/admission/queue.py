"""What is wrong or doubtful about a Queue, and whether one may go."""

from collections.abc import Iterator, Mapping

from quorate.admission.fields import duration, missing
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.queue import UNLIMITED, Queue, QueueResource
from quorate.rules.validity import Cause, Fault, Findings

_NAMES = {"cpu": "CPU", "memory": "memory", "gpu": "GPU"}


def review(new: Queue, old: Queue | None = None, around: Surroundings = NOTHING_KNOWN) -> Findings:
    del old  # a queue may change in every way
    errors = (*_resource_faults(new), *_runtime_faults(new), *_parent_faults(new, around.queues))
    if errors:
        return Findings(errors)
    return Findings((), tuple(_warnings(new, around.queues)))


def review_deletion(old: Queue, around: Surroundings = NOTHING_KNOWN) -> Findings:
    name = old.metadata.name
    children = sorted(
        child for child, queue in (around.queues or {}).items() if queue.spec.parent_queue == name
    )
    gangs = sorted(key for key, gang in (around.podgroups or {}).items() if gang.spec.queue == name)
    errors = []
    if children:
        text = f"cannot delete queue {name}: it has child queues [{' '.join(children)}]"
        errors.append(Fault("metadata.name", text, Cause.LIVE))
    if gangs:
        shown = " ".join(gangs[:5]) + (" ..." if len(gangs) > 5 else "")
        text = f"cannot delete queue {name}: it has {len(gangs)} workloads [{shown}]"
        errors.append(Fault("metadata.name", text, Cause.LIVE))
    return Findings(tuple(errors))


def _resource_faults(new: Queue) -> Iterator[Fault]:
    if new.spec.resources is None:
        yield Fault("spec.resources", "resources must be specified", Cause.VALUE)
        return
    for name, resource in _resources(new).items():
        for key, value in (("quota", resource.quota), ("limit", resource.limit)):
            if value < 0 and value != UNLIMITED:
                text = f"{value:g} is negative: write -1 for unlimited, or at least 0"
                yield Fault(f"spec.resources.{name}.{key}", text, Cause.VALUE)
        if resource.over_quota_weight < 0:
            text = f"{resource.over_quota_weight:g} is negative: write at least 0"
            yield Fault(f"spec.resources.{name}.overQuotaWeight", text, Cause.VALUE)


def _runtime_faults(new: Queue) -> Iterator[Fault]:
    yield from duration("spec.preemptMinRuntime", new.spec.preempt_min_runtime)
    yield from duration("spec.reclaimMinRuntime", new.spec.reclaim_min_runtime)


def _parent_faults(new: Queue, queues: Mapping[str, Queue] | None) -> Iterator[Fault]:
    path = [new.metadata.name]
    parent = new.spec.parent_queue
    while parent:
        path.append(parent)
        if parent == new.metadata.name:
            text = f"parents form a circle: {' -> '.join(path)}"
            yield Fault("spec.parentQueue", text, Cause.STRUCTURE)
            return
        above = (queues or {}).get(parent)
        if above is None or parent in path[:-1]:
            return
        parent = above.spec.parent_queue


def _warnings(new: Queue, queues: Mapping[str, Queue] | None) -> Iterator[Fault]:
    if queues is None:
        return
    parent = queues.get(new.spec.parent_queue)
    if new.spec.parent_queue and parent is None:
        text = f'parent queue "{new.spec.parent_queue}" does not exist: the queue gets nothing until it does'
        yield missing("spec.parentQueue", text)
    if parent is not None:
        siblings = [
            queue
            for name, queue in queues.items()
            if queue.spec.parent_queue == parent.metadata.name and name != new.metadata.name
        ]
        yield from _above_parent(new, parent, siblings)
    yield from _above_limit(new)
    children = [queue for queue in queues.values() if queue.spec.parent_queue == new.metadata.name]
    for name, resource in _resources(new).items():
        below = sum(_quota(child, name) for child in children)
        if resource.quota != UNLIMITED and below > resource.quota:
            text = f"total children {_NAMES[name]} quota ({below:g}) exceeds the queue's own ({resource.quota:g})"
            yield Fault(f"spec.resources.{name}.quota", text, Cause.IMPOSSIBLE)


def _above_limit(new: Queue) -> Iterator[Fault]:
    for name, resource in _resources(new).items():
        if resource.limit != UNLIMITED and resource.quota > resource.limit:
            text = f"{_NAMES[name]} quota ({resource.quota:g}) exceeds the limit ({resource.limit:g}), which counts"
            yield Fault(f"spec.resources.{name}.quota", text, Cause.IMPOSSIBLE)


def _above_parent(new: Queue, parent: Queue, siblings: list[Queue]) -> Iterator[Fault]:
    for name, above in _resources(parent).items():
        if above.quota == UNLIMITED:
            continue
        field, kind, own = f"spec.resources.{name}.quota", _NAMES[name], _quota(new, name)
        at = f"parent queue {parent.metadata.name} {kind} quota ({above.quota:g})"
        total = own + sum(_quota(sibling, name) for sibling in siblings)
        if own > above.quota:
            yield Fault(field, f"child queue {kind} quota ({own:g}) exceeds {at}", Cause.IMPOSSIBLE)
        elif total > above.quota:
            yield Fault(field, f"total children {kind} quota ({total:g}) exceeds {at}", Cause.IMPOSSIBLE)


def _resources(queue: Queue) -> dict[str, QueueResource]:
    found = queue.spec.resources
    return {} if found is None else {"cpu": found.cpu, "memory": found.memory, "gpu": found.gpu}


def _quota(queue: Queue, name: str) -> float:
    """An unlimited quota claims nothing of its parent."""
    found = _resources(queue).get(name)
    return 0 if found is None or found.quota == UNLIMITED else found.quota
