"""Cluster IPs and node ports of services: given out once, kept by the service, returned when it goes.

What is held is read off the store's services as they come and go; admission asks `assign` for what a service lacks.
"""

import ipaddress

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, invalid
from quorate.embedded.store import Event, Store

_NODE_PORTS = range(30000, 32768)
NEEDS_NODE_PORTS = ("NodePort", "LoadBalancer")


class ServiceAddresses:
    """Who holds which cluster IP and node port."""

    def __init__(self, store: Store) -> None:
        self._network = ipaddress.ip_network("10.96.0.0/16")
        self._taken: set[str] = set()
        self._ports: set[int] = set()
        # Searches go on from here, so that two requests under way at once do not get the same.
        self._next = 10
        self._next_port = 0
        for service in store.list("", "services"):
            self._hold(service)
        store.on_event(self._observe)

    def _observe(self, event: Event) -> None:
        if event.key.plural != "services" or event.key.group:
            return
        if event.previous is not None:
            self._taken.difference_update(_addresses(event.previous))
            self._ports.difference_update(_ports(event.previous))
        if event.type != "DELETED":
            self._hold(event.object)

    def _hold(self, service: Json) -> None:
        self._taken.update(_addresses(service))
        self._ports.update(_ports(service))

    def assign(self, service: Json, old: Json | None = None) -> list[Cause]:
        """Give the service the addresses it lacks, in place; a wish that is taken is a cause."""
        spec = service["spec"]
        held = old["spec"] if old else {}
        if spec["type"] == "ExternalName":
            for field in ("clusterIP", "clusterIPs"):
                spec.pop(field, None)
            return []
        spec.setdefault("ipFamilyPolicy", "SingleStack")
        spec.setdefault("ipFamilies", ["IPv4"])
        if not spec.get("clusterIP") and spec.get("clusterIPs"):
            spec["clusterIP"] = spec["clusterIPs"][0]
        if not spec.get("clusterIP"):
            spec["clusterIP"] = held.get("clusterIP") or self._free_address()
        elif spec["clusterIP"] != "None" and not held.get("clusterIP"):
            # Validation refuses to exchange one that is held.
            refusal = self._refusal(spec["clusterIP"])
            if refusal:
                return [invalid("spec.clusterIPs", [spec["clusterIP"]], refusal)]
        spec["clusterIPs"] = [spec["clusterIP"]]
        return self._assign_ports(spec, held)

    def _refusal(self, wish: str) -> str:
        try:
            inside = ipaddress.ip_address(wish) in self._network
        except ValueError:
            return "must be empty, 'None', or a valid IP address"
        if not inside:
            first = f"The range of valid IPs is {self._network}"
            return (
                f"failed to allocate IP {wish}: the provided IP ({wish}) is not in the valid range. {first}"
            )
        return (
            f"failed to allocate IP {wish}: provided IP is already allocated" if wish in self._taken else ""
        )

    def _free_address(self) -> str:
        size = self._network.num_addresses
        for step in range(size):
            candidate = str(self._network[1 + (self._next + step) % (size - 2)])
            if candidate not in self._taken:
                self._next += step + 1
                return candidate
        msg = f"every address of {self._network} is in use by a Service; delete one"
        raise OverflowError(msg)

    def _assign_ports(self, spec: Json, held: Json) -> list[Cause]:
        if spec["type"] not in NEEDS_NODE_PORTS:
            return []
        kept = {
            (port.get("port"), port.get("protocol")): port.get("nodePort") for port in held.get("ports") or ()
        }
        mine = set(kept.values())
        for index, port in enumerate(spec.get("ports") or ()):
            wish = port.get("nodePort") or kept.get((port.get("port"), port.get("protocol")))
            if wish and wish in self._ports - mine:
                return [invalid(f"spec.ports[{index}].nodePort", wish, "provided port is already allocated")]
            if wish and wish not in _NODE_PORTS:
                limits = "The range of valid ports is 30000-32767"
                detail = f"provided port is not in the valid range. {limits}"
                return [invalid(f"spec.ports[{index}].nodePort", wish, detail)]
            port["nodePort"] = wish or self._free_port()
        return []

    def _free_port(self) -> int:
        for step in range(len(_NODE_PORTS)):
            candidate = _NODE_PORTS[(self._next_port + step) % len(_NODE_PORTS)]
            if candidate not in self._ports:
                self._next_port += step + 1
                return candidate
        msg = "every node port from 30000 to 32767 is in use by a Service; delete one"
        raise OverflowError(msg)


def _addresses(service: Json) -> list[str]:
    return [address for address in service["spec"].get("clusterIPs") or () if address != "None"]


def _ports(service: Json) -> list[int]:
    return [port["nodePort"] for port in service["spec"].get("ports") or () if port.get("nodePort")]
