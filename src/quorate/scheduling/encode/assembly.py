"""Makes a `Snapshot` of what the encoder keeps: indices moved, slots to rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from quorate.api.composite import CompositePodGroup
from quorate.plan import Ref
from quorate.scheduling.encode.composites import composites_of
from quorate.scheduling.encode.gangs import Member
from quorate.scheduling.encode.joined import Joined
from quorate.scheduling.encode.nodes import NodeTable
from quorate.scheduling.encode.pods import Key, Shapes
from quorate.scheduling.encode.queues import DEFAULT
from quorate.scheduling.encode.topologies import Topologies
from quorate.scheduling.request import Request
from quorate.scheduling.snapshot import (
    NONE,
    Budgets,
    Gangs,
    Groups,
    Ints,
    Pods,
    Problem,
    Queues,
    Snapshot,
    Unbound,
)


@dataclass(frozen=True)
class Parts:
    nodes: NodeTable
    shapes: Shapes
    levels: Topologies
    gangs: Joined
    loose: list[Member]
    composites: Mapping[Key, CompositePodGroup]
    queues: Queues
    budgets: Budgets
    unbound: tuple[Unbound, ...]
    stock: Mapping[tuple[str, str], tuple[Ref, ...]]
    namespaces: Mapping[str, Mapping[str, str]]
    problems: tuple[Problem, ...]


def assemble(parts: Parts, *, now: float, revision: str) -> Snapshot:
    requests = _requests(parts.shapes.requests, parts.nodes)
    nodes, rows = parts.nodes.freeze()
    levels, topologies = parts.levels.freeze(nodes, parts.nodes.version)
    named = {one for one in set(parts.gangs.composites) if one is not None}
    composites = {key: row for row, key in enumerate(sorted({*parts.composites, *named}))}
    gangs = _gangs(parts, composites)
    together, broken = composites_of(composites, parts.composites, parts.gangs.composites, parts.levels)
    return Snapshot(
        now=now,
        revision=revision,
        resources=tuple(parts.nodes.resources),
        nodes=nodes,
        levels=levels,
        topologies=topologies,
        shapes=tuple(parts.shapes.requests),
        requests=requests,
        label_sets=tuple(parts.shapes.label_sets),
        pods=_pods(parts, rows),
        groups=_groups(parts.gangs),
        gangs=gangs,
        composites=together,
        queues=parts.queues,
        budgets=parts.budgets,
        unbound=parts.unbound,
        stock=parts.stock,
        namespaces=parts.namespaces,
        problems=(
            *parts.problems,
            *parts.nodes.problems.values(),
            *chain.from_iterable(found for _, found in sorted(parts.gangs.problems.items())),
            *_unqueued(parts.gangs, gangs),
            *broken,
        ),
    )


def _unqueued(joined: Joined, gangs: Gangs) -> Iterator[Problem]:
    """Gangs that run in a queue which takes none; those that wait are refused instead."""
    for number in np.flatnonzero((gangs.queue == NONE) & (joined.active > 0)).tolist():
        text = (
            f"spec.queue: {gangs.queue_names[number]} is no queue that takes gangs: what runs goes on, counts "
            "against no quota and gives way to nobody; create the queue, or name another"
        )
        yield Problem(gangs.refs[number], "QueueDoesNotExist", text)


def _requests(shapes: list[Request], nodes: NodeTable) -> Ints:
    """[S, R]; names a resource's row first, so that the axis is complete before nodes are frozen."""
    cells = [
        (shape, nodes.row(name), amount) for shape, one in enumerate(shapes) for name, amount in one.amounts
    ]
    table = np.zeros((len(shapes), len(nodes.resources)), dtype=np.int64)
    for shape, row, amount in cells:
        table[shape, row] = amount
    return table


def _pods(parts: Parts, rows: Ints) -> Pods:
    gangs, loose = parts.gangs, parts.loose
    table = gangs.pods
    if loose:
        tail = [(NONE, one.shape, one.slot, one.state, NONE, 0, NONE, NONE) for one in loose]
        table = np.concatenate([table, np.array(tail, dtype=np.int64).T], axis=1)
    leaf, shape, node, state, nominated, is_core, announcer, budget = table
    sizes = np.append(np.diff(gangs.first_pod), len(loose))
    every = np.append(np.arange(len(gangs.keys)), NONE)
    shift, pod_shift = (
        np.repeat(np.append(first[:-1], 0), sizes) for first in (gangs.first_group, gangs.first_pod)
    )
    return Pods(
        refs=tuple(gangs.pod_refs) + tuple(one.ref for one in loose),
        gang=np.repeat(every, sizes),
        leaf=leaf + shift,
        shape=shape,
        node=rows[node],
        state=state,
        nominated=rows[nominated],
        is_core=is_core.astype(np.bool_),
        announcer=np.where(announcer == NONE, NONE, announcer + pod_shift),
        is_guarded=np.zeros(len(shape), dtype=np.bool_),
        budget=budget,
    )


def _groups(gangs: Joined) -> Groups:
    parent, end, min_member, min_subgroup, required, preferred, first_pod, last_pod, active = gangs.groups
    sizes = np.diff(gangs.first_group)
    group_shift = np.repeat(gangs.first_group[:-1], sizes)
    pod_shift = np.repeat(gangs.first_pod[:-1], sizes)
    return Groups(
        names=tuple(gangs.names),
        gang=np.repeat(np.arange(len(sizes)), sizes),
        parent=np.where(parent == NONE, NONE, parent + group_shift),
        end=end + group_shift,
        first_pod=first_pod + pod_shift,
        last_pod=last_pod + pod_shift,
        min_member=min_member,
        min_subgroup=min_subgroup,
        active=active,
        required=required,
        preferred=preferred,
    )


def _gangs(parts: Parts, composites: Mapping[Key, int]) -> Gangs:
    gangs, is_leaf = parts.gangs, parts.queues.is_leaf.tolist()
    rows = {name: row for row, name in enumerate(parts.queues.names) if is_leaf[row]}
    names = tuple(name or DEFAULT for name in gangs.queues)
    flags, times = gangs.whole[:3].astype(np.int64), gangs.whole[3:]
    priority, preemptibility, is_held_back = flags
    created, last_start, last_evicted, stale_since, grace, delay = times
    return Gangs(
        refs=tuple(gangs.refs),
        root=gangs.first_group[:-1],
        queue=np.array([rows.get(name, NONE) for name in names], dtype=np.int64),
        queue_names=names,
        priority=priority,
        preemptibility=preemptibility,
        created=created,
        last_start=last_start,
        last_evicted=last_evicted,
        stale_since=stale_since,
        staleness_grace=grace,
        preemption_delay=delay,
        composite=_above(gangs, composites),
        is_held_back=is_held_back.astype(np.bool_),
    )


def _above(gangs: Joined, rows: Mapping[Key, int]) -> Ints:
    if not rows:
        return np.full(len(gangs.keys), NONE, dtype=np.int64)
    found = [NONE if one is None else rows[one] for one in gangs.composites]
    return np.array(found, dtype=np.int64)
