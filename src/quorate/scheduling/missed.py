"""Which required domain came nearest to taking a gang that was refused: for the words and data of the refusal."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from quorate.scheduling import growth, reasons, topology
from quorate.scheduling.agenda import Add, Start
from quorate.scheduling.snapshot import NONE, Ints
from quorate.scheduling.trial import Trial


class Missed(NamedTuple):
    """The group that must lie in one domain, the domain with most room, and what it falls short of."""

    group: int
    domain: str
    found: int
    required: int
    message: str


def missed(trial: Trial, number: int, goal: Start | Add, leaf: int) -> Missed | None:
    """None where no group above the leaf must lie in one domain, or where its best domain has enough room."""
    group = _bound(trial, leaf)
    if group == NONE:
        return None
    snapshot = trial.snapshot
    first = goal if isinstance(goal, Add) else Start(max(group, goal.group))
    pods = growth.first_choice(trial, first)
    level = snapshot.levels[int(snapshot.groups.required[group])]
    rooms = _rooms(trial, pods, topology.place_of(trial, group), level.of_node, len(level.domains))
    best = int(rooms.argmax()) if len(rooms) else NONE
    found = int(rooms[best]) if len(rooms) else 0
    if found >= len(pods):
        return None
    ref, name = snapshot.gangs.refs[number], snapshot.groups.names[group]
    head = reasons.level_missed(level.topology, level.label, f"{ref.namespace}/{ref.name}", name)
    domain = level.domains[best] if len(rooms) else ""
    detail = reasons.domain_holds(domain, found, len(pods)) if domain else "no node carries its labels"
    return Missed(group, domain, found, len(pods), f"{head}: {detail}")


def _bound(trial: Trial, leaf: int) -> int:
    """The nearest group, from the leaf upward, that must lie in one domain."""
    row = leaf
    while row != NONE and trial.snapshot.groups.required[row] < 0:
        row = int(trial.snapshot.groups.parent[row])
    return row


def _rooms(trial: Trial, pods: Ints, place: topology.Place, of_node: Ints, size: int) -> Ints:
    """How many of the pods each domain could take, were each shape alone there."""
    rooms = np.zeros(size, dtype=np.int64)
    inside = topology.mask_of(trial.snapshot, place) & (of_node != NONE)
    for shape, count in Counter(trial.snapshot.pods.shape[pods].tolist()).items():
        counts = trial.counts(shape, trial.free(now=True))[inside].clip(max=count)
        sums = np.bincount(of_node[inside], weights=counts, minlength=size).astype(np.int64)
        rooms += np.minimum(sums, count)
    return rooms
