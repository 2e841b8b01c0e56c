"""Joins what the encoder keeps into one `Snapshot`: blocks end to end, indices moved, slots to rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup, CompositePodGroupSpec
from quorate.api.meta import ObjectMeta
from quorate.plan import Ref
from quorate.scheduling.encode.gangs import GROUP_COLUMNS, POD_COLUMNS, Block, Member
from quorate.scheduling.encode.nodes import NodeTable
from quorate.scheduling.encode.pods import Key, Shapes
from quorate.scheduling.encode.queues import DEFAULT
from quorate.scheduling.encode.topologies import Topologies
from quorate.scheduling.request import Request
from quorate.scheduling.snapshot import (
    ABSENT,
    NONE,
    Bools,
    Composites,
    Gangs,
    Groups,
    Ints,
    Pods,
    Problem,
    Queues,
    Snapshot,
)


@dataclass(frozen=True)
class Parts:
    nodes: NodeTable
    shapes: Shapes
    levels: Topologies
    blocks: list[Block]
    loose: list[Member]
    composites: Mapping[Key, CompositePodGroup]
    queues: Queues
    problems: tuple[Problem, ...]


def assemble(parts: Parts, *, now: float, revision: str) -> Snapshot:
    requests = _requests(parts.shapes.requests, parts.nodes)
    nodes, rows = parts.nodes.freeze()
    levels, topologies = parts.levels.freeze(nodes, parts.nodes.version)
    named = {block.composite for block in parts.blocks if block.composite is not None}
    composites = {key: row for row, key in enumerate(sorted({*parts.composites, *named}))}
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
        groups=_groups(parts.blocks),
        gangs=_gangs(parts, composites),
        composites=_composites(parts, composites),
        queues=parts.queues,
        problems=(
            *parts.problems,
            *parts.nodes.problems.values(),
            *chain.from_iterable(block.problems for block in parts.blocks if block.problems),
        ),
    )


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
    blocks, loose = parts.blocks, parts.loose
    sizes = [len(block.pods) for block in blocks]
    tail = np.array([(NONE, one.shape, one.slot, one.state, NONE, 0) for one in loose], dtype=np.int64)
    tables = [*(block.pods for block in blocks), tail.reshape(-1, len(POD_COLUMNS))]
    leaf, shape, node, state, nominated, is_core = _columns_of(tables)
    gang = np.repeat(np.arange(len(blocks) + 1), [*sizes, len(loose)])
    first_group = np.array([*_starts([len(block.groups) for block in blocks]), 0], dtype=np.int64)
    is_member = gang < len(blocks)
    return Pods(
        refs=tuple(chain(chain.from_iterable(block.refs for block in blocks), (one.ref for one in loose))),
        gang=np.where(is_member, gang, NONE),
        leaf=np.where(is_member, leaf + first_group[gang], NONE),
        shape=shape,
        node=rows[node],
        state=state,
        nominated=rows[nominated],
        is_core=is_core.astype(np.bool_),
    )


def _groups(blocks: list[Block]) -> Groups:
    sizes = [len(block.groups) for block in blocks]
    empty = np.empty((0, len(GROUP_COLUMNS)), dtype=np.int64)
    table = _columns_of([empty, *(block.groups for block in blocks)])
    parent, end, first_pod, last_pod, min_member, min_subgroup, active, required, preferred = table
    gang = np.repeat(np.arange(len(blocks)), sizes)
    group_shift = _starts(sizes)[gang]
    pod_shift = _starts([len(block.pods) for block in blocks])[gang]
    return Groups(
        names=tuple(chain.from_iterable(block.names for block in blocks)),
        gang=gang,
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
    blocks = parts.blocks
    queue_rows = {name: row for row, name in enumerate(parts.queues.names)}
    is_leaf: Bools = parts.queues.is_leaf
    names = tuple(block.queue or DEFAULT for block in blocks)
    rows = [queue_rows.get(name, NONE) for name in names]
    priority, preemptibility, is_held_back, marks_pods = _columns([block.whole for block in blocks], 4)
    created, last_start, last_evicted, stale_since, grace, delay = _columns(
        [block.times for block in blocks], 6
    )
    return Gangs(
        refs=tuple(block.ref for block in blocks),
        root=_starts([len(block.groups) for block in blocks]),
        queue=np.array([row if row != NONE and is_leaf[row] else NONE for row in rows], dtype=np.int64),
        queue_names=names,
        priority=priority.astype(np.int64),
        preemptibility=preemptibility.astype(np.int64),
        created=created,
        last_start=last_start,
        last_evicted=last_evicted,
        stale_since=stale_since,
        staleness_grace=grace,
        preemption_delay=delay,
        composite=np.array(
            [NONE if block.composite is None else composites[block.composite] for block in blocks],
            dtype=np.int64,
        ),
        is_held_back=is_held_back.astype(np.bool_),
        marks_pods=marks_pods.astype(np.bool_),
    )


def _composites(parts: Parts, rows: Mapping[Key, int]) -> Composites:
    found = [parts.composites.get(key) or _absent(*key) for key in rows]
    counts = np.zeros(len(found), dtype=np.int64)
    for block in parts.blocks:
        if block.composite is not None:
            counts[rows[block.composite]] += 1
    parents = [rows.get((one.metadata.namespace, one.spec.parent), NONE) for one in found]
    spreads = {
        key: number
        for number, key in enumerate(sorted({(one.metadata.namespace, one.spec.spread) for one in found}))
    }
    for parent in parents:
        if parent != NONE:
            counts[parent] += 1
    constraints = [one.spec.topology_constraint for one in found]
    return Composites(
        refs=tuple(
            Ref(kind=COMPOSITE_POD_GROUP, name=one.metadata.name, namespace=one.metadata.namespace)
            for one in found
        ),
        parent=np.array(parents, dtype=np.int64),
        minimum=np.array(
            [
                int(counts[row]) if one.spec.min_group_count is None else one.spec.min_group_count
                for row, one in enumerate(found)
            ],
            dtype=np.int64,
        ),
        required=np.array(
            [
                NONE if one is None else parts.levels.row(one.topology, one.required_topology_level)
                for one in constraints
            ],
            dtype=np.int64,
        ),
        preferred=np.array(
            [
                NONE if one is None else parts.levels.row(one.topology, one.preferred_topology_level)
                for one in constraints
            ],
            dtype=np.int64,
        ),
        spread=np.array(
            [spreads[one.metadata.namespace, one.spec.spread] if one.spec.spread else NONE for one in found],
            dtype=np.int64,
        ),
    )


def _absent(namespace: str, name: str) -> CompositePodGroup:
    """Stands for a composite that gangs name before it is there: it holds them back."""
    spec = CompositePodGroupSpec(min_group_count=ABSENT)
    return CompositePodGroup(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def _columns_of(parts: list[Ints]) -> Ints:
    """Tables end to end, then column by column; rows first is how memory is copied fastest."""
    return np.ascontiguousarray(np.concatenate(parts).T)


def _columns(rows: list[tuple[float, ...]], width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array(rows, dtype=np.float64).reshape(-1, width).T


def _starts(sizes: list[int]) -> Ints:
    """Where each part begins when parts of these sizes stand end to end."""
    return np.array([0, *accumulate(sizes)][: len(sizes)], dtype=np.int64)
