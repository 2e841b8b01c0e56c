"""Nodes as growing columns: one slot per node name, updated in place for each change, copied into a snapshot.

A slot is made by whoever names the node first, a Node object or a pod bound to it, so that pods on a node
that vanished (or is not seen yet) keep their place. Amounts: CPU and counts in milli-units, memory in bytes.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from quorate.api.core import NODE, Node
from quorate.api.labels import HOSTNAME
from quorate.api.quantity import QuantityError, milli, units
from quorate.plan import Ref
from quorate.scheduling.request import Taint
from quorate.scheduling.snapshot import NONE, RESOURCES, Ints, Labels, Nodes, Problem

NAME = "metadata.name"  # a label of every node, for affinity by field
CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
BYTES = ("memory", "ephemeral-storage", "hugepages-")


UNSTATED_PODS = 110_000  # a node that does not say how many pods it takes takes what kubelets take
LITTER = 1000  # slots
MOST = 2**50  # of any resource; the API server lets more pass, of which thousands could not be summed
VOLUME = 1000  # one, as everything is counted
Stocked = Mapping[tuple[str, str], tuple[Ref, ...]]  # volumes by demand, and host or node


def is_bytes(resource: str) -> bool:
    """Whether a resource is counted in bytes; everything else is in milli-units."""
    return resource.startswith(BYTES)


class NodeTable:
    """Slots of nodes and the resource axis; `freeze` sorts them by name."""

    def __init__(self) -> None:
        self.resources: dict[str, int] = {name: row for row, name in enumerate(RESOURCES)}
        self.problems: dict[str, Problem] = {}
        self.slots: dict[str, int] = {}
        self._present: dict[str, int] = {}
        self._allocatable = np.zeros((len(RESOURCES), 16), dtype=np.int64)
        self._used = np.zeros_like(self._allocatable)
        self._releasing = np.zeros_like(self._allocatable)
        self._foreign = np.zeros_like(self._allocatable)
        self._ready = np.zeros(16, dtype=np.bool_)
        self._taints = np.zeros(16, dtype=np.int64)
        self._taint_sets: dict[tuple[Taint, ...], int] = {(): 0}
        self._labels: dict[str, _Column] = {}
        self.version = 0  # counts what changed beside usage
        self._order = np.empty(0, dtype=np.int64)
        self._frozen: tuple[Nodes, Ints] | None = None
        self._offered: Stocked = {}
        self._on_nodes: Stocked = {}

    def row(self, resource: str) -> int:
        """The row of a resource, made when it is first named."""
        if resource not in self.resources:
            self.resources[resource] = len(self.resources)
            blank = np.zeros((1, self._allocatable.shape[1]), dtype=np.int64)
            for name in ("_allocatable", "_used", "_releasing", "_foreign"):
                setattr(self, name, np.concatenate([getattr(self, name), blank]))
            self._frozen = None
        return self.resources[resource]

    def slot(self, name: str) -> int:
        """The slot of a node, made when it is first named."""
        if name not in self.slots:
            self.slots[name] = len(self.slots)
            if len(self.slots) > len(self._ready):
                self._grow()
        return self.slots[name]

    @property
    def is_littered(self) -> bool:
        """Whether most slots are of nodes that are gone."""
        return len(self.slots) > LITTER + 2 * len(self._present)

    def is_there(self, name: str) -> bool:
        """Whether there is a Node of that name now."""
        return name in self._present

    def charge(self, slot: int, takes: Ints, *, foreign: bool) -> None:
        """A pod appeared on a node, or left it and takes less than nothing: amounts of the first resources."""
        self._used[: len(takes), slot] += takes
        if foreign:
            self._foreign[: len(takes), slot] += takes

    def release(self, slot: int, takes: Ints) -> None:
        """A pod on a node is being deleted, or is no longer believed to go and takes less than nothing."""
        self._releasing[: len(takes), slot] += takes

    def remove(self, node: Node) -> None:
        name = node.metadata.name
        slot = self.slot(name)
        self._present.pop(name, None)
        self.problems.pop(name, None)
        self._allocatable[:, slot] = 0
        self._ready[slot] = False
        for column in self._labels.values():
            column.ids[slot] = NONE
        self._frozen = None

    def put(self, node: Node) -> None:
        """Take over a node as it is now."""
        name = node.metadata.name
        self.remove(node)
        slot = self._present[name] = self.slot(name)
        self._ready[slot] = node.is_ready and node.metadata.deletion_timestamp is None
        for resource, value in self._capacity(node).items():
            row = self.row(resource)
            self._allocatable[row, slot] = max(value, 0)
        taints = tuple(Taint(one.key, one.value, one.effect) for one in node.spec.taints or ())
        if node.spec.unschedulable and CORDON not in taints:
            taints = (*taints, CORDON)
        self._taints[slot] = self._taint_sets.setdefault(taints, len(self._taint_sets))
        for key, text in {**(node.metadata.labels or {}), NAME: name}.items():
            if key not in self._labels:
                self._labels[key] = _Column(len(self._ready))
            self._labels[key].put(slot, text)

    def offer(self, on_hosts: Stocked) -> Stocked:
        """Volumes made by hand are a resource of their host, as many as there are; the same by the names of nodes."""
        if on_hosts is self._offered and self._frozen is not None:
            return self._on_nodes
        for demand, _ in self._offered:
            self._allocatable[self.row(demand)] = 0
        if on_hosts or self._offered:
            self._frozen = None
        names = self._hosts() if on_hosts else {}
        self._offered = on_hosts
        self._on_nodes = {
            (demand, names[host]): found for (demand, host), found in on_hosts.items() if host in names
        }
        for (demand, name), found in self._on_nodes.items():
            row = self.row(demand)
            self._allocatable[row, self.slot(name)] = VOLUME * len(found)
        return self._on_nodes

    def _hosts(self) -> dict[str, str]:
        """Names of nodes by their host name, where it is another."""
        found = {name: name for name in self._present}
        if HOSTNAME in self._labels:
            column = self._labels[HOSTNAME]
            values = [*column.values, ""]  # the last where a node has none
            for name, slot in self._present.items():
                found.setdefault(values[column.ids[slot]], name)
        return found

    def freeze(self) -> tuple[Nodes, Ints]:
        """The nodes of a snapshot, and where each slot stands in it."""
        if self._frozen is None:
            self._frozen = self._sorted()
            self.version += 1
        nodes, index = self._frozen
        order = self._order
        return (
            replace(
                nodes,
                used=self._used[:, order],
                releasing=self._releasing[:, order],
                foreign=self._foreign[:, order[nodes.schedulable]].sum(axis=1),
            ),
            index,
        )

    def _sorted(self) -> tuple[Nodes, Ints]:
        names = sorted(self._present)
        order = self._order = np.array([self._present[name] for name in names], dtype=np.int64)
        index = np.full(len(self._ready) + 1, NONE, dtype=np.int64)
        index[order] = np.arange(len(order))
        nodes = Nodes(
            names=tuple(names),
            allocatable=self._allocatable[:, order],
            used=self._used[:, order],
            releasing=self._releasing[:, order],
            schedulable=self._ready[order],
            taints=self._taints[order],
            taint_sets=tuple(self._taint_sets),
            labels={key: column.freeze(order) for key, column in self._labels.items()},
            foreign=np.zeros(len(self.resources), dtype=np.int64),
        )
        return nodes, index

    def _capacity(self, node: Node) -> dict[str, int]:
        try:
            stated = node.status.allocatable or node.status.capacity or {}
            found = {
                name: min((units if is_bytes(name) else milli)(value), MOST) for name, value in stated.items()
            }
        except QuantityError as error:
            about = Ref(kind=NODE, name=node.metadata.name)
            message = f"status.allocatable: {error}; the node is left out until it is fixed"
            self.problems[node.metadata.name] = Problem(about, "InvalidQuantity", message)
            return {}
        return {"pods": UNSTATED_PODS, **found}

    def _grow(self) -> None:
        room = len(self._ready)
        for name in ("_allocatable", "_used", "_releasing", "_foreign"):
            setattr(self, name, np.pad(getattr(self, name), ((0, 0), (0, room))))
        self._frozen = None
        self._ready, self._taints = np.pad(self._ready, (0, room)), np.pad(self._taints, (0, room))
        for column in self._labels.values():
            column.ids = np.pad(column.ids, (0, room), constant_values=NONE)


class _Column:
    """One label over all slots."""

    def __init__(self, room: int) -> None:
        self.ids = np.full(room, NONE, dtype=np.int64)
        self._index: dict[str, int] = {}

    def put(self, slot: int, value: str) -> None:
        self.ids[slot] = self._index.setdefault(value, len(self._index))

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self._index)

    def freeze(self, order: Ints) -> Labels:
        return Labels(self.values, dict(self._index), self.ids[order])
