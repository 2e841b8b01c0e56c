"""What a pod asks a node for, as Kubernetes itself computes it; the scheduler and status sum these.

Amounts are thousandths of the resource's unit (millicores, millibytes, milli-devices). With c the containers,
s the sidecars (init containers that restart always) and i the other init containers:

    effective = max( sum(c) + sum(s),  max over i of (i + sum of the sidecars before it) ) + overhead

Requests for the pod as a whole replace the sums of cpu, memory and huge pages.
"""

from collections.abc import Mapping

from quorate.api.podspec import Container, PodSpec, Quantity, ResourceRequirements
from quorate.api.quantity import milli

Amounts = dict[str, int]

PODS = "pods"


def requested(spec: PodSpec) -> Amounts:
    """Thousandths by resource name; one seat of the node's `pods` included."""
    total = _of_containers(spec)
    for name, amount in _asked(spec.resources).items():
        if name in {"cpu", "memory"} or name.startswith("hugepages-"):
            total[name] = amount
    _add(total, _amounts(spec.overhead))
    total[PODS] = 1000
    return {name: amount for name, amount in total.items() if amount}


def _of_containers(spec: PodSpec) -> Amounts:
    running: Amounts = {}
    for container in spec.containers or ():
        _add(running, _asked(container.resources))
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in spec.init_containers or ():
        needed = _asked(container.resources)
        if _is_sidecar(container):
            _add(sidecars, needed)
            needed = dict(sidecars)
        else:
            _add(needed, sidecars)
        _raise(starting, needed)
    _add(running, sidecars)
    _raise(running, starting)
    return running


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _asked(resources: ResourceRequirements | None) -> Amounts:
    """Requests, and the limit of a resource that has no request, as the API server would fill it in."""
    if resources is None:
        return {}
    return _amounts(resources.limits) | _amounts(resources.requests)


def _amounts(wire: Mapping[str, Quantity] | None) -> Amounts:
    return {name: milli(text) for name, text in (wire or {}).items()}


def _add(total: Amounts, more: Mapping[str, int]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: Amounts, floor: Mapping[str, int]) -> None:
    for name, amount in floor.items():
        total[name] = max(total.get(name, 0), amount)
