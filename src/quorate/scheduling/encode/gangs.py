"""Gangs as blocks of rows: a block is rebuilt when its PodGroup or one of its pods changes, else kept.

A snapshot joins the blocks in the order of their names and moves the indices; that is a few array operations
for any number of gangs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import inf, isnan, nan

import numpy as np

from quorate.api import labels
from quorate.api.core import PriorityClass
from quorate.api.duration import DurationError, seconds
from quorate.api.meta import Kind
from quorate.api.podgroup import PodGroup, TopologyConstraint
from quorate.plan import Ref
from quorate.rules import preemptibility as rules
from quorate.rules import tree as trees
from quorate.scheduling.encode.topologies import Topologies
from quorate.scheduling.snapshot import NONE, Ints, Preemptibility, Problem, State

PREEMPTIBILITIES = {
    rules.Preemptibility.PREEMPTIBLE: Preemptibility.PREEMPTIBLE,
    rules.Preemptibility.SEMI_PREEMPTIBLE: Preemptibility.SEMI,
    rules.Preemptibility.NON_PREEMPTIBLE: Preemptibility.NON,
}


@dataclass(frozen=True, slots=True)
class Member:
    """A pod as its gang needs it."""

    ref: Ref
    order: tuple[object, ...]
    group: str
    shape: int
    slot: int  # of its node, NONE
    state: State
    nominated: int  # slot


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """The rows of one gang; group indices count from its root, pod columns as in `POD_COLUMNS`."""

    ref: Ref
    names: tuple[str, ...]
    groups: Ints  # [groups, columns]
    pods: Ints  # [pods, columns]
    refs: tuple[Ref, ...]
    queue: str
    whole: tuple[int, int, bool, bool]  # priority, preemptibility, is held back, marks pods
    times: tuple[float, ...]  # created, last start, last evicted, stale since, grace, delay
    composite: tuple[str, str] | None
    problems: tuple[Problem, ...]


GROUP_COLUMNS = (
    "parent",
    "end",
    "first_pod",
    "last_pod",
    "min_member",
    "min_subgroup",
    "active",
    "required",
    "preferred",
)
POD_COLUMNS = ("leaf", "shape", "node", "state", "nominated", "is_core")


def block_of(
    podgroup: PodGroup,
    kind: Kind,
    members: Iterable[Member],
    topologies: Topologies,
    classes: Mapping[str, PriorityClass],
) -> Block:
    """The rows of a gang as it is now."""
    about = _ref_of(podgroup, kind)
    problems: list[Problem] = []
    tree = _tree(podgroup, about, problems)
    placed = sorted(members, key=lambda member: member.order)
    leaves = {group.name: [one for one in placed if one.group == group.name] for group in tree.leaves}
    if tree.root.is_leaf:
        leaves = {trees.ROOT: placed}
    problems += [
        _stray(one, podgroup, tree) for one in placed if one.group not in leaves and not tree.root.is_leaf
    ]
    rows = {name: row for row, name in enumerate(tree.groups)}
    preemptibility, priority = _protection(podgroup, classes)
    active = {name: sum(one.state in ACTIVE for one in found) for name, found in leaves.items()}
    core = trees.core(tree, active) if preemptibility is Preemptibility.SEMI else {}
    pods, refs = _pod_rows(leaves, rows, core)
    return Block(
        ref=about,
        names=tuple(tree.groups),
        groups=_group_rows(
            tree, rows, leaves, active, _constraints(podgroup, tree, topologies, about, problems)
        ),
        pods=pods,
        refs=refs,
        queue=podgroup.spec.queue or podgroup.metadata.label(labels.QUEUE),
        whole=(
            priority,
            preemptibility,
            _is_held_back(podgroup),
            podgroup.spec.mark_unschedulable is not False,
        ),
        times=_times(podgroup, about, problems),
        composite=_composite(podgroup),
        problems=tuple(problems),
    )


ACTIVE = (State.ACTIVE, State.SUCCEEDED)


def _ref_of(podgroup: PodGroup, kind: Kind) -> Ref:
    meta = podgroup.metadata
    return Ref(kind=kind, name=meta.name, namespace=meta.namespace, uid=meta.uid)


def _tree(podgroup: PodGroup, about: Ref, problems: list[Problem]) -> trees.Tree:
    """The groups, or a gang that nothing can satisfy where admission was bypassed."""
    try:
        return trees.build(podgroup)
    except trees.TreeError as error:
        message = f"{error}; no pod of this gang is scheduled until it is fixed"
        problems.append(Problem(about, "InvalidGroups", message))
        return trees.Tree({trees.ROOT: trees.Group(name=trees.ROOT, minimum_members=2**31)})


def _stray(member: Member, podgroup: PodGroup, tree: trees.Tree) -> Problem:
    named = (
        f'subgroup "{member.group or "default"}", which does not exist in PodGroup {podgroup.metadata.key}'
    )
    valid = ", ".join(group.name for group in tree.leaves)
    message = f"Pod references {named}; label {labels.SUB_GROUP_NAME} must be one of: {valid}"
    return Problem(member.ref, "UnknownSubGroup", message)


def _pod_rows(
    leaves: Mapping[str, list[Member]], rows: Mapping[str, int], core: Mapping[str, int]
) -> tuple[Ints, tuple[Ref, ...]]:
    columns: list[tuple[int, ...]] = []
    refs: list[Ref] = []
    for name, found in leaves.items():
        left = core.get(name, 0)
        for one in found:
            is_core = one.state is State.ACTIVE and left > 0
            left -= is_core
            refs.append(one.ref)
            columns.append((rows[name], one.shape, one.slot, one.state, one.nominated, is_core))
    return np.array(columns, dtype=np.int64).reshape(-1, len(POD_COLUMNS)), tuple(refs)


def _group_rows(
    tree: trees.Tree,
    rows: Mapping[str, int],
    leaves: Mapping[str, list[Member]],
    active: Mapping[str, int],
    constraints: Mapping[str, tuple[int, int]],
) -> Ints:
    """Groups stand in preorder already; sums and ends run up from the last row."""
    table = np.zeros((len(GROUP_COLUMNS), len(rows)), dtype=np.int64)
    parent, end, first, last, min_member, min_subgroup, active_row, required, preferred = table
    at = 0
    for name, row in rows.items():
        group = tree.groups[name]
        parent[row] = NONE if group.parent is None else rows[group.parent]
        end[row] = row + 1
        first[row] = at
        at += len(leaves.get(name, ()))
        last[row] = at
        min_member[row], active_row[row] = group.minimum_members, active.get(name, 0)
        min_subgroup[row] = 0 if group.is_leaf else group.minimum_children
        required[row], preferred[row] = constraints[name]
    for row in range(len(rows) - 1, 0, -1):
        above = parent[row]
        end[above], last[above] = max(end[above], end[row]), max(last[above], last[row])
        active_row[above] += active_row[row]
    return np.ascontiguousarray(table.T)


def _constraints(
    podgroup: PodGroup, tree: trees.Tree, topologies: Topologies, about: Ref, problems: list[Problem]
) -> dict[str, tuple[int, int]]:
    """Level rows of each group; a group that names no topology inherits it from the nearest above."""
    names: dict[str | None, str] = {None: podgroup.metadata.annotation(labels.TOPOLOGY)}
    found: dict[str, tuple[int, int]] = {}
    for name, group in tree.groups.items():
        constraint = group.topology or TopologyConstraint()
        topology = names[name] = constraint.topology or names[group.parent]
        for level in (constraint.required_topology_level, constraint.preferred_topology_level):
            problem = topologies.problem(topology, level) if level else ""
            if problem:
                problems.append(Problem(about, "UnknownTopologyLevel", problem))
        found[name] = (
            topologies.row(topology, constraint.required_topology_level),
            topologies.row(topology, constraint.preferred_topology_level),
        )
    return found


def _protection(podgroup: PodGroup, classes: Mapping[str, PriorityClass]) -> tuple[Preemptibility, int]:
    priority = rules.priority_of(podgroup.spec.priority_class_name, classes).value
    claim = rules.Claim("spec.preemptibility", podgroup.spec.preemptibility)
    return PREEMPTIBILITIES[rules.resolve([claim], priority).value], priority


def _is_held_back(podgroup: PodGroup) -> bool:
    return podgroup.spec.scheduling_backoff == 1 and any(
        condition.status == "True" and condition.type == "UnschedulableOnNodePool"
        for condition in podgroup.status.scheduling_conditions or ()
    )


def _times(podgroup: PodGroup, about: Ref, problems: list[Problem]) -> tuple[float, ...]:
    meta, spec = podgroup.metadata, podgroup.spec
    stated = {}
    for field, text, default in (
        ("stalenessGracePeriod", spec.staleness_grace_period, nan),
        ("preemptionDelay", spec.preemption_delay, 0.0),
    ):
        try:
            stated[field] = seconds(text) if text else default
        except DurationError as error:
            stated[field] = default
            problems.append(Problem(about, "InvalidDuration", f"spec.{field}: {error}"))
    return (
        epoch(meta.creation_timestamp, 0.0),
        epoch(meta.annotation(labels.LAST_START), nan),
        epoch(meta.annotation(labels.LAST_EVICTION), nan),
        _stale_since(podgroup),
        stated["stalenessGracePeriod"],
        min(stated["preemptionDelay"], inf),
    )


def _stale_since(podgroup: PodGroup) -> float:
    """When a gang that had started fell below a minimum: upstream's annotation, else what its status shows."""
    noted = epoch(podgroup.metadata.annotation(labels.STALE_SINCE), nan)
    found = {condition.type: condition for condition in podgroup.status.conditions or ()}
    satisfied, scheduled = found.get("Satisfied"), found.get("Scheduled")
    if not isnan(noted) or satisfied is None or satisfied.status == "True":
        return noted
    if scheduled is None or scheduled.status != "True":
        return nan
    return epoch(satisfied.last_transition_time or "", nan)


def epoch(text: str, missing: float) -> float:
    """Seconds of an RFC 3339 time; what cannot be read counts as missing."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else missing
    except ValueError:
        return missing


def _composite(podgroup: PodGroup) -> tuple[str, str] | None:
    name = podgroup.metadata.label(labels.COMPOSITE_GROUP)
    return (podgroup.metadata.namespace, name) if name else None
