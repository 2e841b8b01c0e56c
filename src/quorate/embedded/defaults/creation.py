"""What a new object starts with, whatever its author wrote: status, quality of service, generated selectors.

Runs once, on create, after name and uid are set.
"""

from collections.abc import Callable

from quorate.api.meta import Json
from quorate.embedded.quantities import nanos

_STATUS_RESET = frozenset(
    (
        ("", "ReplicationController"),
        ("", "ResourceQuota"),
        ("apps", "DaemonSet"),
        ("apps", "Deployment"),
        ("apps", "ReplicaSet"),
        ("apps", "StatefulSet"),
        ("batch", "CronJob"),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("policy", "PodDisruptionBudget"),
        ("networking.k8s.io", "Ingress"),
    )
)


def prepare_create(group: str, kind: str, obj: Json) -> None:
    """Set, in place, the fields that the server alone decides for a new object."""
    prepare = _PREPARE.get((group, kind))
    if prepare is not None:
        prepare(obj)
    elif (group, kind) in _STATUS_RESET:
        obj["status"] = {}


def _pod(obj: Json) -> None:
    obj["status"] = {"phase": "Pending", "qosClass": quality_of_service(obj["spec"])}
    if obj["spec"].get("schedulingGates"):
        obj["status"]["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": obj["metadata"].get("creationTimestamp"),
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]


def quality_of_service(spec: Json) -> str:
    """Guaranteed, Burstable or BestEffort, from the cpu and memory of all containers."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    any_amount, guaranteed = False, True
    for container in containers:
        resources = container.get("resources") or {}
        limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
        for name in ("cpu", "memory"):
            limit, request = _size(limits.get(name)), _size(requests.get(name))
            any_amount = any_amount or limit > 0 or request > 0
            guaranteed = guaranteed and limit > 0 and limit == request
    if not any_amount:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"


def _size(amount: str | None) -> int:
    if amount is None:
        return 0
    try:
        return nanos(amount)
    except ValueError:
        return 0  # validation refuses it, with its field


def _job(obj: Json) -> None:
    obj["status"] = {}
    spec, metadata = obj["spec"], obj["metadata"]
    if spec.get("manualSelector"):
        return
    owned = {"batch.kubernetes.io/controller-uid": metadata.get("uid", "")}
    labels = spec["template"]["metadata"].get("labels") or {}
    spec["template"]["metadata"]["labels"] = {
        **labels,
        **owned,
        "controller-uid": metadata.get("uid", ""),
        "batch.kubernetes.io/job-name": metadata.get("name", ""),
        "job-name": metadata.get("name", ""),
    }
    selector = spec.get("selector") or {}
    spec["selector"] = {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **owned}}


def _namespace(obj: Json) -> None:
    spec = obj["spec"]
    finalizers = spec.get("finalizers") or []
    spec["finalizers"] = finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]
    obj["status"] = {"phase": "Active"}


def _pending(obj: Json) -> None:
    obj["status"] = {"phase": "Pending"}


def _service(obj: Json) -> None:
    obj["status"] = {"loadBalancer": {}}


_PREPARE: dict[tuple[str, str], Callable[[Json], None]] = {
    ("", "Pod"): _pod,
    ("", "Namespace"): _namespace,
    ("", "PersistentVolume"): _pending,
    ("", "PersistentVolumeClaim"): _pending,
    ("", "Service"): _service,
    ("batch", "Job"): _job,
}
