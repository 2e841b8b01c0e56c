"""Topology objects as levels over the nodes: names of levels to rows, label values to domains.

After them comes a topology of one level for each node label that a gang asks for as such (`NODE_LABELS`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from quorate.api.meta import ObjectMeta
from quorate.api.topology import NODE_LABELS, Topology, TopologyLevel, TopologySpec
from quorate.scheduling.snapshot import NONE, UNKNOWN, Level, Nodes

Frozen = tuple[tuple[Level, ...], dict[str, range]]


@dataclass(frozen=True)
class Topologies:
    """The levels of all topologies by name; `freeze` lays them over nodes."""

    found: tuple[Topology, ...] = ()
    labels: tuple[str, ...] = ()
    _frozen: dict[int, Frozen] = field(default_factory=dict)  # by version of the nodes; one entry

    @classmethod
    def of(cls, topologies: Iterable[Topology], labels: Iterable[str] = ()) -> "Topologies":
        return cls(tuple(sorted(topologies, key=lambda one: one.metadata.name)), tuple(sorted(labels)))

    def row(self, topology: str, level: str) -> int:
        """The row of a level given by label or alias: NONE if none is asked for, UNKNOWN if it is not there.

        Without a topology's name the only topology of the cluster is meant.
        """
        if not level:
            return NONE
        if topology == NODE_LABELS:
            above = sum(len(one.spec.levels or ()) for one in self.found)
            return above + self.labels.index(level) if level in self.labels else UNKNOWN
        first = 0
        for one in self.found:
            levels = one.spec.levels or ()
            if one.metadata.name == topology or (not topology and len(self.found) == 1):
                label = one.label(level)
                labels = [each.node_label for each in levels]
                return first + labels.index(label) if label in labels else UNKNOWN
            first += len(levels)
        return UNKNOWN

    def knows(self, topology: str) -> bool:
        return topology in {"", NODE_LABELS} or any(one.metadata.name == topology for one in self.found)

    def problem(self, topology: str, level: str) -> str:
        """What is wrong with asking for this level, "" if nothing."""
        if self.row(topology, level) != UNKNOWN:
            return ""
        known = [one for one in self.found if one.metadata.name == topology]
        if not topology and len(self.found) == 1:
            known = list(self.found)
        if not known:
            names = ", ".join(one.metadata.name for one in self.found) or "none"
            return f"Requested topology {topology} does not exist; topologies of this cluster: {names}"
        names = ", ".join(each.node_label for each in known[0].spec.levels or ())
        at = f"level {level} is not in topology {known[0].metadata.name}"
        return f"topologyConstraint: {at}; its levels: {names}"

    def freeze(self, nodes: Nodes, version: int) -> Frozen:
        """Levels with the domain of each node, and the rows of each topology; laid once per version."""
        if version not in self._frozen:
            self._frozen.clear()
            self._frozen[version] = self._laid(nodes)
        return self._frozen[version]

    def _laid(self, nodes: Nodes) -> Frozen:
        levels: list[Level] = []
        ranges: dict[str, range] = {}
        for one in (*self.found, *map(_of_label, self.labels)):
            ranges[one.metadata.name] = range(len(levels), len(levels) + len(one.spec.levels or ()))
            levels += _levels(one, nodes)
        return tuple(levels), ranges


def _of_label(label: str) -> Topology:
    spec = TopologySpec(levels=[TopologyLevel(node_label=label)])
    return Topology(metadata=ObjectMeta(name=f"{NODE_LABELS}: {label}"), spec=spec)


def _levels(topology: Topology, nodes: Nodes) -> list[Level]:
    """A domain is numbered by its place in the sorted paths, so that the numbers follow names."""
    size = len(nodes.names)
    wire = topology.spec.levels or ()
    ids = [nodes.labels[one.node_label].ids if one.node_label in nodes.labels else None for one in wire]
    complete = np.ones(size, dtype=np.bool_)
    for column in ids:
        complete &= np.zeros(size, dtype=np.bool_) if column is None else column != NONE
    rows = np.flatnonzero(complete).tolist()
    paths: list[tuple[str, ...]] = [()] * len(rows)
    found = []
    for one, column in zip(wire, ids, strict=True):
        if column is not None:
            values = nodes.labels[one.node_label].values
            paths = [(*path, values[column[row]]) for path, row in zip(paths, rows, strict=True)]
        domains = {path: number for number, path in enumerate(sorted(set(paths)))} if rows else {}
        of_node = np.full(size, NONE, dtype=np.int64)
        of_node[rows] = [domains[path] for path in paths]
        found.append(
            Level(topology.metadata.name, one.node_label, one.name, tuple(map("/".join, domains)), of_node)
        )
    return found
