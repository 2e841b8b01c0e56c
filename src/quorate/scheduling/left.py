"""What is left of the nodes once the pods of a refused gang that find room have it, and why no more fit.

For the words and data of refusals: nothing here decides.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from quorate.scheduling import fit, neighbours, reasons, topology
from quorate.scheduling.filling import fill
from quorate.scheduling.reasons import Finding
from quorate.scheduling.snapshot import NONE, PODS, Bools, Ints
from quorate.scheduling.trial import Trial

NAMED = 3  # nodes or domains that came nearest
ONE_BY_ONE = 64  # pods, where each decides where the next may go; more are not counted
FILTERED = "node(s) were refused by an added filter"


@dataclass(frozen=True)
class Lack:
    """Why pods fit nowhere: the words, the resource that is short with its numbers, and what came nearest."""

    text: str
    resource: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


class Left:
    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._free = trial.free(now=True).copy()
        self._drafted: list[tuple[int, Ints, Ints]] = []

    def place(self, shape: int, count: int, place: topology.Place) -> int:
        """Give room to as many of the pods as find it; how many did."""
        snapshot = self._trial.snapshot
        is_linked = shape in self._trial.coupled and not neighbours.is_by_host(snapshot, shape)
        rounds, step = (min(count, ONE_BY_ONE), 1) if is_linked else (1, count)
        placed = 0
        for _ in range(rounds):
            counts = np.where(topology.mask_of(snapshot, place), self._counts(shape), 0)
            many = min(step, int(np.minimum(counts, step).sum()))
            seats = fill(counts, self._trial.column(shape, now=True).scores, many) if many else None
            if seats is None:
                return placed
            nodes, taken = seats
            self._free[:, nodes] -= np.outer(snapshot.requests[shape], taken)
            self._drafted.append((shape, nodes, taken))
            placed += many
        return count if placed == rounds * step else placed

    def lack(self, shape: int, group: str) -> Lack:
        """Why one more pod of the shape, in the group of this name, finds no room."""
        snapshot = self._trial.snapshot
        if snapshot.shapes[shape].blocked_by:
            return Lack(snapshot.shapes[shape].blocked_by)
        counts, is_open = self._closed(shape)
        short = {
            int(row): is_open & (self._free[row] < snapshot.requests[shape, row])
            for row in np.flatnonzero(snapshot.requests[shape])
        }
        for row, nodes in short.items():
            counts[reasons.node_lacks(self._resource(row))] = int(nodes.sum())
        found = [(cause, count) for cause, count in counts.items() if count]
        if not found:
            return Lack("no place for all of them together" if len(is_open) else "there are no nodes")
        text = reasons.nodes_lack(found)
        worst = max(short, key=lambda row: (int(short[row].sum()), row), default=NONE)
        if worst == NONE or not short[worst].any():
            return Lack(text)
        return self._short_of(worst, shape, group, text, short[worst], is_open)

    def _short_of(self, row: int, shape: int, group: str, text: str, nodes: Bools, is_open: Bools) -> Lack:
        snapshot, free, resource = self._trial.snapshot, self._free[row], self._resource(row)
        requested, capacity = int(snapshot.requests[shape, row]), snapshot.nodes.allocatable[row]
        rows = np.flatnonzero(nodes)
        nearest = rows[np.argsort(-free[rows], kind="stable")][:NAMED].tolist()
        details = (
            reasons.node_lacks_in_detail(
                resource, requested=requested, used=capacity[node] - free[node], capacity=capacity[node]
            )
            for node in nearest
        )
        numbers = {
            "requested": reasons.in_units(resource, requested),
            "free": reasons.in_units(resource, int(free[is_open].max())),
        }
        findings = (
            Finding(group, detail, snapshot.nodes.names[node])
            for node, detail in zip(nearest, details, strict=True)
        )
        return Lack(text, resource, numbers, tuple(findings))

    def _closed(self, shape: int) -> tuple[Counter[str], Bools]:
        """How many nodes are closed to the shape, each counted for its first cause; and those that are not."""
        snapshot = self._trial.snapshot
        is_open = np.ones(len(snapshot.nodes.names), dtype=np.bool_)
        counts = Counter[str]()
        for cause, passes in (*self._tests(shape), (FILTERED, self._trial.mask(shape))):
            closed = is_open & ~passes
            is_open &= passes
            counts[cause + self._named(cause, shape, closed)] += int(closed.sum())
        return counts, is_open

    def _tests(self, shape: int) -> Iterator[tuple[str, Bools]]:
        yield from fit.tests(self._trial.snapshot, shape)
        if shape in self._trial.coupled:
            yield from neighbours.tests(self._trial.snapshot, shape, self._occupants())

    def _named(self, cause: str, shape: int, closed: Bools) -> str:
        if cause != fit.TAINTED:
            return ""
        snapshot = self._trial.snapshot
        taints = fit.taints_on(snapshot.nodes, snapshot.shapes[shape].tolerations, closed)
        names = [reasons.taint(taint.key, taint.value) for taint in taints[:NAMED]]
        return "".join(f" {name}" for name in names) + (" …" if len(taints) > NAMED else "")

    def _counts(self, shape: int) -> Ints:
        counts = self._trial.counts(shape, self._free)
        if shape not in self._trial.coupled:
            return counts
        snapshot = self._trial.snapshot
        counts = np.where(neighbours.allowed(snapshot, shape, self._occupants()), counts, 0)
        return np.minimum(counts, 1) if neighbours.is_alone_on_node(snapshot, shape) else counts

    def _occupants(self) -> neighbours.Occupants:
        trial = self._trial
        return neighbours.occupants(trial.snapshot, trial.state, trial.node, self._drafted, now=True)

    def _resource(self, row: int) -> str:
        return "pods" if row == PODS else self._trial.snapshot.resources[row]
