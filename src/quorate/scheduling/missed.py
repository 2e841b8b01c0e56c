"""Which required domain came nearest to taking a gang that was refused: for the words and data of the refusal."""

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from quorate.scheduling import growth, reasons, topology
from quorate.scheduling.agenda import Add, Start
from quorate.scheduling.left import NAMED, Lack
from quorate.scheduling.reasons import Finding
from quorate.scheduling.snapshot import NONE, PODS, Ints, Level
from quorate.scheduling.trial import Trial


class Missed(NamedTuple):
    """The group that must lie in one domain, the domain with most room, and what it falls short of."""

    group: int
    domain: str
    found: int
    required: int
    lack: Lack


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
    found = int(rooms.max(initial=0))
    if found >= len(pods):
        return None
    ref, name = snapshot.gangs.refs[number], snapshot.groups.names[group]
    head = reasons.level_missed(level.topology, level.label, ref.key, name)
    if not len(rooms):
        labels = [one.label for one in snapshot.levels if one.topology == level.topology]
        return Missed(group, "", 0, len(pods), Lack(f"{head}: {reasons.no_domain(labels)}"))
    best = np.argsort(-rooms, kind="stable")[:NAMED].tolist()
    lack = _lack(trial, pods, level, {domain: int(rooms[domain]) for domain in best}, name)
    text = f"{head}: {reasons.domain_holds(level.domains[best[0]], found, len(pods))}{lack.text}"
    return Missed(group, level.domains[best[0]], found, len(pods), replace(lack, text=text))


def _lack(trial: Trial, pods: Ints, level: Level, nearest: dict[int, int], group: str) -> Lack:
    """How many domains have less of a resource than the pods ask for, and what the nearest ones lack.

    `nearest` says how many of the pods find room in a domain, best first.
    """
    resources = trial.snapshot.resources
    asked, free = _sums(trial, pods, level)
    is_short = free < asked[:, None]
    is_short[PODS] = False
    told = reasons.summed(reasons.domain_lacks(resources[row]) for row in np.nonzero(is_short)[0].tolist())
    text = f" ({', '.join(told)})" if told else ""
    short = {domain: np.flatnonzero(is_short[:, domain]).tolist() for domain in nearest}
    findings = []
    for domain, found in nearest.items():
        path = level.domains[domain]
        told = [
            reasons.domain_lacks_in_detail(
                path, resources[row], requested=asked[row], available=free[row, domain]
            )
            for row in short[domain]
        ]
        detail = ", ".join(told) or reasons.domain_holds(path, found, len(pods))
        findings.append(Finding(group, detail, path))
    best = next(iter(nearest))
    if not short[best]:
        return Lack(text, findings=tuple(findings))
    row = short[best][-1]
    amounts = {"requested": asked[row], "free": free[row, best]}
    numbers = {name: reasons.in_units(resources[row], float(amount)) for name, amount in amounts.items()}
    return Lack(text, resources[row], numbers, tuple(findings))


def _sums(trial: Trial, pods: Ints, level: Level) -> tuple[Ints, Ints]:
    """What the pods ask for, by resource, and what each domain has free on nodes open to the first of them."""
    shapes = trial.snapshot.pods.shape[pods]
    asked: Ints = trial.snapshot.requests[shapes].sum(axis=0)
    free = np.where(trial.mask(int(shapes[0])), trial.free(now=True).clip(min=0), 0)
    size = len(level.domains) + 1
    return asked, np.array([np.bincount(level.of_node + 1, row, size)[1:] for row in free], dtype=np.int64)


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
