"""Facts about one pod that several controllers ask: active, ready, available, and who is deleted first."""

from collections.abc import Iterable, Mapping
from math import log2

from quorate.api.meta import Json
from quorate.workloads.builtin.conditions import find
from quorate.workloads.builtin.instants import epoch
from quorate.workloads.builtin.outcome import is_deleting

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASE_RANK = {"Pending": 0, "Unknown": 1, "Running": 2}


def phase(pod: Json) -> str:
    text: str = pod.get("status", {}).get("phase", "Pending")
    return text


def is_finished(pod: Json) -> bool:
    return phase(pod) in {"Succeeded", "Failed"}


def is_active(pod: Json) -> bool:
    return not is_finished(pod) and not is_deleting(pod)


def node_of(pod: Json) -> str:
    name: str = pod["spec"].get("nodeName", "")
    return name


def ready_condition(pod: Json) -> Json | None:
    return find(pod.get("status", {}).get("conditions"), "Ready")


def is_ready(pod: Json) -> bool:
    ready = ready_condition(pod)
    return ready is not None and ready["status"] == "True"


def available_at(pod: Json, min_ready: int) -> float | None:
    """When the pod counts as available (maybe in the future), or `None` while it is not ready."""
    ready = ready_condition(pod)
    if ready is None or ready["status"] != "True":
        return None
    return epoch(ready.get("lastTransitionTime")) + min_ready if min_ready else 0.0


def is_available(pod: Json, min_ready: int, now: float) -> bool:
    at = available_at(pod, min_ready)
    return at is not None and at <= now


def next_available(pods: Iterable[Json], min_ready: int, now: float) -> float | None:
    """The next instant at which a ready pod becomes available."""
    if not min_ready:
        return None
    instants = (available_at(pod, min_ready) for pod in pods)
    return min((at for at in instants if at is not None and at > now), default=None)


def restarts(pod: Json) -> int:
    return max(
        (item.get("restartCount", 0) for item in pod.get("status", {}).get("containerStatuses") or ()),
        default=0,
    )


def deletion_cost(pod: Json) -> int:
    try:
        return int(pod["metadata"].get("annotations", {}).get(DELETION_COST, "0"))
    except ValueError:
        return 0


def deletion_order(pods: Iterable[Json], on_node: Mapping[str, int], now: float) -> list[Json]:
    """Pods from the first to delete to the last.

    Unassigned, then Pending, then not ready, then cheap, then crowded on one node, then recently ready, then
    restarted, then young. Ages compare by powers of two, so that near-equal ages are broken by uid instead.
    """

    def rank(pod: Json) -> tuple[object, ...]:
        ready = is_ready(pod)
        condition = ready_condition(pod) or {}
        return (
            bool(node_of(pod)),
            _PHASE_RANK.get(phase(pod), 2),
            ready,
            deletion_cost(pod),
            -on_node.get(node_of(pod), 0),
            _age_bucket(condition.get("lastTransitionTime"), now) if ready else 0,
            -restarts(pod),
            _age_bucket(pod["metadata"].get("creationTimestamp"), now),
            pod["metadata"].get("uid", ""),
        )

    return sorted(pods, key=rank)


def _age_bucket(since: str | None, now: float) -> int:
    seconds = now - epoch(since)
    return int(log2(seconds)) + 1 if seconds >= 1 else 0
