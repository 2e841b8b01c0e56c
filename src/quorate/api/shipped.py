"""The objects every installation needs beside the CustomResourceDefinitions: priorities, roles, the account.

`quorate manifests` prints them, `quorate up` creates them, and the embedded cluster evaluates the same roles.
"""

from quorate.api.meta import Json
from quorate.api.queue import QUEUE, UNLIMITED

NAMESPACE = "quorate-system"
ACCOUNT = "quorate"
DEFAULT_QUEUE = "default-queue"

_PRIORITIES = {
    "train": (50, "Training that may be interrupted and may go over quota."),
    "build-preemptible": (75, "Interactive work that may be interrupted."),
    "build": (100, "Interactive work, not interrupted."),
    "inference": (125, "Serving, not interrupted."),
}

_READ = ["get", "list", "watch"]
_OWN_GROUPS = [
    "scheduling.run.ai",
    "scheduling.kai.nvidia.com",
    "kai.scheduler",
    "scheduling.quorate.dev",
    "leaderworkerset.x-k8s.io",
    "workloads.x-k8s.io",
    "workloads.instai.io",
]
# Kinds the grouper follows owner references through.
_OWNER_GROUPS = [
    "batch",
    "apps",
    "amlarc.azureml.com",
    "argoproj.io",
    "egx.nvidia.io",
    "grove.io",
    "jobset.x-k8s.io",
    "kubeflow.org",
    "kubevirt.io",
    "machinelearning.seldon.io",
    "nvidia.com",
    "ray.io",
    "run.ai",
    "scheduler.grove.io",
    "serving.knative.dev",
    "serving.kserve.io",
    "sparkoperator.k8s.io",
    "tekton.dev",
    "trainer.kubeflow.org",
    "workspace.devfile.io",
]


def objects() -> list[Json]:
    """Everything, in the order in which it can be created."""
    return [_namespace(), _account(), *priority_classes(), *roles(), _default_queue()]


def _default_queue() -> Json:
    """Where gangs go that name no queue; without limits, so that the first pod of a new cluster runs."""
    share = {"quota": UNLIMITED, "limit": UNLIMITED, "overQuotaWeight": 1}
    return {
        "apiVersion": QUEUE.api_version,
        "kind": QUEUE.kind,
        "metadata": {"name": DEFAULT_QUEUE},
        "spec": {"resources": dict.fromkeys(("cpu", "memory", "gpu"), share)},
    }


def priority_classes() -> list[Json]:
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
        }
        for name, (value, description) in _PRIORITIES.items()
    ]


def roles() -> list[Json]:
    return [
        _role("quorate", _controller_rules()),
        _role(
            "quorate-view",
            [_rule(_OWN_GROUPS, ["*"], _READ)],
            aggregate=["view", "edit", "admin"],
        ),
        _role(
            "quorate-edit",
            [_rule(_OWN_GROUPS, ["*"], ["create", "update", "patch", "delete", "deletecollection"])],
            aggregate=["edit", "admin"],
        ),
        _binding("quorate"),
    ]


def _controller_rules() -> list[Json]:
    write = ["create", "update", "patch", "delete"]
    return [
        _rule([""], ["pods"], [*_READ, *write]),
        _rule([""], ["pods/binding", "pods/eviction"], ["create"]),
        _rule([""], ["pods/status"], ["patch", "update"]),
        _rule(
            [""],
            ["nodes", "namespaces", "persistentvolumes", "persistentvolumeclaims", "replicationcontrollers"],
            _READ,
        ),
        _rule([""], ["persistentvolumes"], ["patch"]),  # a volume made by hand names the claim that takes it
        _rule([""], ["persistentvolumeclaims", "services", "configmaps"], [*_READ, *write]),
        _rule(["", "events.k8s.io"], ["events"], ["create", "patch", "update"]),
        _rule(["apps"], ["controllerrevisions"], [*_READ, *write]),
        _rule(["policy"], ["poddisruptionbudgets"], [*_READ, *write]),
        _rule(["storage.k8s.io"], ["*"], _READ),
        _rule(["scheduling.k8s.io"], ["*"], _READ),
        _rule(["scheduling.k8s.io"], ["podgroups/status", "compositepodgroups/status"], ["patch", "update"]),
        _rule(["coordination.k8s.io"], ["leases"], [*_READ, *write]),
        _rule(["apiextensions.k8s.io"], ["customresourcedefinitions"], _READ),
        _rule(
            ["admissionregistration.k8s.io"],
            ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"],
            [*_READ, "patch"],
        ),
        _rule(_OWN_GROUPS, ["*"], [*_READ, *write]),
        _rule(_OWNER_GROUPS, ["*"], _READ),
    ]


def _rule(groups: list[str], resources: list[str], verbs: list[str]) -> Json:
    return {"apiGroups": groups, "resources": resources, "verbs": verbs}


def _role(name: str, rules: list[Json], *, aggregate: list[str] | None = None) -> Json:
    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    labels = {prefix + target: "true" for target in aggregate or []}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, **({"labels": labels} if labels else {})},
        "rules": rules,
    }


def _binding(name: str) -> Json:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
    }


def _namespace() -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}


def _account() -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": ACCOUNT, "namespace": NAMESPACE},
    }
