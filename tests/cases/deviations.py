"""Where Quorate differs from the expected outcome of a case on purpose: rules with reasons.

A rule looks at what a case contains and at what was expected and got, never at its id, so that it means the
same for cases not seen here. Adapters call `explain` with a mismatch and report the first rule that holds.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
Difference = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One case whose outcome differs from what it expects; `topic` is the table it comes from."""

    topic: str
    case: Json
    expected: Any
    got: Any

    @property
    def differences(self) -> dict[str, Difference]:
        """Expected and got by path, for each leaf that differs; list indices are part of the path."""
        return dict(_differences("", self.expected, self.got))

    @property
    def objects(self) -> list[Json]:
        """Every object of the case, in its first and its later states."""
        later = [step["object"] for step in self.case.get("steps", ()) if "object" in step]
        others = [self.case.get("owner"), self.case.get("pod"), *self.case.get("ownerChain", ())]
        return [found for found in (*self.case.get("objects", ()), *later, *others) if found]

    def of_kind(self, *kinds: str) -> list[Json]:
        return [found for found in self.objects if found.get("kind") in kinds]

    @property
    def pods(self) -> list[Json]:
        return [*self.of_kind("Pod"), *filter(None, [self.case.get("pod")])]

    def said(self, key: str) -> list[str]:
        """What objects say under a label or an annotation."""
        metas = [found.get("metadata") or {} for found in self.objects]
        found = [(meta.get(part) or {}).get(key) for meta in metas for part in ("labels", "annotations")]
        return [value for value in found if value is not None]

    @property
    def is_refused_only_upstream(self) -> bool:
        """Upstream refuses what we group."""
        return any(expected is True and got is False for expected, got in self._errors)

    @property
    def is_refused_only_here(self) -> bool:
        return any(expected is False and got is True for expected, got in self._errors)

    @property
    def _errors(self) -> list[Difference]:
        return [pair for path, pair in self.differences.items() if path.endswith("error")]

    def differs_only_at(self, *endings: str) -> bool:
        """Every difference is in one of these places, wherever in the tree they are."""
        return all(any(f".{ending}" in path for ending in endings) for path in self.differences)


@dataclass(frozen=True, slots=True)
class Rule:
    """`holds` says whether a mismatch is this deviation; `reason` says what is better about it."""

    name: str
    reason: str
    holds: Callable[[Mismatch], bool]


def explain(mismatch: Mismatch, *, rules: Mapping[str, tuple[Rule, ...]] | None = None) -> str:
    """The name and reason of the rule that covers the mismatch, or nothing."""
    for rule in (RULES if rules is None else rules).get(mismatch.topic, ()):
        if rule.holds(mismatch):
            return f"{rule.name}: {rule.reason}"
    return ""


def _differences(path: str, expected: Any, got: Any) -> Iterator[tuple[str, Difference]]:
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted({*expected, *got}, key=str):
            yield from _differences(f"{path}.{key}", expected.get(key), got.get(key))
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for place, pair in enumerate(zip(expected, got, strict=True)):
            yield from _differences(f"{path}.{place}", *pair)
    elif expected != got:
        yield path, (expected, got)


# Pod grouper.

TOOL_KEY = re.compile(
    r"\.(labels|annotations)\.([a-z]+\.)*(kubernetes\.io|helm\.sh|argoproj\.io|fluxcd\.io)/"
)
MEMBERSHIP_KEY = re.compile(r"\.(labels|annotations)\.(pod-group-name|kai\.scheduler/subgroup-name)$")
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
PREEMPTIBILITY = "kai.scheduler/preemptibility"
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


def _dig(tree: Any, *path: str) -> Any:
    for name in path:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree


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
    flat = any(not _dig(found, "spec", "subGroups") for found in groups)
    per_pod = any(_dig(pod, "metadata", "annotations", "pod-group-name") for pod in m.pods)
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
    orders = [_dig(found, "spec", "startupPolicy", "startupPolicyOrder") for found in m.of_kind("JobSet")]
    return "InOrder" in orders and m.differs_only_at("minSubGroup", "spec.subGroups")


def _jobset_sizes(m: Mismatch) -> bool:
    jobs = [job for found in m.of_kind("JobSet") for job in _dig(found, "spec", "replicatedJobs") or ()]
    has_completions = any(_dig(job, "template", "spec", "completions") is not None for job in jobs)
    has_none = any(job.get("replicas") == 0 for job in jobs)
    return (has_completions or has_none) and m.differs_only_at("minSubGroup", "spec.subGroups")


def _knative(m: Mismatch) -> bool:
    return bool(m.of_kind("Revision")) and m.differs_only_at(
        "spec.preemptibility", "spec.topologyConstraint", "spec.priorityClassName", "labels", "annotations"
    )


def _lws_size(m: Mismatch) -> bool:
    sizes = [_dig(found, "spec", "leaderWorkerTemplate", "size") for found in m.of_kind("LeaderWorkerSet")]
    said = m.said("leaderworkerset.sigs.k8s.io/size")
    return bool(sizes) and any(text != str(size) for text in said for size in sizes)


def _lws_segments(m: Mismatch) -> bool:
    return bool(m.of_kind("LeaderWorkerSet")) and m.is_refused_only_upstream


def _priority(m: Mismatch) -> bool:
    named = [*m.said("priorityClassName"), *(_dig(pod, "spec", "priorityClassName") for pod in m.pods)]
    return m.differs_only_at("spec.priorityClassName") and len({name for name in named if name}) > 1


def _own_policy(m: Mismatch) -> bool:
    policies = [_dig(found, "spec", "runPolicy", "schedulingPolicy") or {} for found in m.objects]
    return m.differs_only_at("spec.queue", "spec.priorityClassName") and any(
        policy.get("queue") or policy.get("priorityClass") for policy in policies
    )


def _over(m: Mismatch) -> bool:
    return any(
        _dig(pod, "status", "phase") in {"Succeeded", "Failed"} or _dig(pod, "metadata", "deletionTimestamp")
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
        group for found in m.of_kind("RayCluster") for group in _dig(found, "spec", "workerGroupSpecs") or ()
    ]
    return any(group.get("minReplicas") == 0 for group in groups) and m.differs_only_at("minMember")


def _numbers(m: Mismatch) -> bool:
    texts = [*m.said("kai.scheduler/segment-size"), *m.said("kai.scheduler/batch-min-member")]
    return m.is_refused_only_here and any(re.fullmatch(r"-\d+|0", text) for text in texts)


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
    references = [_dig(found, "metadata", "ownerReferences") or () for found in m.objects]
    return any(len(refs) > 1 and any(ref.get("controller") for ref in refs[1:]) for refs in references)


GROUPER_RULES = (
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
    Rule("queue of Grove", "the queue label on a PodCliqueSet becomes the queue of the gang", _grove_queue),
    Rule(
        "preemptibility values",
        "semi-preemptible is a value; an invalid one warns and refuses nobody",
        _preemptibility_values,
    ),
    Rule(
        "preemptibility order", "the top owner's label decides before those below it", _preemptibility_order
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
    Rule("size of an LWS group", "a group has the size it was made with while the set is resized", _lws_size),
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
    Rule("Kubeflow's own policy", "queue and priority in runPolicy.schedulingPolicy are read", _own_policy),
    Rule("pods that are over", "finished pods and pods being deleted get no new gang", _over),
    Rule(
        "replicas default to one",
        "a role that names no replicas has one, as its operator defaults it",
        _undefaulted_replicas,
    ),
    Rule("scale to zero", "minReplicas 0 means that no worker is required", _elastic_zero),
    Rule("numbers", "sizes below one and negative minimums are refused with the name of the field", _numbers),
    Rule("names", "groups get distinct DNS labels, so that the API server accepts the PodGroup", _names),
    Rule("nothing stale", "labels the owner no longer has and stale subgroup labels are removed", _pruned),
    Rule(
        "pods that disagree",
        "the first pod by name decides, whichever was seen last, with one warning",
        _disagreeing,
    ),
    Rule("runs of a CronJob", "batch-min-member works on them as on any other Job", _cron_minimum),
    Rule("controller first", "of several owners the controller is followed", _controller_owner),
)

# PodGroup and LeaderWorkerSet admission. Expected and got are lists of messages, or one joined message.


def _refuses_both_minimums(m: Mismatch) -> bool:
    """What upstream says beyond us is only that a `minMember` stands above children."""
    texts = ("are mutually exclusive", "minMember cannot be set on a mid-level SubGroup")
    (structure, minimums), (also, others) = m.expected, m.got
    left = [text for text in (*structure, *minimums) if not any(part in text for part in texts)]
    return left == [*also, *others]


def _leaves_no_room_for_pods(m: Mismatch) -> bool:
    return m.expected == "" and " its last pod would be named " in str(m.got)


def _leaves_rules_unchecked(m: Mismatch) -> bool:
    note = (
        ", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid;"
    )
    found, _, rest = str(m.got).partition(note)
    return bool(rest) and found.removeprefix("[") == str(m.expected).removeprefix("[").removesuffix("]")


def _prints_floats(m: Mismatch) -> bool:
    """Numbers such as 1.000001e+06 on one side, 1000001 on the other."""
    number = re.compile(r"\d+\.?\d*e\+\d+")
    return bool(number.sub(lambda found: str(int(float(found[0]))), m.expected) == m.got)


def _has_no_patch(m: Mismatch) -> bool:
    return m.got["ok"] is True and "patch" not in m.case["input"].get("role", {"patch": None})


def _is_instance_set(m: Mismatch) -> bool:
    return m.got["ok"] is True and _dig(m.case, "input", "role", "workloadKind") == "InstanceSet"


def _is_null_subdomain(m: Mismatch) -> bool:
    return m.got == "" and str(m.expected).endswith("cannot set subdomainPolicy as null")


def _runs_on_another_kind(m: Mismatch) -> bool:
    return bool(m.expected.get("kind") != "LeaderWorkerSet")


def _leader_has_number(m: Mismatch) -> bool:
    leader: str = m.got["name"]
    return bool(m.expected == {"name": f"{leader}-0"})


ADMISSION_RULES: dict[str, tuple[Rule, ...]] = {
    "podgroup_admission": (
        Rule(
            "both minimums",
            "minMember on a group with children counts the pods below it, beside minSubGroup too",
            _refuses_both_minimums,
        ),
    ),
    "lws_validation": (
        Rule(
            "room for pods",
            "a name is refused if the names of its pods would be no host names",
            _leaves_no_room_for_pods,
        ),
        Rule("no null policy", "null takes the default, so that it never gets here", _is_null_subdomain),
    ),
    "rbg_validate_role_templates": (
        Rule("no patch needed", "a template reference without a patch takes it as it is", _has_no_patch),
        Rule("one engine", "the same engine runs every role, so templates work for each", _is_instance_set),
    ),
    "lws_schema": (
        Rule(
            "rules in the schema",
            "our schema has rules of its own, and says so where it could not ask them",
            _leaves_rules_unchecked,
        ),
        Rule("whole numbers", "numbers are written out, as kube-apiserver 1.37 does", _prints_floats),
    ),
    "lws_crashes": (
        Rule(
            "no nulls",
            "a field that misses takes the default of the schema before it is read",
            lambda m: bool(m.expected == "refused"),
        ),
    ),
}

ROLE_RULES: dict[str, tuple[Rule, ...]] = {
    "rbg_workload_of_role": (
        Rule("one engine", "a role's instances are groups of a LeaderWorkerSet", _runs_on_another_kind),
    ),
    "rbg_validate_workload_types_switch_off": (
        Rule("no types", "no annotation chooses another engine, so none is refused", lambda m: m.got["ok"]),
    ),
    "rbg_pod_name": (Rule("names of leaders", "a leader is named after its instance", _leader_has_number),),
}

RULES: dict[str, tuple[Rule, ...]] = {"grouper": GROUPER_RULES, **ADMISSION_RULES, **ROLE_RULES}
