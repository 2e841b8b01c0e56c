"""Gangs as blocks of rows: a frame from the PodGroup, and the members that stand in it.

A frame is made when the PodGroup changes, a block when one of its pods does. `joined` puts blocks end to end.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from math import inf, isnan, nan
from operator import attrgetter

import msgspec
import numpy as np

from quorate.api import labels
from quorate.api.core import PriorityClass
from quorate.api.duration import DurationError, seconds
from quorate.api.meta import Kind
from quorate.api.podgroup import PodGroup, TopologyConstraint
from quorate.api.topology import NODE_LABELS
from quorate.plan import Ref
from quorate.rules import preemptibility as rules
from quorate.rules import tree as trees
from quorate.scheduling.encode.topologies import Topologies
from quorate.scheduling.snapshot import NO_TREE, NONE, UNKNOWN, Ints, Preemptibility, Problem, State

PREEMPTIBILITIES = {
    rules.Preemptibility.PREEMPTIBLE: Preemptibility.PREEMPTIBLE,
    rules.Preemptibility.SEMI_PREEMPTIBLE: Preemptibility.SEMI,
    rules.Preemptibility.NON_PREEMPTIBLE: Preemptibility.NON,
}


class Member(msgspec.Struct, frozen=True, gc=False):
    """A pod as its gang needs it."""

    ref: Ref
    order: tuple[object, ...]
    group: str
    shape: int
    slot: int  # of its node, NONE
    state: State
    nominated: int  # slot
    announcer: str = ""  # the pod that announced it, which does not exist itself yet
    preemptibility: str = ""  # what its label asks for
    budget: int = NONE  # what guards it from eviction


class Frame(msgspec.Struct, frozen=True):
    """What a PodGroup says of its gang, whoever its members are."""

    ref: Ref
    podgroup: PodGroup
    tree: trees.Tree
    rows: dict[str, int]  # of the groups
    table: Ints  # [groups, columns], without what members bring
    queue: str
    priority: int
    whole: tuple[float, ...]  # as in `WHOLE_COLUMNS`, from `is_held_back` on
    composite: tuple[str, str] | None
    problems: tuple[Problem, ...]


class Block(msgspec.Struct, frozen=True):
    """The rows of one gang; group indices count from its root, columns as in `POD_COLUMNS`."""

    ref: Ref
    names: tuple[str, ...]
    groups: Ints  # [groups, columns]
    pods: Ints  # [pods, columns]
    refs: tuple[Ref, ...]
    queue: str
    whole: tuple[float, ...]
    composite: tuple[str, str] | None
    problems: tuple[Problem, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.ref.namespace, self.ref.name


GROUP_COLUMNS = (
    "parent",
    "end",
    "min_member",
    "min_subgroup",
    "required",
    "preferred",
    "first_pod",
    "last_pod",
    "active",
)
POD_COLUMNS = ("leaf", "shape", "node", "state", "nominated", "is_core", "announcer", "budget")
WHOLE_COLUMNS = (
    "priority",
    "preemptibility",
    "is_held_back",
    "created",
    "last_start",
    "last_evicted",
    "stale_since",
    "staleness_grace",
    "preemption_delay",
)
FIRST, LAST, LIVE = (GROUP_COLUMNS.index(name) for name in ("first_pod", "last_pod", "active"))


def frame_of(
    podgroup: PodGroup, kind: Kind, topologies: Topologies, classes: Mapping[str, PriorityClass]
) -> Frame:
    about = _ref_of(podgroup, kind)
    problems: list[Problem] = []
    tree = _tree(podgroup, about, problems)
    rows = {name: row for row, name in enumerate(tree.groups)}
    priority = rules.priority_of(podgroup.spec.priority_class_name, classes)
    if priority.warning:
        problems.append(Problem(about, "UnknownPriorityClass", priority.warning))
    table = _group_rows(tree, rows, _constraints(podgroup, tree, topologies, about, problems))
    times = _times(podgroup, about, problems)
    return Frame(
        ref=about,
        podgroup=podgroup,
        tree=tree,
        rows=rows,
        table=table,
        queue=podgroup.spec.queue or podgroup.metadata.label(labels.QUEUE),
        priority=priority.value,
        whole=(_is_held_back(podgroup), *times),
        composite=_composite(podgroup),
        problems=tuple(problems),
    )


def block_of(frame: Frame, members: Iterable[Member]) -> Block:
    """The rows of a gang with the members it has now."""
    members = sorted(members, key=attrgetter("order"))
    tree, rows = frame.tree, frame.rows
    leaves: dict[str, list[Member]] = {group.name: [] for group in tree.leaves}
    strays: list[Problem] = []
    for one in members:
        name = trees.ROOT if tree.root.is_leaf else one.group
        if name in leaves:
            leaves[name].append(one)
        else:
            strays.append(_stray(one, frame.podgroup, tree))
    active = {name: sum(one.state in ACTIVE for one in found) for name, found in leaves.items()}
    said = ((one.ref.name, one.preemptibility) for one in members)
    resolved = rules.of_podgroup(frame.podgroup, said, frame.priority)
    protection = PREEMPTIBILITIES[resolved.value]
    doubts = (Problem(frame.ref, "InvalidPreemptibility", one) for one in resolved.warnings)
    core = trees.core(tree, active) if protection is Preemptibility.SEMI else {}
    pods, refs = _pod_rows(leaves, rows, core)
    return Block(
        ref=frame.ref,
        names=tuple(tree.groups),
        groups=_with_members(frame, leaves, active),
        pods=pods,
        refs=refs,
        queue=frame.queue,
        whole=(frame.priority, protection, *frame.whole),
        composite=frame.composite,
        problems=(*frame.problems, *strays, *doubts),
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
        problems.append(Problem(about, NO_TREE, message))
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
    refs = [one.ref for found in leaves.values() for one in found]
    places = {ref.name: row for row, ref in enumerate(refs)}
    for name, found in leaves.items():
        left = core.get(name, 0)
        for one in found:
            is_core = one.state is State.ACTIVE and left > 0
            left -= is_core
            facts = (one.state, one.nominated, is_core, places.get(one.announcer, NONE), one.budget)
            columns.append((rows[name], one.shape, one.slot, *facts))
    return np.array(columns, dtype=np.int64).reshape(-1, len(POD_COLUMNS)), tuple(refs)


def _group_rows(
    tree: trees.Tree, rows: Mapping[str, int], constraints: Mapping[str, tuple[int, int]]
) -> Ints:
    """Groups stand in preorder already; ends run up from the last row."""
    table = np.zeros((len(GROUP_COLUMNS), len(rows)), dtype=np.int64)
    parent, end, min_member, min_subgroup, required, preferred = table[:FIRST]
    for name, row in rows.items():
        group = tree.groups[name]
        parent[row] = NONE if group.parent is None else rows[group.parent]
        end[row] = row + 1
        min_member[row] = group.minimum_members
        min_subgroup[row] = 0 if group.is_leaf else group.minimum_children
        required[row], preferred[row] = constraints[name]
    for row in range(len(rows) - 1, 0, -1):
        end[parent[row]] = max(end[parent[row]], end[row])
    return np.ascontiguousarray(table.T)


def _with_members(frame: Frame, leaves: Mapping[str, list[Member]], active: Mapping[str, int]) -> Ints:
    """The rows of the groups with where their members stand; sums run up from the last row."""
    table = frame.table.copy()
    at = 0
    for name, row in frame.rows.items():
        first, at = at, at + len(leaves.get(name, ()))
        table[row, FIRST:] = first, at, active.get(name, 0)
    for row in range(len(table) - 1, 0, -1):
        above = table[row, 0]
        table[above, LAST] = max(table[above, LAST], table[row, LAST])
        table[above, LIVE] += table[row, LIVE]
    return table


def _constraints(
    podgroup: PodGroup, tree: trees.Tree, topologies: Topologies, about: Ref, problems: list[Problem]
) -> dict[str, tuple[int, int]]:
    """Level rows of each group; a group that names no topology inherits it from the nearest above."""
    names: dict[str | None, str] = {None: podgroup.metadata.annotation(labels.TOPOLOGY)}
    found: dict[str, tuple[int, int]] = {}
    for name, group in tree.groups.items():
        constraint = group.topology or TopologyConstraint()
        inherited = names[group.parent]
        topology = constraint.topology or inherited
        names[name] = inherited if topology == NODE_LABELS else topology
        named = (constraint.required_topology_level, constraint.preferred_topology_level)
        for level in named if topologies.knows(constraint.topology) else ():
            problem = topologies.problem(topology, level) if level else ""
            if problem:
                problems.append(Problem(about, "UnknownTopologyLevel", problem))
        required = topologies.row(topology, constraint.required_topology_level)
        if not topologies.knows(constraint.topology):
            required = UNKNOWN
            problems.append(Problem(about, "UnknownTopology", topologies.problem(constraint.topology, "any")))
        found[name] = (
            required,
            topologies.row(topology, constraint.preferred_topology_level),
        )
    return found


def label_levels(podgroup: PodGroup) -> set[str]:
    """The node labels that the groups of a gang ask for as levels."""
    constraints = [podgroup.spec.topology_constraint]
    constraints += [group.topology_constraint for group in podgroup.spec.sub_groups or ()]
    asked = [one for one in constraints if one is not None and one.topology == NODE_LABELS]
    named = {label for one in asked for label in (one.required_topology_level, one.preferred_topology_level)}
    return named - {""}


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
    ):  # NaN: as the policy says
        try:
            stated[field] = seconds(text) if text else default
        except DurationError as error:
            stated[field] = default
            meanwhile = "until then there is none" if default == 0 else "until then the default counts"
            problems.append(Problem(about, "InvalidDuration", f"spec.{field}: {error}; {meanwhile}"))
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
