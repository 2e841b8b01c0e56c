"""What a new object starts with, whatever its author wrote: status, quality of service, generated selectors.

Runs once, on create, after name and uid are set.
"""

from collections.abc import Callable

from quorate.api.meta import Json
from quorate.embedded.quantities import nanos

# The status of a new object, with the zeros that a real server prints.
_FIRST_STATUS: dict[tuple[str, str], Json] = {
    ("", "Namespace"): {"phase": "Active"},
    ("", "PersistentVolume"): {"phase": "Pending"},
    ("", "PersistentVolumeClaim"): {"phase": "Pending"},
    ("", "ReplicationController"): {"replicas": 0},
    ("", "ResourceQuota"): {},
    ("", "Service"): {"loadBalancer": {}},
    ("apps", "DaemonSet"): {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    ("apps", "Deployment"): {},
    ("apps", "ReplicaSet"): {"replicas": 0},
    ("apps", "StatefulSet"): {"replicas": 0, "availableReplicas": 0},
    ("autoscaling", "HorizontalPodAutoscaler"): {"desiredReplicas": 0, "currentMetrics": None},
    ("batch", "CronJob"): {},
    ("batch", "Job"): {},
    ("networking.k8s.io", "Ingress"): {"loadBalancer": {}},
    ("policy", "PodDisruptionBudget"): {
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
    },
}


def prepare_create(group: str, kind: str, obj: Json) -> None:
    """Set, in place, the fields that the server alone decides for a new object."""
    status = _FIRST_STATUS.get((group, kind))
    if status is not None:
        obj["status"] = dict(status)
    prepare = _PREPARE.get((group, kind))
    if prepare is not None:
        prepare(obj)


def _pod(obj: Json) -> None:
    if obj["spec"]["terminationGracePeriodSeconds"] < 0:
        obj["spec"]["terminationGracePeriodSeconds"] = 1
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
    if not metadata.get("labels"):
        metadata["labels"] = dict(spec["template"]["metadata"]["labels"])


def _persistent_volume(obj: Json) -> None:
    obj["status"]["lastPhaseTransitionTime"] = obj["metadata"].get("creationTimestamp")


def _namespace(obj: Json) -> None:
    spec = obj["spec"]
    finalizers = spec.get("finalizers") or []
    spec["finalizers"] = finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]


def _daemon_set(obj: Json) -> None:
    metadata = obj["metadata"]
    generation = {"deprecated.daemonset.template.generation": "1"}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **generation}


_PREPARE: dict[tuple[str, str], Callable[[Json], None]] = {
    ("", "Pod"): _pod,
    ("", "Namespace"): _namespace,
    ("", "PersistentVolume"): _persistent_volume,
    ("apps", "DaemonSet"): _daemon_set,
    ("batch", "Job"): _job,
}
