"""What is taken on each node, kept as pods come and go; the fake kubelets and the default scheduler ask."""

from typing import NamedTuple

from quorate.api.meta import Json
from quorate.workloads.builtin.requests import Amounts, amounts, requests


class _Seat(NamedTuple):
    node: str
    taken: Amounts


class Seats:
    def __init__(self) -> None:
        self._used: dict[str, Amounts] = {}
        self._by_pod: dict[str, _Seat] = {}
        self._allocatable: dict[str, tuple[Json, Amounts]] = {}  # with the quantities they were read from

    def take(self, pod: Json, node: str) -> None:
        """Count a pod on a node, once."""
        uid = pod["metadata"]["uid"]
        if uid in self._by_pod:
            return
        taken = requests(pod["spec"])
        used = self._used.setdefault(node, {})
        for name, amount in taken.items():
            used[name] = used.get(name, 0) + amount
        self._by_pod[uid] = _Seat(node, taken)

    def free(self, uid: str) -> None:
        seat = self._by_pod.pop(uid, None)
        if seat is None:
            return
        used = self._used[seat.node]
        for name, amount in seat.taken.items():
            used[name] -= amount

    def holds(self, uid: str) -> bool:
        return uid in self._by_pod

    def short_of(self, wanted: Amounts, node: Json) -> list[str]:
        """The resources of which the node has too little left."""
        used = self._used.get(node["metadata"]["name"], {})
        allocatable = self._allocatable_of(node)
        return [
            name
            for name, amount in wanted.items()
            if amount and used.get(name, 0) + amount > allocatable.get(name, 0)
        ]

    def used(self, node: str, resource: str) -> int:
        return self._used.get(node, {}).get(resource, 0)

    def offered(self, node: Json, resource: str) -> int:
        return self._allocatable_of(node).get(resource, 0)

    def _allocatable_of(self, node: Json) -> Amounts:
        quantities: Json = (node.get("status") or {}).get("allocatable") or {}
        known = self._allocatable.get(node["metadata"]["name"])
        if known is None or known[0] != quantities:
            known = self._allocatable[node["metadata"]["name"]] = (quantities, amounts(quantities))
        return known[1]
