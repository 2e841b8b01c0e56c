"""The pods that a workload would have, for grouping one that runs nowhere yet: only what grouping reads of them.

`expand` adds the objects that other controllers would make in between; `pods_of` makes the pods.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from quorate.api import labels
from quorate.api.meta import Json
from quorate.grouping.kinds.jobset import JOB_INDEX, REPLICATED_JOB
from quorate.grouping.kinds.knative import MIN_SCALE, REVISION_LABEL
from quorate.grouping.kinds.kubeflow import REPLICA_INDEX, REPLICA_TYPE
from quorate.grouping.kinds.ray import GROUP_LABEL, HEAD
from quorate.grouping.objects import dig, group_of, texts

MOST_PODS = 1000  # of one role: more would say nothing new


class Role(NamedTuple):
    """Pods of one template; `{}` in names and labels stands for their index, names begin with the owner's."""

    name: str
    count: Any
    template: Any
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


def pods_of(owner: Json) -> Iterator[Json]:
    """Nothing for a kind that names no pod template where we would look for it."""
    kind = (group_of(str(owner.get("apiVersion", ""))), str(owner.get("kind", "")))
    for role in ROLES.get(kind, _templated)(owner):
        for index in range(_count(role.count)):
            yield _pod(owner, role, str(index))


def expand(document: Json) -> Iterator[Json]:
    """The object, and below it the one that its controller would make to own the pods."""
    spec = document.get("spec")
    match document.get("kind"):
        case "CronJob":
            yield document
            yield _below(document, "batch/v1", "Job", dig(spec, "jobTemplate"))
        case "RayJob" | "RayService" as kind:
            field = "rayClusterSpec" if kind == "RayJob" else "rayClusterConfig"
            name = document["metadata"]["name"]
            status = {"rayClusterName": name, "activeServiceStatus": {"rayClusterName": name}}
            yield {**document, "status": document.get("status") or status}
            yield _below(document, document["apiVersion"], "RayCluster", {"spec": dig(spec, field)})
        case "Service" if _is_knative(document):
            yield document
            yield _below(document, document["apiVersion"], "Revision", dig(spec, "template"), "-00001")
        case _:
            yield document


def _is_knative(document: Json) -> bool:
    return group_of(str(document.get("apiVersion", ""))) == "serving.knative.dev"


def _below(owner: Json, api_version: str, kind: str, template: Any, ending: str = "") -> Json:
    metadata = {**(dig(template, "metadata") or {}), "name": owner["metadata"]["name"] + ending}
    metadata["namespace"] = owner["metadata"].get("namespace", "default")
    metadata["ownerReferences"] = [reference(owner)]
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "spec": dig(template, "spec") or {},
    }


def reference(owner: Json) -> Json:
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta.get("uid", ""),
        "controller": True,
    }


def _count(value: Any) -> int:
    """What grouping itself refuses, it can say of one pod too."""
    return min(value, MOST_PODS) if isinstance(value, int) and value >= 0 else 1


def _pod(owner: Json, role: Role, index: str) -> Json:
    found = dig(role.template, "metadata")
    said = {key: text.replace("{}", index) for key, text in role.labels.items()}
    metadata = {
        "name": f"{owner['metadata']['name']}-{role.name.replace('{}', index)}",
        "namespace": owner["metadata"].get("namespace", "default"),
        "labels": {**texts(dig(found, "labels")), **said},
        "annotations": {**texts(dig(found, "annotations")), **role.annotations},
        "ownerReferences": [reference(owner)],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": dig(role.template, "spec") or {},
    }


def _templated(owner: Json) -> Iterator[Role]:
    spec = owner.get("spec")
    if isinstance(dig(spec, "template"), dict):
        count = dig(spec, "parallelism") if owner.get("kind") == "Job" else dig(spec, "replicas")
        yield Role("{}", count, dig(spec, "template"))


def _job_set(owner: Json) -> Iterator[Role]:
    for job in _list(dig(owner, "spec", "replicatedJobs")):
        name, spec = str(dig(job, "name") or ""), dig(job, "template", "spec")
        for index in range(_count(dig(job, "replicas"))):
            said = {REPLICATED_JOB: name, JOB_INDEX: str(index)}
            yield Role(f"{name}-{index}-{{}}", dig(spec, "parallelism"), dig(spec, "template"), said)


def _leader_worker_set(owner: Json) -> Iterator[Role]:
    template = dig(owner, "spec", "leaderWorkerTemplate")
    size = _count(dig(template, "size"))
    workers = dig(template, "workerTemplate")
    leader = dig(template, "leaderTemplate") or workers
    noted = {labels.LWS_SIZE: str(size)}
    for index in range(_count(dig(owner, "spec", "replicas"))):
        of_group = {labels.LWS_NAME: owner["metadata"]["name"], labels.LWS_GROUP_INDEX: str(index)}
        for worker in range(size):
            said = {**of_group, labels.LWS_WORKER_INDEX: str(worker)}
            name = f"{index}-{worker}" if worker else str(index)
            yield Role(name, 1, leader if not worker else workers, said, noted)


def _kubeflow(field: str) -> Callable[[Json], Iterator[Role]]:
    def roles(owner: Json) -> Iterator[Role]:
        found = dig(owner, "spec", field)
        for role, spec in found.items() if isinstance(found, dict) else ():
            name = str(role).lower()
            said = {REPLICA_TYPE: name, REPLICA_INDEX: "{}"}
            yield Role(f"{name}-{{}}", dig(spec, "replicas"), dig(spec, "template"), said)

    return roles


def _ray(owner: Json) -> Iterator[Role]:
    spec = owner.get("spec")
    yield Role("head", 1, dig(spec, "headGroupSpec", "template"), {GROUP_LABEL: HEAD})
    for place, group in enumerate(_list(dig(spec, "workerGroupSpecs"))):
        name = str(dig(group, "groupName") or f"worker-group-{place}")
        count = _count(dig(group, "replicas")) * _count(dig(group, "numOfHosts"))
        yield Role(f"{name}-worker-{{}}", count, dig(group, "template"), {GROUP_LABEL: name})


def _revision(owner: Json) -> Iterator[Role]:
    """The spec of a Revision is that of its pods."""
    scale = texts(dig(owner, "metadata", "annotations")).get(MIN_SCALE, "1")
    count = int(scale) if scale.isdecimal() else 1
    template = {"spec": dig(owner, "spec")}
    yield Role("{}", count or 1, template, {REVISION_LABEL: owner["metadata"]["name"]})


def _spark(owner: Json) -> Iterator[Role]:
    """Driver and executors; a field of each names the scheduler, as there need not be a template."""
    for name, count in (("driver", 1), ("executor", dig(owner, "spec", "executor", "instances"))):
        part = dig(owner, "spec", name)
        template = dig(part, "template") or {}
        scheduler = dig(part, "schedulerName") or dig(template, "spec", "schedulerName") or ""
        spec = {**(dig(template, "spec") or {}), "schedulerName": scheduler}
        yield Role(f"{name}-{{}}" if name != "driver" else name, count, {**template, "spec": spec})


def _none(_: Json) -> Iterator[Role]:
    """What the kind's own operator makes beside the pods says how they belong together."""
    return iter(())


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# by group and kind; every other kind is looked at for `spec.template`
ROLES: dict[tuple[str, str], Callable[[Json], Iterator[Role]]] = {
    ("grove.io", "PodCliqueSet"): _none,
    ("jobset.x-k8s.io", "JobSet"): _job_set,
    ("kubeflow.org", "JAXJob"): _kubeflow("jaxReplicaSpecs"),
    ("kubeflow.org", "MPIJob"): _kubeflow("mpiReplicaSpecs"),
    ("kubeflow.org", "PyTorchJob"): _kubeflow("pytorchReplicaSpecs"),
    ("kubeflow.org", "TFJob"): _kubeflow("tfReplicaSpecs"),
    ("kubeflow.org", "XGBoostJob"): _kubeflow("xgbReplicaSpecs"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): _leader_worker_set,
    ("ray.io", "RayCluster"): _ray,
    ("serving.knative.dev", "Revision"): _revision,
    ("sparkoperator.k8s.io", "SparkApplication"): _spark,
}
