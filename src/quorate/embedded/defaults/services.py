"""Defaults of services and what follows from them: endpoints, endpoint slices, network policies."""

from quorate.api.meta import Json

_CLIENT_IP_SECONDS = 10800
_WITH_CLUSTER_IP = ("ClusterIP", "NodePort", "LoadBalancer")


def service(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec["type"] = spec.get("type") or "ClusterIP"
    spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    else:
        client_ip = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        client_ip.setdefault("timeoutSeconds", _CLIENT_IP_SECONDS)
    for port in spec.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    _traffic(spec)


def _traffic(spec: Json) -> None:
    kind = spec["type"]
    if kind in _WITH_CLUSTER_IP and spec.get("internalTrafficPolicy") is None:
        spec["internalTrafficPolicy"] = "Cluster"
    if kind in {"NodePort", "LoadBalancer"} and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True


def endpoints(obj: Json) -> None:
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            port["protocol"] = port.get("protocol") or "TCP"


def endpoint_slice(obj: Json) -> None:
    for port in obj.get("ports") or ():
        port["name"] = port.get("name") or ""
        port["protocol"] = port.get("protocol") or "TCP"


def network_policy(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("podSelector", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            port["protocol"] = port.get("protocol") or "TCP"
