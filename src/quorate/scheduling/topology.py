"""Domains: where a group with a topology constraint may go, best candidate first.

A place is a tuple of (level, domain) pairs, all of which hold; `()` is the whole cluster. Required means one
domain of that level. Preferred tries the deepest level first and degrades level by level. Among the domains
of a level the fullest that still suffices comes first. A group with running members stays where they are.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from quorate.scheduling.column import View
from quorate.scheduling.snapshot import NONE, UNKNOWN, Bools, Floats, Ints, Snapshot, State
from quorate.scheduling.trial import Trial

NOBODY: Ints = np.empty(0, dtype=np.int64)
Place = tuple[tuple[int, int], ...]
ANYWHERE: Place = ()


class Demand(NamedTuple):
    """Pods of one shape: what each node takes, and how many there are; of several the largest comes first."""

    shape: int
    view: View
    pods: int


def mask_of(snapshot: Snapshot, place: Place) -> Bools:
    """Nodes of a place."""
    mask = np.ones(len(snapshot.nodes.names), dtype=np.bool_)
    for level, domain in place:
        mask &= snapshot.levels[level].of_node == domain
    return mask


def nodes_of(snapshot: Snapshot, place: Place) -> Ints:
    """The nodes of a place that is not the whole cluster, in order."""
    *others, (level, domain) = place
    nodes = snapshot.levels[level].nodes(domain)
    for upper, wanted in others:
        nodes = nodes[snapshot.levels[upper].of_node[nodes] == wanted]
    return nodes


def tried_levels(snapshot: Snapshot, group: int) -> list[int]:
    """Levels whose domains are tried, deepest first; ends in NONE if the whole place is the last resort.

    Empty if the group requires a level that does not exist: nowhere is right.
    """
    groups = snapshot.groups
    return levels_between(snapshot, int(groups.required[group]), int(groups.preferred[group]))


def has_choice(snapshot: Snapshot, group: int, *, is_empty: bool) -> bool:
    """Whether a constraint leaves the next member more than one domain: the first of a group, or by preference."""
    groups = snapshot.groups
    return groups.preferred[group] != NONE or (is_empty and groups.required[group] != NONE)


def levels_between(snapshot: Snapshot, required: int, preferred: int) -> list[int]:
    """The levels of `tried_levels` for a pair of rows."""
    if required == UNKNOWN:
        return []
    if preferred in {NONE, UNKNOWN}:
        return [required]
    top = _top(snapshot, preferred)
    if required == NONE:
        return [*range(preferred, top - 1, -1), NONE]
    if _top(snapshot, required) != top or preferred < required:
        return [required]
    return list(range(preferred, required - 1, -1))


def home(trial: Trial, group: int, level: int) -> Ints:
    """Domains of the level that hold active members of the group."""
    groups = trial.snapshot.groups
    span = slice(int(groups.first_pod[group]), int(groups.last_pod[group]))
    nodes = trial.node[span][trial.state[span] == State.ACTIVE]
    domains = trial.snapshot.levels[level].of_node[nodes[nodes != NONE]]
    found: Ints = np.unique(domains[domains != NONE])
    return found


def place_of(trial: Trial, group: int) -> Place:
    """Where the running members of a group and of the groups above it keep new members to."""
    groups, place, row = trial.snapshot.groups, ANYWHERE, group
    while row != NONE:
        level = int(groups.required[row])
        if level >= 0:
            place = (*((level, domain) for domain in home(trial, row, level)[:1].tolist()), *place)
        row = int(groups.parent[row])
    return place


def candidates(trial: Trial, level: int, place: Place, demands: Sequence[Demand]) -> Iterator[int]:
    """Domains of a level inside a place that could hold each demand by itself, fullest first."""
    laid = trial.snapshot.levels[level]
    nodes = nodes_of(trial.snapshot, place) if place else NOBODY
    domains = laid.of_node[nodes]
    nodes, domains = nodes[domains != NONE], domains[domains != NONE]
    size = len(laid.domains)
    able = np.bincount(domains, minlength=size) > 0 if place else laid.sizes > 0
    room: Floats = np.zeros(size)
    for demand in reversed(demands):
        if place:
            weights = demand.view.counts(nodes).astype(np.float64)
            room = np.bincount(domains, weights=weights, minlength=size).astype(np.float64)
        else:
            room = demand.view.rooms(level, laid).astype(np.float64)
        able &= room >= demand.pods
    found = np.flatnonzero(able)
    if len(found):
        first = int(room[found].argmin())
        yield int(found[first])
        order = np.argsort(room[found], kind="stable")
        yield from found[order[1:]].tolist()


def _top(snapshot: Snapshot, level: int) -> int:
    """The first level of the topology that a level belongs to."""
    return next(rows.start for rows in snapshot.topologies.values() if level in rows)
