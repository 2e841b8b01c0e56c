"""Filters that only read the nodes: which nodes may take pods of a shape, whatever else is placed.

`static_mask` is asked once per shape and cycle; `Trial` caches it. What depends on placed pods is in
`neighbours`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce

import numpy as np

from quorate.scheduling.request import Expression, Request, Taint, Term, Toleration
from quorate.scheduling.snapshot import Bools, Ints, Nodes, Snapshot

HARD_EFFECTS = ("NoSchedule", "NoExecute")
SOFT_EFFECTS = ("PreferNoSchedule",)
TAINTED = "node(s) had untolerated taint(s)"


def static_mask(snapshot: Snapshot, shape: int) -> Bools:
    """Ready nodes whose taints are tolerated and whose labels match selector, affinity and volumes."""
    if snapshot.shapes[shape].blocked_by:
        return np.zeros(len(snapshot.nodes.names), dtype=np.bool_)
    return reduce(np.logical_and, (passes for _, passes in tests(snapshot, shape)))


def tests(snapshot: Snapshot, shape: int) -> Iterator[tuple[str, Bools]]:
    """What is said of the nodes that fail a test, and the nodes that pass it."""
    request, nodes = snapshot.shapes[shape], snapshot.nodes
    yield "node(s) were not ready", nodes.schedulable
    yield TAINTED, tolerated(nodes, request.tolerations)
    yield "node(s) didn't match Pod's node affinity/selector", is_selected(nodes, request)
    for terms in request.volume_terms:
        yield "node(s) had volume node affinity conflict", matches_any(nodes, terms)


def is_selected(nodes: Nodes, request: Request) -> Bools:
    """Nodes that match the selector and the required affinity."""
    selected = matches_term(nodes, request.node_selector)
    return selected & matches_any(nodes, request.node_terms) if request.node_terms else selected


def tolerated(nodes: Nodes, tolerations: tuple[Toleration, ...]) -> Bools:
    """Nodes all of whose hard taints are tolerated."""
    closed = untolerated(nodes, tolerations, HARD_EFFECTS) > 0
    return ~closed


def untolerated(nodes: Nodes, tolerations: tuple[Toleration, ...], effects: tuple[str, ...]) -> Ints:
    """How many taints of these effects are not tolerated, by node; counted once per distinct set of taints."""
    counts = [
        sum(
            taint.effect in effects and not any(_tolerates(one, taint) for one in tolerations)
            for taint in taints
        )
        for taints in nodes.taint_sets
    ]
    return np.array(counts, dtype=np.int64)[nodes.taints]


def taints_on(nodes: Nodes, tolerations: tuple[Toleration, ...], chosen: Bools) -> list[Taint]:
    """The hard taints of the chosen nodes that are not tolerated, each once, those of most nodes first."""
    sets = np.bincount(nodes.taints[chosen], minlength=len(nodes.taint_sets)).tolist()
    counts = Counter[Taint]()
    for taints, count in zip(nodes.taint_sets, sets, strict=True):
        for taint in taints:
            if (
                count
                and taint.effect in HARD_EFFECTS
                and not any(_tolerates(one, taint) for one in tolerations)
            ):
                counts[taint] += count
    return [taint for taint, _ in counts.most_common()]


def matches_any(nodes: Nodes, terms: Iterable[Term]) -> Bools:
    none = np.zeros(len(nodes.names), dtype=np.bool_)
    return reduce(np.logical_or, (matches_term(nodes, term) for term in terms if term), none)


def matches_term(nodes: Nodes, term: Term) -> Bools:
    every = np.ones(len(nodes.names), dtype=np.bool_)
    return reduce(np.logical_and, (matches(nodes, expression) for expression in term), every)


def matches(nodes: Nodes, expression: Expression) -> Bools:
    """Nodes whose label passes one test; a node without the label passes NotIn and DoesNotExist only."""
    labels = nodes.labels.get(expression.key)
    if labels is None:
        passes = expression.operator in {"NotIn", "DoesNotExist"}
        return np.full(len(nodes.names), passes, dtype=np.bool_)
    has = labels.ids >= 0
    match expression.operator:
        case "Exists":
            return has
        case "DoesNotExist":
            return ~has
        case "In" | "NotIn":
            wanted = [labels.index[value] for value in expression.values if value in labels.index]
            is_in = np.isin(labels.ids, wanted)
            return is_in if expression.operator == "In" else ~is_in
        case _:
            larger = [_compares(value, expression) for value in labels.values]
            numeric: Bools = np.array([*larger, False])[labels.ids]
            return has & numeric


def _compares(value: str, expression: Expression) -> bool:
    try:
        mine, other = int(value), int(expression.values[0])
    except (ValueError, IndexError):
        return False
    return mine > other if expression.operator == "Gt" else mine < other


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    return toleration.operator == "Exists" or (bool(toleration.key) and toleration.value == taint.value)
