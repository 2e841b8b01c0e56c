"""Where grouping differs from KAI's pod grouper on purpose: rules with reasons, never by the id of a case."""

import re
from collections.abc import Iterator
from typing import Any

from tests.cases.deviations import Json, Mismatch, Rule, dig

TOOL_KEY = re.compile(
    r"\.(labels|annotations)\.([a-z]+\.)*(kubernetes\.io|helm\.sh|argoproj\.io|fluxcd\.io)/"
)
MEMBERSHIP_KEY = re.compile(r"\.(labels|annotations)\.(pod-group-name|kai\.scheduler/subgroup-name)$")
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
PREEMPTIBILITY = "kai.scheduler/preemptibility"
STANDARD_CLASSES = {"train", "build-preemptible", "build", "inference", "high"}
UPSTREAM_VERSIONS = {
    ("kubeflow.org", "Notebook"): {"v1beta1"},
    ("kubeflow.org", "TFJob"): {"v1"},
    ("kubeflow.org", "PyTorchJob"): {"v1"},
    ("kubeflow.org", "XGBoostJob"): {"v1"},
    ("kubeflow.org", "JAXJob"): {"v1"},
    ("kubeflow.org", "MPIJob"): {"v1", "v2beta1"},
    ("kubeflow.org", "ScheduledWorkflow"): {"v1alpha1"},
    ("trainer.kubeflow.org", "TrainJob"): {"v1alpha1"},
    ("jobset.x-k8s.io", "JobSet"): {"v1alpha2"},
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): {"v1"},
    ("grove.io", "PodCliqueSet"): {"v1alpha1"},
    ("grove.io", "PodGangSet"): {"v1alpha1"},
    ("ray.io", "RayCluster"): {"v1", "v1alpha1"},
    ("ray.io", "RayJob"): {"v1", "v1alpha1"},
    ("ray.io", "RayService"): {"v1", "v1alpha1"},
    ("serving.knative.dev", "Service"): {"v1"},
    ("argoproj.io", "Workflow"): {"v1alpha1"},
    ("batch", "Job"): {"v1"},
    ("batch", "CronJob"): {"v1"},
    ("apps", "Deployment"): {"v1"},
    ("amlarc.azureml.com", "AmlJob"): {"v1alpha1"},
    ("egx.nvidia.io", "SPOTRequest"): {"v1"},
    ("run.ai", "RunaiJob"): {"v1"},
}


def _tool_keys(m: Mismatch) -> bool:
    keys = (TOOL_KEY, MEMBERSHIP_KEY)
    return all(got is None and any(k.search(path) for k in keys) for path, (_, got) in m.differences.items())


def _other_version(m: Mismatch) -> bool:
    for found in m.objects:
        group, _, version = str(found.get("apiVersion", "")).rpartition("/")
        known = UPSTREAM_VERSIONS.get((group, str(found.get("kind"))))
        if known is not None and version not in known:
            return True
    return False


def _legacy(m: Mismatch) -> bool:
    groups = [found for found in m.case.get("objects", ()) if found.get("kind") == "PodGroup"]
    flat = any(not dig(found, "spec", "subGroups") for found in groups)
    per_pod = any(dig(pod, "metadata", "annotations", "pod-group-name") for pod in m.pods)
    return flat or (per_pod and bool(m.of_kind("Revision")))


def _grove_queue(m: Mismatch) -> bool:
    return bool(m.of_kind("PodGang")) and m.differs_only_at("spec.queue")


def _preemptibility_values(m: Mismatch) -> bool:
    if "semi-preemptible" not in m.said(PREEMPTIBILITY):
        return bool(m.of_kind("PodGang")) and bool(m.said(PREEMPTIBILITY)) and m.is_refused_only_upstream
    return m.differs_only_at("spec.preemptibility") or m.is_refused_only_upstream


def _preemptibility_order(m: Mismatch) -> bool:
    return m.differs_only_at("spec.preemptibility") and len(set(m.said(PREEMPTIBILITY))) > 1


def _in_order(m: Mismatch) -> bool:
    orders = [dig(found, "spec", "startupPolicy", "startupPolicyOrder") for found in m.of_kind("JobSet")]
    return "InOrder" in orders and m.differs_only_at("minSubGroup", "spec.subGroups")


def _jobset_sizes(m: Mismatch) -> bool:
    jobs = [job for found in m.of_kind("JobSet") for job in dig(found, "spec", "replicatedJobs") or ()]
    has_completions = any(dig(job, "template", "spec", "completions") is not None for job in jobs)
    has_none = any(job.get("replicas") == 0 for job in jobs)
    return (has_completions or has_none) and m.differs_only_at("minSubGroup", "spec.subGroups")


def _knative(m: Mismatch) -> bool:
    return bool(m.of_kind("Revision")) and m.differs_only_at(
        "spec.preemptibility", "spec.topologyConstraint", "spec.priorityClassName", "labels", "annotations"
    )


def _lws_size(m: Mismatch) -> bool:
    sizes = [dig(found, "spec", "leaderWorkerTemplate", "size") for found in m.of_kind("LeaderWorkerSet")]
    said = m.said("leaderworkerset.sigs.k8s.io/size")
    return bool(sizes) and any(text != str(size) for text in said for size in sizes)


def _lws_segments(m: Mismatch) -> bool:
    return bool(m.of_kind("LeaderWorkerSet")) and m.is_refused_only_upstream


def _priority(m: Mismatch) -> bool:
    specs = [dig(found, "spec", "priorityClassName") for found in m.objects]
    names = {name for name in (*m.said("priorityClassName"), *specs) if name}
    classes = {dig(found, "metadata", "name") for found in m.of_kind("PriorityClass")}
    is_unknown = bool(names - classes - STANDARD_CLASSES)
    return m.differs_only_at("spec.priorityClassName") and (len(names) > 1 or is_unknown)


def _own_policy(m: Mismatch) -> bool:
    policies = [dig(found, "spec", "runPolicy", "schedulingPolicy") or {} for found in m.objects]
    return m.differs_only_at("spec.queue", "spec.priorityClassName") and any(
        policy.get("queue") or policy.get("priorityClass") for policy in policies
    )


def _over(m: Mismatch) -> bool:
    return any(
        dig(pod, "status", "phase") in {"Succeeded", "Failed"} or dig(pod, "metadata", "deletionTimestamp")
        for pod in m.pods
    )


def _undefaulted_replicas(m: Mismatch) -> bool:
    specs = [
        value
        for found in m.objects
        for key, value in (found.get("spec") or {}).items()
        if "ReplicaSpecs" in key
    ]
    is_missing = any("replicas" not in role for roles in specs if roles for role in roles.values())
    return is_missing and (m.is_refused_only_upstream or m.differs_only_at("minMember"))


def _elastic_zero(m: Mismatch) -> bool:
    groups = [
        group for found in m.of_kind("RayCluster") for group in dig(found, "spec", "workerGroupSpecs") or ()
    ]
    return any(group.get("minReplicas") == 0 for group in groups) and m.differs_only_at("minMember")


def _numbers(m: Mismatch) -> bool:
    asked = (
        "kai.scheduler/segment-size",
        "kai.scheduler/batch-min-member",
        "autoscaling.knative.dev/min-scale",
    )
    texts = [text for key in asked for text in m.said(key)]
    is_negative = any(isinstance(value, int) and value < 0 for value in _values(m.objects))
    is_odd = is_negative or any(re.fullmatch(r"-\d+|0", text) for text in texts)
    return is_odd and (m.is_refused_only_here or m.differs_only_at("minMember"))


def _values(tree: Any) -> Iterator[Any]:
    for value in tree.values() if isinstance(tree, dict) else tree:
        yield from _values(value) if isinstance(value, dict | list) else (value,)


def _segments(m: Mismatch) -> bool:
    """A worker that no segment holds, or more segments than one PodGroup may have."""
    return m.is_refused_only_here and bool(m.of_kind("PyTorchJob", "LeaderWorkerSet"))


def _levels(m: Mismatch) -> bool:
    added = [
        (expected, got) for path, (expected, got) in m.differences.items() if "topologyConstraint" in path
    ]
    return m.differs_only_at("topologyConstraint") and all(
        expected is None and not (isinstance(got, dict) and got.get("topology")) for expected, got in added
    )


def _readable(m: Mismatch) -> bool:
    """Kinds that upstream may not read in a stock installation, and groups as a whole once it may."""
    forbidden = {name.rpartition("/")[2] for name in m.case.get("forbiddenKinds") or ()}
    return any(m.of_kind(kind) for kind in {"InferenceService", "CronWorkflow", "DaemonSet"} - forbidden)


def _submitter(m: Mismatch) -> bool:
    below = [found for found in m.of_kind("Job") if any(_owned_by(found, "RayJob"))]
    return bool(below) and bool(m.of_kind("RayJob"))


def _owned_by(found: Json, kind: str) -> Iterator[bool]:
    return (owner.get("kind") == kind for owner in dig(found, "metadata", "ownerReferences") or ())


def _upgraded(m: Mismatch) -> bool:
    fields = ("activeServiceStatus", "pendingServiceStatus")
    statuses = [found.get("status") or {} for found in m.of_kind("RayService")]
    clusters = {dig(status, field, "rayClusterName") for status in statuses for field in fields}
    return len(clusters - {None, ""}) > 1


def _suspended(m: Mismatch) -> bool:
    groups = [
        group for found in m.of_kind("RayCluster") for group in dig(found, "spec", "workerGroupSpecs") or ()
    ]
    return any(group.get("suspend") is True for group in groups) and m.differs_only_at(
        "minMember", "subGroup"
    )


def _empty_labels(m: Mismatch) -> bool:
    keys = ("kai.scheduler/queue", "project", "priorityClassName")
    is_empty = any(text == "" for key in keys for text in m.said(key))
    return is_empty and m.differs_only_at("spec.queue", "spec.priorityClassName")


def _no_parts(m: Mismatch) -> bool:
    gangs = m.of_kind("PodGang")
    return m.is_refused_only_here and any(not dig(gang, "spec", "podgroups") for gang in gangs)


def _names(m: Mismatch) -> bool:
    expected = [name for path, (name, _) in m.differences.items() if path.endswith((".name", ".parent"))]
    groups = [
        group
        for found in m.case["expect"].get("podGroups", ())
        for group in found["spec"].get("subGroups", ())
    ]
    names = [group["name"] for group in groups]
    is_refused = len(set(names)) < len(names) or any(not DNS_LABEL.fullmatch(name) for name in names)
    return bool(expected) and is_refused


def _pruned(m: Mismatch) -> bool:
    """Labels and annotations that the owner had before a later step took them away, and stale subgroups."""
    places = m.differs_only_at("labels", "annotations", "subGroup")
    return places and all(got is None for _, got in m.differences.values())


def _disagreeing(m: Mismatch) -> bool:
    fields = (
        "spec.preemptibility",
        "spec.priorityClassName",
        "spec.queue",
        "labels",
        "annotations",
        "spec.preemption",
    )
    reconciled = {step["pod"] for step in m.case.get("steps", ()) if step["op"] == "reconcile"}
    return len(reconciled) > 1 and m.differs_only_at(*fields)


def _cron_minimum(m: Mismatch) -> bool:
    return bool(m.of_kind("CronJob")) and m.differs_only_at("spec.minMember")


def _controller_owner(m: Mismatch) -> bool:
    references = [dig(found, "metadata", "ownerReferences") or () for found in m.objects]
    return any(len(refs) > 1 and any(ref.get("controller") for ref in refs[1:]) for refs in references)


RULES = {
    "grouper": (
        Rule("tool metadata", "what tools write for themselves is not copied to PodGroups", _tool_keys),
        Rule(
            "any version",
            "kinds match by group and kind, so that a new API version keeps its gang",
            _other_version,
        ),
        Rule(
            "no legacy shapes",
            "an older shape of a PodGroup is brought to the shape that its workload has",
            _legacy,
        ),
        Rule(
            "queue of Grove", "the queue label on a PodCliqueSet becomes the queue of the gang", _grove_queue
        ),
        Rule(
            "preemptibility values",
            "semi-preemptible is a value; an invalid one warns and refuses nobody",
            _preemptibility_values,
        ),
        Rule(
            "preemptibility order",
            "the top owner's label decides before those below it",
            _preemptibility_order,
        ),
        Rule(
            "ordered JobSet",
            "the first job is required and later ones are optional, not any one of them",
            _in_order,
        ),
        Rule(
            "sizes of a JobSet",
            "completions bound a replica's members; a job without replicas has no group",
            _jobset_sizes,
        ),
        Rule("labels of Knative", "preemptibility, topology and priority of a Revision are read", _knative),
        Rule(
            "size of an LWS group",
            "a group has the size it was made with while the set is resized",
            _lws_size,
        ),
        Rule(
            "segments of an LWS",
            "segments of one pod, and a leader that starts first, are grouped",
            _lws_segments,
        ),
        Rule(
            "priority order",
            "owners are asked before the pod, and a name that does not exist hides no other",
            _priority,
        ),
        Rule(
            "Kubeflow's own policy", "queue and priority in runPolicy.schedulingPolicy are read", _own_policy
        ),
        Rule("pods that are over", "finished pods and pods being deleted get no new gang", _over),
        Rule(
            "replicas default to one",
            "a role that names no replicas has one, as its operator defaults it",
            _undefaulted_replicas,
        ),
        Rule("scale to zero", "minReplicas 0 means that no worker is required", _elastic_zero),
        Rule(
            "numbers",
            "sizes below one and negative minimums are refused with the name of the field",
            _numbers,
        ),
        Rule(
            "segments",
            "a worker that no segment holds is refused with its index, not left without a group",
            _segments,
        ),
        Rule(
            "levels",
            "a level that names no topology means that of the gang or the only one there is",
            _levels,
        ),
        Rule(
            "owners that may be read",
            "a right to read an owner does not change how its pods are grouped",
            _readable,
        ),
        Rule("submitter of Ray", "the pod that submits a RayJob is a gang of its own", _submitter),
        Rule("upgrades of Ray", "each cluster of a RayService is a gang of its own size", _upgraded),
        Rule(
            "suspended groups of Ray", "a suspended group of workers has no pods and is left out", _suspended
        ),
        Rule("empty labels", "a label without a value asks for nothing", _empty_labels),
        Rule("empty PodGang", "a PodGang that lists no groups yet is waited for", _no_parts),
        Rule("names", "groups get distinct DNS labels, so that the API server accepts the PodGroup", _names),
        Rule(
            "nothing stale", "labels the owner no longer has and stale subgroup labels are removed", _pruned
        ),
        Rule(
            "pods that disagree",
            "the first pod by name decides, whichever was seen last, with one warning",
            _disagreeing,
        ),
        Rule("runs of a CronJob", "batch-min-member works on them as on any other Job", _cron_minimum),
        Rule("controller first", "of several owners the controller is followed", _controller_owner),
    ),
}
