"""Health of a node as its kubelet and the node lifecycle controller write it: conditions and taints."""

from typing import NamedTuple

from quorate.api.meta import Json
from quorate.workloads.builtin.conditions import find, put
from quorate.workloads.builtin.instants import epoch, rfc3339
from quorate.workloads.builtin.nodematch import tolerates_taint

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
GRACE_SECONDS = 50.0  # without a heartbeat, before a node counts as lost
_PRESSURES = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)


class Verdict(NamedTuple):
    """What the node should say: new conditions (`None`: unchanged) and its taints."""

    conditions: list[Json] | None
    taints: list[Json]


def healthy(conditions: list[Json], now: float) -> list[Json]:
    """What a kubelet that is up reports."""
    at = rfc3339(now)
    for kind, reason, message in _PRESSURES:
        conditions = put(conditions, _condition(kind, "False", reason, message, at), at)
    ready = _condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", at)
    return put(conditions, ready, at)


def _condition(kind: str, status: str, reason: str, message: str, at: str) -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastHeartbeatTime": at}


def judge(node: Json, renewed_at: float, now: float) -> Verdict:
    """A node without a heartbeat for the grace period becomes Unknown and is tainted."""
    conditions = node.get("status", {}).get("conditions") or []
    lost = now - max(renewed_at, epoch(node["metadata"].get("creationTimestamp"))) > GRACE_SECONDS
    changed = _unknown(conditions, now) if lost else None
    ready = find(changed or conditions, "Ready")
    if ready is None:
        return Verdict(None, node.get("spec", {}).get("taints") or [])  # its kubelet may still come
    state = ready["status"]
    return Verdict(changed if changed != conditions else None, _taints(node, state, now))


def _unknown(conditions: list[Json], now: float) -> list[Json]:
    at = rfc3339(now)
    for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready"):
        note = {"type": kind, "status": "Unknown", "reason": "NodeStatusUnknown"}
        conditions = put(conditions, {**note, "message": "Kubelet stopped posting node status."}, at)
    return conditions


def _taints(node: Json, ready: str, now: float) -> list[Json]:
    """Ours follow the Ready condition and `spec.unschedulable`; all others stay."""
    spec = node.get("spec", {})
    present = spec.get("taints") or []
    wanted: list[tuple[str, str]] = []
    if spec.get("unschedulable"):
        wanted.append((UNSCHEDULABLE, "NoSchedule"))
    if ready != "True":
        key = NOT_READY if ready == "False" else UNREACHABLE
        wanted += [(key, "NoSchedule"), (key, "NoExecute")]
    ours = {NOT_READY, UNREACHABLE, UNSCHEDULABLE}
    kept = [
        taint for taint in present if taint["key"] not in ours or (taint["key"], taint["effect"]) in wanted
    ]
    have = {(taint["key"], taint["effect"]) for taint in kept}
    added = [
        {"key": key, "effect": effect, "timeAdded": rfc3339(now)}
        for key, effect in wanted
        if (key, effect) not in have
    ]
    return [*kept, *added]


def evict_at(pod: Json, taints: list[Json], now: float) -> float | None:
    """When a pod must leave a node because of its NoExecute taints; `None` if it tolerates them for ever."""
    due: list[float] = []
    for taint in taints:
        if taint.get("effect") != "NoExecute":
            continue
        seconds = _tolerated_seconds(pod, taint)
        if seconds is not None:
            due.append(epoch(taint["timeAdded"]) + seconds if taint.get("timeAdded") else now + seconds)
    return min(due, default=None)


def _tolerated_seconds(pod: Json, taint: Json) -> float | None:
    """0 without a toleration, `None` for ever."""
    fitting = [item for item in pod["spec"].get("tolerations") or () if tolerates_taint(item, taint)]
    if not fitting:
        return 0.0
    limits = [item["tolerationSeconds"] for item in fitting if item.get("tolerationSeconds") is not None]
    return float(max(min(limits), 0)) if limits else None
