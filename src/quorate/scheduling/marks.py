"""What the scheduler remembers on a PodGroup: when the gang started, when it lost members, since when it is stale.

All of it is in annotations, so that a restart forgets nothing; `encode` reads them back.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np

from quorate.api.labels import LAST_EVICTION, LAST_START, STALE_SINCE
from quorate.plan import Patch
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.gang import all_satisfied
from quorate.scheduling.snapshot import NONE, Bools, Ints, State


def marks(cycle: Cycle) -> Iterator[Patch]:
    """One patch for each gang of which something is to be remembered or forgotten."""
    snapshot, trial = cycle.snapshot, cycle.trial
    gangs = snapshot.gangs
    now = datetime.fromtimestamp(snapshot.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    before = all_satisfied(snapshot.groups, snapshot.groups.active)[gangs.root]
    after = all_satisfied(snapshot.groups, trial.active)[gangs.root]
    is_held = _counts(cycle, np.flatnonzero(trial.state == State.ACTIVE)) > 0
    is_stale = np.isfinite(gangs.stale_since)
    notes = (
        (LAST_START, now, _placed_now(cycle) & after & ~before),
        (LAST_EVICTION, now, _counts(cycle, _joined(trial.evictions)) > 0),
        (STALE_SINCE, now, is_held & ~after & ~is_stale),
        (STALE_SINCE, None, is_stale & (before | ~is_held)),  # binds of this cycle may yet be refused
    )
    wanted: dict[int, dict[str, str | None]] = {}
    for key, value, rows in notes:
        for number in np.flatnonzero(rows).tolist():
            wanted.setdefault(number, {})[key] = value
    for number, annotations in sorted(wanted.items()):
        yield Patch(target=gangs.refs[number], body={"metadata": {"annotations": annotations}})


def _placed_now(cycle: Cycle) -> Bools:
    pods = _joined([placement.pods for placement in cycle.trial.placements if placement.now])
    return np.asarray(_counts(cycle, pods) > 0, dtype=np.bool_)


def _counts(cycle: Cycle, pods: Ints) -> Ints:
    """How many of the pods each gang has."""
    owners = cycle.snapshot.pods.gang[pods]
    return np.bincount(owners[owners != NONE], minlength=len(cycle.snapshot.gangs.refs))


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
