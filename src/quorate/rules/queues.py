"""What is wrong with a queue that bypassed admission, in the words of conditions and events."""

from collections.abc import Iterator, Mapping
from math import nan
from typing import NamedTuple

from quorate.api.duration import DurationError, seconds
from quorate.api.queue import UNLIMITED, Queue, QueueResources

MOST = 10**12  # of any unit; more than that counts as so much


class Lineage(NamedTuple):
    names: list[str]  # from the queue up to its top
    fault: str  # what breaks the way up, ""


def lineage(name: str, known: Mapping[str, Queue]) -> Lineage:
    line, at = [name], known[name].spec.parent_queue
    while at in known and at not in line:
        line.append(at)
        at = known[at].spec.parent_queue
    if not at:
        return Lineage(line, "")
    fault = f"needs parent queue {at}, which does not exist"
    if at in known:
        fault = f"is in or below a cycle: {' -> '.join([*line, at])}"
    return Lineage(
        line, f"spec.parentQueue: queue {name} {fault}; its gangs are not scheduled until it is fixed"
    )


def absurd_amounts(queue: Queue) -> Iterator[str]:
    """Amounts that count as something else than what is written."""
    resources = queue.spec.resources or QueueResources()
    for name, one in (("cpu", resources.cpu), ("memory", resources.memory), ("gpu", resources.gpu)):
        for key, value in (("quota", one.quota), ("limit", one.limit)):
            field = f"spec.resources.{name}.{key}"
            if value < 0 and value != UNLIMITED:
                yield f"{field}: {value:g} is negative and counts as -1, unlimited"
            elif not value <= MOST:
                yield f"{field}: {value:g} is more than can be counted; write -1 for unlimited"
        if one.over_quota_weight < 0:
            yield f"spec.resources.{name}.overQuotaWeight: {one.over_quota_weight:g} is negative and counts as 0"


def min_runtimes(queue: Queue) -> tuple[float, float]:
    """Seconds that a gang runs before it is preempted or reclaimed from; NaN: as the queue above says."""
    preempt, reclaim = (_seconds(text) for _, text in _written(queue))
    return (nan if isinstance(preempt, str) else preempt, nan if isinstance(reclaim, str) else reclaim)


def unreadable_runtimes(queue: Queue) -> Iterator[str]:
    """Minimum runtimes that are no durations."""
    for field, text in _written(queue):
        fault = _seconds(text)
        if isinstance(fault, str):
            yield f"{field}: {fault}; until then the queue above says how long gangs are protected"


def _written(queue: Queue) -> tuple[tuple[str, str], tuple[str, str]]:
    spec = queue.spec
    return (
        ("spec.preemptMinRuntime", spec.preempt_min_runtime or ""),
        ("spec.reclaimMinRuntime", spec.reclaim_min_runtime or ""),
    )


def _seconds(text: str) -> float | str:
    try:
        return seconds(text) if text else nan
    except DurationError as error:
        return str(error)
