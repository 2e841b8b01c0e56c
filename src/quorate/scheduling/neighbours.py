"""Where a pod may go because of the pods that are there: affinity, anti-affinity, spread and host ports.

Occupants are the pods of a trial that hold a node, and what a draft put down since. A shape that none of this
concerns is never looked at here: `concerns` says so once per snapshot.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from quorate.scheduling import fit
from quorate.scheduling.request import Expression, Neighbour, Port, Request, Selector, Spread
from quorate.scheduling.snapshot import NONE, Bools, Floats, Ints, Smalls, Snapshot, State

ANY_ADDRESS = "0.0.0.0"  # noqa: S104  the wire's word for every address of a node
STAYS = (State.ACTIVE,)
HOLDS = (*STAYS, State.RELEASING)


@dataclass(frozen=True, slots=True, eq=False)
class Occupants:
    """Pods that hold a node, as pairs of shape and node with a count."""

    shapes: Ints
    nodes: Ints
    counts: Ints

    def on_nodes(self, chosen: Iterable[int], size: int) -> Ints:
        """How many occupants of the chosen shapes each node has."""
        rows = np.isin(self.shapes, list(chosen))
        weights = self.counts[rows].astype(np.float64)
        return np.bincount(self.nodes[rows], weights=weights, minlength=size).astype(np.int64)


def concerns(snapshot: Snapshot) -> frozenset[int]:
    """Shapes that read other pods, or that the anti-affinity of others reads."""
    apart = [term for request in snapshot.shapes for term in request.apart if not term.weight]
    return frozenset(
        shape
        for shape, request in enumerate(snapshot.shapes)
        if request.is_coupled or any(selects(snapshot, term.selector, shape) for term in apart)
    )


def occupants(
    snapshot: Snapshot, state: Smalls, node: Smalls, drafted: Iterable[tuple[int, Ints, Ints]], *, now: bool
) -> Occupants:
    """Who holds a node now, or once those that leave are gone; `drafted` are shapes with nodes and counts."""
    rows = np.flatnonzero(np.isin(state, HOLDS if now else STAYS) & (node != NONE))
    shapes, nodes, counts = [snapshot.pods.shape[rows]], [node[rows].astype(np.int64)], [np.ones_like(rows)]
    for shape, more, taken in drafted:
        shapes.append(np.full_like(more, shape))
        nodes.append(more)
        counts.append(taken)
    return Occupants(np.concatenate(shapes), np.concatenate(nodes), np.concatenate(counts))


def allowed(snapshot: Snapshot, shape: int, there: Occupants) -> Bools:
    """Nodes for one more pod of the shape."""
    return reduce(np.logical_and, (passes for _, passes in tests(snapshot, shape, there)))


def tests(snapshot: Snapshot, shape: int, there: Occupants) -> Iterator[tuple[str, Bools]]:
    """What is said of the nodes that fail a test, and the nodes that pass it."""
    request, size = snapshot.shapes[shape], len(snapshot.nodes.names)
    yield "node(s) didn't match pod anti-affinity rules", ~_kept_off(snapshot, shape, there)
    for term in request.near:
        if not term.weight:
            yield "node(s) didn't match pod affinity rules", _near(snapshot, shape, term, there)
    for spread in request.spreads:
        if spread.is_hard:
            yield (
                "node(s) didn't match pod topology spread constraints",
                _even(snapshot, shape, spread, there),
            )
    if request.ports:
        clashing = [row for row, one in enumerate(snapshot.shapes) if clash(one, request)]
        taken = there.on_nodes(clashing, size) > 0
        yield "node(s) didn't have free ports for the requested pod ports", ~taken


def _kept_off(snapshot: Snapshot, shape: int, there: Occupants) -> Bools:
    """Nodes closed by anti-affinity, the pod's own and that of pods which are there."""
    size = len(snapshot.nodes.names)
    off = np.zeros(size, dtype=np.bool_)
    for term in snapshot.shapes[shape].apart:
        if not term.weight:
            off |= _domain_has(snapshot, term.topology_key, _held(snapshot, term.selector, there))
    for other in np.unique(there.shapes).tolist():
        for term in snapshot.shapes[other].apart:
            if not term.weight and selects(snapshot, term.selector, shape):
                off |= _domain_has(snapshot, term.topology_key, there.on_nodes([other], size))
    return off


def preferred(snapshot: Snapshot, shape: int, there: Occupants) -> Floats:
    """Weights of the preferred terms that each node fulfils, and fewer pods of a soft spread."""
    request = snapshot.shapes[shape]
    score = np.zeros(len(snapshot.nodes.names))
    for sign, terms in ((1, request.near), (-1, request.apart)):
        for term in terms:
            if term.weight:
                held = _held(snapshot, term.selector, there)
                score += sign * term.weight * _domain_has(snapshot, term.topology_key, held)
    for spread in request.spreads:
        if not spread.is_hard:
            score -= _domain_sums(snapshot, spread.topology_key, _held(snapshot, spread.selector, there))
    return score


def is_by_host(snapshot: Snapshot, shape: int) -> bool:
    """Whether members of the shape only keep off each other's nodes, so that many can be put down at once."""
    request = snapshot.shapes[shape]
    if request.near or request.spreads or any(term.weight for term in request.apart):
        return False
    labels = [snapshot.nodes.labels.get(term.topology_key) for term in request.apart]
    return all(column is not None and len(np.unique(column.ids)) == len(column.ids) for column in labels)


def is_alone_on_node(snapshot: Snapshot, shape: int) -> bool:
    """Whether a node takes only one member of a shape that is `is_by_host`: they keep off each other."""
    request = snapshot.shapes[shape]
    return bool(request.ports) or any(selects(snapshot, term.selector, shape) for term in request.apart)


def selects(snapshot: Snapshot, selector: Selector, shape: int) -> bool:
    """Whether pods of a shape are what a selector speaks of."""
    number = snapshot.shapes[shape].labels
    if number == NONE:
        return False
    namespace, pairs = snapshot.label_sets[number]
    if not _speaks_of(snapshot, selector, namespace):
        return False
    mine = dict(pairs)
    return all(_holds(test, mine.get(test.key)) for test in selector.term)


def _speaks_of(snapshot: Snapshot, selector: Selector, namespace: str) -> bool:
    """Whether a selector means pods of this namespace."""
    if namespace in selector.namespaces:
        return True
    if selector.namespace_term is None:
        return False
    labels = snapshot.namespaces.get(namespace, {})
    return all(_holds(test, labels.get(test.key)) for test in selector.namespace_term)


def clash(one: Request, other: Request) -> bool:
    """Whether two pods want the same port of a node."""
    return any(_same_port(mine, yours) for mine in one.ports for yours in other.ports)


def _same_port(one: Port, other: Port) -> bool:
    if (one.protocol, one.number) != (other.protocol, other.number):
        return False
    return one.host_ip == other.host_ip or ANY_ADDRESS in {one.host_ip, other.host_ip}


def _holds(test: Expression, value: str | None) -> bool:
    match test.operator:
        case "In":
            return value in test.values
        case "NotIn":
            return value not in test.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            return False


def _held(snapshot: Snapshot, selector: Selector, there: Occupants) -> Ints:
    """How many selected pods each node has."""
    present = np.unique(there.shapes).tolist()
    chosen = [shape for shape in present if selects(snapshot, selector, shape)]
    return there.on_nodes(chosen, len(snapshot.nodes.names))


def _near(snapshot: Snapshot, shape: int, term: Neighbour, there: Occupants) -> Bools:
    """Nodes beside a selected pod; the first of pods that select themselves may go anywhere."""
    held = _held(snapshot, term.selector, there)
    if not held.any() and selects(snapshot, term.selector, shape):
        return np.asarray(_ids(snapshot, term.topology_key) != NONE, dtype=np.bool_)
    return _domain_has(snapshot, term.topology_key, held)


def _even(snapshot: Snapshot, shape: int, spread: Spread, there: Occupants) -> Bools:
    """Nodes whose domain may take one more pod without outgrowing the emptiest by more than the skew."""
    ids = _ids(snapshot, spread.topology_key)
    request, nodes = snapshot.shapes[shape], snapshot.nodes
    counted = ids != NONE
    if spread.reads_affinity:
        counted &= fit.is_selected(nodes, request)
    if spread.reads_taints:
        counted &= fit.tolerated(nodes, request.tolerations)
    held = np.where(counted, _held(snapshot, spread.selector, there), 0)
    sums = _domain_sums(snapshot, spread.topology_key, held)
    fewest = 0.0
    if len(np.unique(ids[counted])) >= spread.min_domains:
        fewest = float(sums[counted].min(initial=np.inf))
    own = int(selects(snapshot, spread.selector, shape))
    return np.asarray(counted & (sums + own - fewest <= spread.max_skew), dtype=np.bool_)


def _domain_has(snapshot: Snapshot, key: str, held: Ints) -> Bools:
    return np.asarray(_domain_sums(snapshot, key, held) > 0, dtype=np.bool_)


def _domain_sums(snapshot: Snapshot, key: str, held: Ints) -> Floats:
    """For each node the sum over its domain; nodes without the label are alone with nobody."""
    ids = _ids(snapshot, key)
    sums = np.bincount(ids + 1, weights=held.astype(np.float64), minlength=1).astype(np.float64)
    sums[0] = 0.0
    found: Floats = sums[ids + 1]
    return found


def _ids(snapshot: Snapshot, key: str) -> Ints:
    labels = snapshot.nodes.labels.get(key)
    return np.full(len(snapshot.nodes.names), NONE, dtype=np.int64) if labels is None else labels.ids
