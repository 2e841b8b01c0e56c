"""Endpoints and EndpointSlices of a Service with a selector, headless or not."""

from collections.abc import Mapping, Sequence

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import kinds, pods
from quorate.workloads.builtin.outcome import Outcome, create, delete, is_deleting, owner_reference, patch

SERVICE_NAME = "kubernetes.io/service-name"
_MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
_MANAGER = "endpointslice-controller.k8s.io"
_HEADLESS = "service.kubernetes.io/headless"
_PER_SLICE = 100
_MOST_ADDRESSES = 1000
_OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"


def endpoints(
    service: Json,
    matched: Sequence[Json],
    slices: Sequence[Json],
    legacy: Json | None,
    zones: Mapping[str, str],
) -> Outcome:
    """`matched` are the selector's pods, `legacy` the Endpoints object, `zones` the zone of each node."""
    if not service["spec"].get("selector") or is_deleting(service):
        return Outcome()
    if service["spec"].get("type") == "ExternalName":
        return Outcome()
    reachable = [pod for pod in matched if pod.get("status", {}).get("podIP") and not pods.is_finished(pod)]
    reachable.sort(key=lambda pod: pod["metadata"]["name"])
    wanted = {pod["metadata"]["uid"]: _endpoint(service, pod, zones) for pod in reachable}
    return Outcome((*_slices(service, wanted, slices), *_legacy(service, reachable, legacy)))


def _publishes_unready(service: Json) -> bool:
    return bool(service["spec"].get("publishNotReadyAddresses"))


def _is_headless(service: Json) -> bool:
    return bool(service["spec"].get("clusterIP") == "None")


def _hostname(service: Json, pod: Json) -> Json:
    spec = pod["spec"]
    own = spec.get("hostname") and spec.get("subdomain") == service["metadata"]["name"]
    return {"hostname": spec["hostname"]} if own else {}


def _target(pod: Json) -> Json:
    meta = pod["metadata"]
    return {"kind": "Pod", "name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]}


def _endpoint(service: Json, pod: Json, zones: Mapping[str, str]) -> Json:
    ready = pods.is_ready(pod)
    conditions = {
        "ready": _publishes_unready(service) or (ready and not is_deleting(pod)),
        "serving": ready,
        "terminating": is_deleting(pod),
    }
    node = pods.node_of(pod)
    zone = {"zone": zones[node]} if node in zones else {}
    placed = {"nodeName": node} if node else {}
    address = [pod["status"]["podIP"]]
    return {
        "addresses": address,
        "conditions": conditions,
        **_hostname(service, pod),
        **placed,
        "targetRef": _target(pod),
        **zone,
    }


def _slice_ports(service: Json) -> list[Json]:
    shown = []
    for port in service["spec"].get("ports") or ():
        number = port.get("targetPort", port["port"])
        number = number if isinstance(number, int) and number else port["port"]
        shown.append({"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")})
    return shown


def _slices(service: Json, wanted: Mapping[str, Json], slices: Sequence[Json]) -> list[Change]:
    """Endpoints stay in the slice they are in; new ones fill slices with room, then new slices."""
    kept: list[list[Json]] = []
    placed: set[str] = set()
    for found in slices:
        uids = [item.get("targetRef", {}).get("uid") for item in found.get("endpoints") or ()]
        here = [uid for uid in uids if uid in wanted and uid not in placed]
        placed.update(here)
        kept.append([wanted[uid] for uid in here])
    fresh = [item for uid, item in wanted.items() if uid not in placed]
    for held in kept:
        room = _PER_SLICE - len(held)
        held.extend(fresh[:room])
        fresh = fresh[room:]
    changes: list[Change] = []
    filled = sum(bool(held) for held in kept)
    for found, held in zip(slices, kept, strict=True):
        changes += _change_slice(
            service, found, held, is_spare=not held and (filled > 0 or found is not slices[0])
        )
    chunks = [fresh[start : start + _PER_SLICE] for start in range(0, len(fresh), _PER_SLICE)]
    if not chunks and not slices:
        chunks = [[]]  # an empty slice tells readers that the Service is known and has no pods
    return [*changes, *(create(kinds.ENDPOINT_SLICE, _new_slice(service, held)) for held in chunks)]


def _change_slice(service: Json, found: Json, held: list[Json], *, is_spare: bool) -> list[Change]:
    if is_spare:
        return [delete(kinds.ENDPOINT_SLICE, found)]
    ports = _slice_ports(service) if held else []
    if (found.get("endpoints") or []) == held and (found.get("ports") or []) == ports:
        return []
    return [patch(kinds.ENDPOINT_SLICE, found, {"endpoints": held or None, "ports": ports or None})]


def _labels(service: Json) -> dict[str, str]:
    own = service["metadata"].get("labels") or {}
    return {**own, **({_HEADLESS: ""} if _is_headless(service) else {})}


def _new_slice(service: Json, held: list[Json]) -> Json:
    meta = service["metadata"]
    return {
        "metadata": {
            "generateName": f"{meta['name']}-",
            "namespace": meta["namespace"],
            "labels": {**_labels(service), _MANAGED_BY: _MANAGER, SERVICE_NAME: meta["name"]},
            "ownerReferences": [owner_reference(kinds.SERVICE, service)],
        },
        "addressType": "IPv4",
        "endpoints": held or None,
        "ports": _slice_ports(service) if held else None,
    }


def _legacy(service: Json, reachable: Sequence[Json], legacy: Json | None) -> list[Change]:
    subsets = _subsets(service, [pod for pod in reachable if not is_deleting(pod)])
    truncated = {_OVER_CAPACITY: "truncated"} if len(reachable) > _MOST_ADDRESSES else {}
    meta = service["metadata"]
    if legacy is None:
        labels = {**_labels(service), "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
        named = {"name": meta["name"], "namespace": meta["namespace"], "labels": labels}
        return [
            create(kinds.ENDPOINTS, {"metadata": {**named, "annotations": truncated}, "subsets": subsets})
        ]
    if (legacy.get("subsets") or []) == subsets:
        return []
    return [patch(kinds.ENDPOINTS, legacy, {"metadata": {"annotations": truncated}, "subsets": subsets})]


def _subsets(service: Json, reachable: Sequence[Json]) -> list[Json]:
    shown = reachable[:_MOST_ADDRESSES]
    if not shown:
        return []
    up = [_address(service, pod) for pod in shown if _publishes_unready(service) or pods.is_ready(pod)]
    down = [
        _address(service, pod) for pod in shown if not (_publishes_unready(service) or pods.is_ready(pod))
    ]
    parts: Json = {"addresses": up, "notReadyAddresses": down, "ports": _subset_ports(service)}
    return [{key: value for key, value in parts.items() if value}]


def _subset_ports(service: Json) -> list[Json]:
    return [
        {key: value for key, value in port.items() if key != "name" or value}
        for port in _slice_ports(service)
    ]


def _address(service: Json, pod: Json) -> Json:
    return {
        "ip": pod["status"]["podIP"],
        **_hostname(service, pod),
        "nodeName": pods.node_of(pod),
        "targetRef": _target(pod),
    }
