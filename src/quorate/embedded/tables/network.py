"""The rows of services and what they lead to."""

from quorate.api.meta import Json
from quorate.embedded.tables.printer import (
    NAME,
    SELECTOR,
    Cell,
    Printer,
    age,
    columns,
    fields,
    name,
    pairs,
    selector,
    shortened,
    text,
)


def service(obj: Json, now: float) -> list[Cell]:
    spec = obj["spec"]
    addresses = spec.get("clusterIPs") or [spec.get("clusterIP")]
    return [
        name(obj),
        text(spec, "type"),
        addresses[0] or "<none>",
        _external(obj, spec),
        ",".join(map(_port, spec.get("ports") or ())) or "<none>",
        age(obj, now),
        pairs(spec.get("selector")),
    ]


def _port(port: Json) -> str:
    number = f"{port['port']}:{port['nodePort']}" if port.get("nodePort") else str(port["port"])
    return f"{number}/{port.get('protocol', 'TCP')}"


def _external(obj: Json, spec: Json) -> str:
    if spec.get("type") == "ExternalName":
        return text(spec, "externalName")
    addresses = list(spec.get("externalIPs") or ())
    if spec.get("type") == "LoadBalancer":
        ingress = fields(obj, "status", "loadBalancer").get("ingress") or ()
        addresses = [one.get("ip") or one.get("hostname") or "" for one in ingress] + addresses
        return ",".join(addresses) or "<pending>"
    return ",".join(addresses) or "<none>"


def endpoints(obj: Json, now: float) -> list[Cell]:
    listed: list[str] = []
    for subset in obj.get("subsets") or ():
        addresses = [one["ip"] for one in subset.get("addresses") or ()]
        ports = [f":{port['port']}" for port in subset.get("ports") or ()] or [""]
        listed += [f"{address}{port}" for port in ports for address in addresses]
    shown = shortened(listed) if obj.get("subsets") else "<none>"
    return [name(obj), shown, age(obj, now)]


def endpoint_slice(obj: Json, now: float) -> list[Cell]:
    ports = [str(port.get("port") or port.get("name") or "*") for port in obj.get("ports") or ()]
    addresses = [one for endpoint in obj.get("endpoints") or () for one in endpoint.get("addresses") or ()]
    return [
        name(obj),
        text(obj, "addressType"),
        shortened(ports) or "<unset>",
        shortened(addresses) or "<unset>",
        age(obj, now),
    ]


def ingress(obj: Json, now: float) -> list[Cell]:
    spec = obj["spec"]
    hosts = [rule["host"] for rule in spec.get("rules") or () if rule.get("host")]
    load_balancer = fields(obj, "status", "loadBalancer").get("ingress") or ()
    addresses = [one.get("ip") or one.get("hostname") or "" for one in load_balancer]
    ports = "80, 443" if spec.get("tls") else "80"
    shown = shortened(hosts) or "*"
    return [
        name(obj),
        text(spec, "ingressClassName", absent="<none>"),
        shown,
        ",".join(addresses),
        ports,
        age(obj, now),
    ]


def network_policy(obj: Json, now: float) -> list[Cell]:
    return [name(obj), selector(fields(obj, "spec", "podSelector")), age(obj, now)]


PRINTERS = {
    ("", "Service"): Printer(
        columns(NAME, "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", SELECTOR), service
    ),
    ("", "Endpoints"): Printer(columns(NAME, "Endpoints", "Age"), endpoints),
    ("discovery.k8s.io", "EndpointSlice"): Printer(
        columns(NAME, "AddressType", "Ports", "Endpoints", "Age"), endpoint_slice
    ),
    ("networking.k8s.io", "Ingress"): Printer(
        columns(NAME, "Class", "Hosts", "Address", "Ports", "Age"), ingress
    ),
    ("networking.k8s.io", "NetworkPolicy"): Printer(columns(NAME, "Pod-Selector", "Age"), network_policy),
}
