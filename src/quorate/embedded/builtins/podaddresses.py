"""Addresses of fake pods: each node hands out numbers of its own range, the lowest free one first."""

import re
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded.builtins.world import World
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.pods import is_finished, node_of
from quorate.workloads.builtin.podstatus import Address

_RANGE = re.compile(r"(\d+\.\d+\.\d+)\.0/24")


class _Lease(NamedTuple):
    node: str
    number: int


class PodAddresses:
    def __init__(self, world: World) -> None:
        self._world = world
        self._by_pod: dict[str, _Lease] = {}
        self._taken: dict[str, set[int]] = {}
        for pod in world.all(kinds.POD):
            address = pod.get("status", {}).get("podIP", "")
            if address and not is_finished(pod) and not pod["spec"].get("hostNetwork"):
                self._take(pod["metadata"]["uid"], _Lease(node_of(pod), int(address.rpartition(".")[2])))

    def of(self, pod: Json) -> Address:
        """The pod's addresses, the same on each call until it is freed."""
        node = self._world.get(kinds.NODE, "", node_of(pod)) or {}
        host = _internal(node)
        if pod["spec"].get("hostNetwork"):
            return Address(host, host)
        uid = pod["metadata"]["uid"]
        lease = self._by_pod.get(uid)
        if lease is None:
            lease = _Lease(node_of(pod), self._lowest(node_of(pod)))
            self._take(uid, lease)
        found = _RANGE.fullmatch((node.get("spec") or {}).get("podCIDR", ""))
        return Address(host, f"{found[1] if found else '10.0.0'}.{lease.number}")

    def free(self, uid: str) -> None:
        lease = self._by_pod.pop(uid, None)
        if lease is not None:
            self._taken[lease.node].discard(lease.number)

    def _take(self, uid: str, lease: _Lease) -> None:
        self._by_pod[uid] = lease
        self._taken.setdefault(lease.node, set()).add(lease.number)

    def _lowest(self, node: str) -> int:
        taken = self._taken.get(node, set())
        number = 2
        while number in taken:
            number += 1
        return number


def _internal(node: Json) -> str:
    addresses = (node.get("status") or {}).get("addresses") or ()
    return next((item["address"] for item in addresses if item["type"] == "InternalIP"), "")
