"""Queue objects as arrays: quotas in the units of the snapshot, lineages, and which queues are left out.

Cyclic and orphan queues are left out with everything below them; gangs in them are refused by name. A cluster
without any queue has one without limits, under the name that admission gives gangs which name none.
"""

from collections.abc import Iterable, Mapping
from math import isfinite

import numpy as np

from quorate.api.queue import QUEUE, Queue, QueueResource, QueueResources
from quorate.api.shipped import DEFAULT_QUEUE
from quorate.plan import Ref
from quorate.rules.queues import lineage, min_runtimes, unreadable_runtimes
from quorate.scheduling.encode.gangs import epoch
from quorate.scheduling.snapshot import NONE, UNLIMITED, Floats, Problem, Queues

DEFAULT = DEFAULT_QUEUE  # what admission writes where a gang names none
SCALES = (1, 10**6, 1000)  # milli-CPU, megabytes, devices → the units of the snapshot
LARGEST = 2**62


def queues_of(objects: Iterable[Queue], usage: Mapping[str, Floats]) -> tuple[Queues, tuple[Problem, ...]]:
    """The queues of a snapshot; `usage` is the recorded use by queue name."""
    known = {queue.metadata.name: queue for queue in objects}
    problems: list[Problem] = []
    lineages = _lineages(known, problems)
    if not known:
        return _arrays({DEFAULT: _DEFAULT}, {DEFAULT: [DEFAULT]}, usage), ()
    for name in sorted(lineages):
        about = Ref(kind=QUEUE, name=name)
        problems += [Problem(about, "InvalidDuration", fault) for fault in unreadable_runtimes(known[name])]
    return _arrays(known, lineages, usage), tuple(problems)


_FREE = QueueResource(quota=UNLIMITED, limit=UNLIMITED, over_quota_weight=1)
_DEFAULT = Queue()
_DEFAULT.spec.resources = QueueResources(cpu=_FREE, memory=_FREE, gpu=_FREE)


def _lineages(known: Mapping[str, Queue], problems: list[Problem]) -> dict[str, list[str]]:
    """From each queue up to its top; queues whose way up is broken are left out."""
    found: dict[str, list[str]] = {}
    for name in sorted(known):
        line, fault = lineage(name, known)
        if fault:
            problems.append(Problem(Ref(kind=QUEUE, name=name), "InvalidParentQueue", fault))
        else:
            found[name] = line
    return found


def _arrays(
    known: Mapping[str, Queue],
    lineages: Mapping[str, list[str]],
    usage: Mapping[str, Floats],
) -> Queues:
    names = tuple(sorted(lineages))
    rows = {name: row for row, name in enumerate(names)}
    lineage = np.full((len(names), max(map(len, lineages.values()), default=1)), NONE, dtype=np.int64)
    for name, line in lineages.items():
        lineage[rows[name], : len(line)] = [rows[one] for one in line]
    queues = [known[name] for name in names]
    parents = {queue.spec.parent_queue for queue in queues}
    resources = [queue.spec.resources or QueueResources() for queue in queues]
    columns = [(one.cpu, one.memory, one.gpu) for one in resources]
    runtimes = np.array([min_runtimes(queue) for queue in queues], dtype=np.float64).reshape(-1, 2)
    return Queues(
        names=names,
        display_names=tuple(
            queue.spec.display_name or name for name, queue in zip(names, queues, strict=True)
        ),
        parent=np.array([rows.get(queue.spec.parent_queue, NONE) for queue in queues], dtype=np.int64),
        quota=_amounts([[one.quota for one in row] for row in columns]),
        limit=_amounts([[one.limit for one in row] for row in columns]),
        weight=np.maximum(_table([[one.over_quota_weight for one in row] for row in columns]), 0),
        priority=np.array([queue.spec.priority for queue in queues], dtype=np.int64),
        created=np.array(
            [epoch(queue.metadata.creation_timestamp, 0.0) for queue in queues], dtype=np.float64
        ),
        is_leaf=np.array([name not in parents for name in names], dtype=np.bool_),
        lineage=lineage,
        preempt_min_runtime=runtimes[:, 0],
        reclaim_min_runtime=runtimes[:, 1],
        usage=_table([usage.get(name, np.zeros(len(SCALES))).tolist() for name in names]),
    )


def _table(rows: list[list[float]]) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, len(SCALES))


def _amounts(rows: list[list[float]]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Negative amounts mean unlimited, absurd ones the largest that can be summed."""
    return np.array(
        [
            [
                UNLIMITED if value < 0 else min(int(value * scale), LARGEST) if isfinite(value) else LARGEST
                for value, scale in zip(row, SCALES, strict=True)
            ]
            for row in rows
        ],
        dtype=np.int64,
    ).reshape(-1, len(SCALES))
