"""Rules of services."""

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, duplicate, forbidden, invalid, not_supported, required
from quorate.embedded.validation import names
from quorate.embedded.validation.containers import PORT_RANGE
from quorate.embedded.validation.metadata import labels

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


def service(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    spec = obj["spec"]
    kind, headless = spec["type"], spec.get("clusterIP") == "None"
    if kind == "ExternalName":
        if not spec.get("externalName"):
            found.append(required("spec.externalName"))
    elif not spec.get("ports") and not headless:
        found.append(required("spec.ports"))
    if headless and kind in {"NodePort", "LoadBalancer"}:
        detail = f"may not be set to 'None' for {kind} services"
        found.append(invalid("spec.clusterIPs[0]", "None", detail))
    if spec["sessionAffinity"] not in {"ClientIP", "None"}:
        found.append(not_supported("spec.sessionAffinity", spec["sessionAffinity"], ("ClientIP", "None")))
    if kind not in _TYPES:
        found.append(not_supported("spec.type", kind, _TYPES))
    if spec.get("selector"):
        labels(found, spec["selector"], "spec.selector")
    _ports(found, spec)
    return found


def _ports(found: list[Cause], spec: Json) -> None:
    ports = spec.get("ports") or []
    taken: set[str] = set()
    pairs: set[tuple[int, str]] = set()
    for index, port in enumerate(ports):
        path = f"spec.ports[{index}]"
        _port_name(found, port, path, taken, needed=len(ports) > 1)
        number, protocol = port.get("port", 0), port["protocol"]
        if not 1 <= number <= 65535:
            found.append(invalid(f"{path}.port", number, PORT_RANGE))
        if protocol not in _PROTOCOLS:
            found.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
        target = port["targetPort"]
        if isinstance(target, int):
            if not 1 <= target <= 65535:
                found.append(invalid(f"{path}.targetPort", target, PORT_RANGE))
        else:
            found += [invalid(f"{path}.targetPort", target, text) for text in names.port_name(target)]
        if port.get("nodePort") and spec["type"] == "ClusterIP":
            found.append(forbidden(f"{path}.nodePort", "may not be used when `type` is 'ClusterIP'"))
        if (number, protocol) in pairs:
            found.append(duplicate(path, {"port": number, "protocol": protocol}))
        pairs.add((number, protocol))


def _port_name(found: list[Cause], port: Json, path: str, taken: set[str], *, needed: bool) -> None:
    name = port.get("name")
    if not name:
        if needed:
            found.append(required(f"{path}.name"))
        return
    found += [invalid(f"{path}.name", name, message) for message in names.dns_label(name)]
    if name in taken:
        found.append(duplicate(f"{path}.name", name))
    taken.add(name)


def service_update(new: Json, old: Json) -> list[Cause]:
    after, before = new["spec"], old["spec"]
    if "ExternalName" in {after["type"], before["type"]} or not before.get("clusterIP"):
        return []
    if after.get("clusterIP") and after["clusterIP"] != before["clusterIP"]:
        return [invalid("spec.clusterIPs[0]", [after["clusterIP"]], "may not change once set")]
    return []
