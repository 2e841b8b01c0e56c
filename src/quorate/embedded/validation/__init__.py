"""What a kube-apiserver refuses to store, one function per kind in two literal tables.

Runs after defaulting and admission on objects whose types were checked; the API server turns the causes into
one 422. Custom kinds get the metadata rules here and their schema's rules elsewhere.
"""

from collections.abc import Callable

from quorate.api.meta import Json
from quorate.embedded.causes import Cause
from quorate.embedded.validation import access, cluster, jobs, names, pods, services, workloads
from quorate.embedded.validation.metadata import Rule, bare_finalizers, metadata, metadata_update

_RBAC = "rbac.authorization.k8s.io"
_HOOKS = "admissionregistration.k8s.io"

_NAME_RULES: dict[tuple[str, str], Rule] = {
    ("", "Namespace"): names.dns_label,
    ("", "Service"): names.dns_label,
    (_RBAC, "Role"): names.path_segment,
    (_RBAC, "ClusterRole"): names.path_segment,
    (_RBAC, "RoleBinding"): names.path_segment,
    (_RBAC, "ClusterRoleBinding"): names.path_segment,
}
_RULES: dict[tuple[str, str], Callable[[Json], list[Cause]]] = {
    ("", "Pod"): pods.pod,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "Service"): services.service,
    ("", "Node"): cluster.node,
    ("", "Namespace"): cluster.namespace,
    ("", "ConfigMap"): cluster.config_map,
    ("", "Secret"): cluster.secret,
    ("", "PersistentVolumeClaim"): cluster.persistent_volume_claim,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("batch", "Job"): jobs.job,
    ("batch", "CronJob"): jobs.cron_job,
    ("policy", "PodDisruptionBudget"): cluster.pod_disruption_budget,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class,
    (_RBAC, "Role"): access.role,
    (_RBAC, "ClusterRole"): access.role,
    (_RBAC, "RoleBinding"): access.role_binding,
    (_RBAC, "ClusterRoleBinding"): access.role_binding,
    (_HOOKS, "MutatingWebhookConfiguration"): access.webhooks,
    (_HOOKS, "ValidatingWebhookConfiguration"): access.webhooks,
}
_UPDATE_RULES: dict[tuple[str, str], Callable[[Json, Json], list[Cause]]] = {
    ("", "Pod"): pods.pod_update,
    ("", "Service"): services.service_update,
    ("", "Node"): cluster.node_update,
    ("", "ConfigMap"): cluster.frozen_update,
    ("", "Secret"): cluster.frozen_update,
    ("", "PersistentVolumeClaim"): cluster.persistent_volume_claim_update,
    ("apps", "Deployment"): workloads.selector_update,
    ("apps", "ReplicaSet"): workloads.selector_update,
    ("apps", "DaemonSet"): workloads.selector_update,
    ("apps", "StatefulSet"): workloads.stateful_set_update,
    ("batch", "Job"): jobs.job_update,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class_update,
    (_RBAC, "RoleBinding"): access.role_binding_update,
    (_RBAC, "ClusterRoleBinding"): access.role_binding_update,
}


def validate_create(group: str, kind: str, obj: Json, *, namespaced: bool = True) -> list[Cause]:
    """Why the new object may not be stored; empty if it may."""
    which = (group, kind)
    found = metadata(obj["metadata"], _NAME_RULES.get(which, names.dns_subdomain), namespaced=namespaced)
    rules = _RULES.get(which)
    if rules is None:
        return found
    return found + bare_finalizers(obj["metadata"]) + rules(obj)


def validate_update(group: str, kind: str, new: Json, old: Json) -> list[Cause]:
    """Why `new` may not replace `old`."""
    which = (group, kind)
    found = metadata_update(new["metadata"], old["metadata"])
    rules = _RULES.get(which)
    if rules is not None:
        found += bare_finalizers(new["metadata"]) + rules(new)
    update_rules = _UPDATE_RULES.get(which)
    return found + update_rules(new, old) if update_rules is not None else found


def validate_status(new: Json, old: Json) -> list[Cause]:
    """Why the status of `new` may not replace that of `old`; the spec is not looked at."""
    return metadata_update(new["metadata"], old["metadata"])
