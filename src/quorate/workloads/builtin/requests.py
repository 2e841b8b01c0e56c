"""What a pod spec requests, in milli-units by resource, as the scheduler and the kubelet count it."""

from quorate.api.meta import Json
from quorate.api.quantity import milli

Amounts = dict[str, int]
PODS = "pods"


def amounts(quantities: Json | None) -> Amounts:
    return {name: milli(text) for name, text in (quantities or {}).items()}


def requests(spec: Json) -> Amounts:
    """The larger of containers + sidecars and any init container beside earlier sidecars, plus overhead."""
    total: Amounts = {}
    for item in spec.get("containers") or ():
        _add(total, _wanted(item))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for item in spec.get("initContainers") or ():
        if item.get("restartPolicy") == "Always":
            _add(sidecars, _wanted(item))
            _raise(peak, sidecars)
        else:
            step = _wanted(item)
            _add(step, sidecars)
            _raise(peak, step)
    _add(total, sidecars)
    _raise(total, peak)
    _add(total, amounts(spec.get("overhead")))
    total[PODS] = 1000
    return total


def _wanted(container: Json) -> Amounts:
    """Requests; a limit without a request is one."""
    resources = container.get("resources") or {}
    return amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: Amounts, floor: Amounts) -> None:
    for name, amount in floor.items():
        total[name] = max(total.get(name, 0), amount)
