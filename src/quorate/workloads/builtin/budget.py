"""PodDisruptionBudget: how many of its pods may be disrupted now."""

from collections.abc import Mapping, Sequence

from quorate.api.meta import Json
from quorate.workloads.builtin import pods
from quorate.workloads.builtin.amounts import resolve
from quorate.workloads.builtin.conditions import put
from quorate.workloads.builtin.instants import epoch, rfc3339
from quorate.workloads.builtin.outcome import Outcome, is_deleting, soonest

_PATIENCE = 120.0  # seconds an accepted eviction may take to show as a deletion


def budget(item: Json, matched: Sequence[Json], scale: int | str, now: float) -> Outcome:
    """`scale` is the replicas that the controllers of the matched pods ask for, or why that is unknown."""
    disrupted = _disrupted(item, matched, now)
    wake = soonest(*(epoch(at) + _PATIENCE for at in disrupted.values()))
    if isinstance(scale, str) and _needs_scale(item):
        return Outcome(status=_failed(item, scale, now), wake=wake)
    expected, desired = _expected(item, len(matched), scale if isinstance(scale, int) else 0)
    healthy = sum(
        pods.is_ready(pod) and not is_deleting(pod) and pod["metadata"]["name"] not in disrupted
        for pod in matched
    )
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    condition = (
        {"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods", "message": ""}
        if allowed
        else {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": ""}
    )
    status = {
        "conditions": _put(item, condition, now),
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
        "observedGeneration": item["metadata"].get("generation", 1),
    }
    return Outcome(status={**status, **({"disruptedPods": disrupted} if disrupted else {})}, wake=wake)


def _needs_scale(item: Json) -> bool:
    least = item["spec"].get("minAvailable")
    return "maxUnavailable" in item["spec"] or isinstance(least, str)


def _expected(item: Json, matched: int, scale: int) -> tuple[int, int]:
    """(expected pods, healthy pods needed)."""
    spec = item["spec"]
    if spec.get("maxUnavailable") is not None:
        return scale, max(scale - resolve(spec["maxUnavailable"], scale, up=True), 0)
    least = spec.get("minAvailable", 1)
    return (matched, least) if isinstance(least, int) else (scale, resolve(least, scale, up=True))


def _disrupted(item: Json, matched: Sequence[Json], now: float) -> Mapping[str, str]:
    """Evictions accepted a moment ago whose pods still look alive."""
    alive = {pod["metadata"]["name"] for pod in matched if not is_deleting(pod)}
    noted = item.get("status", {}).get("disruptedPods") or {}
    return {name: at for name, at in noted.items() if name in alive and epoch(at) + _PATIENCE > now}


def _failed(item: Json, why: str, now: float) -> Json:
    """Fail safe: with the scale unknown nothing may be disrupted."""
    condition = {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": why}
    zeros = {"currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
    status = {**zeros, **item.get("status", {}), "disruptionsAllowed": 0}
    observed = item["metadata"].get("generation", 1)
    return {**status, "observedGeneration": observed, "conditions": _put(item, condition, now)}


def _put(item: Json, condition: Json, now: float) -> list[Json]:
    observed = {"observedGeneration": item["metadata"].get("generation", 1)}
    return put(item.get("status", {}).get("conditions"), {**condition, **observed}, rfc3339(now))
