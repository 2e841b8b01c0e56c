"""What a kube-apiserver fills in before it stores an object, one function per kind in one literal table.

`default` completes the spec of every decoded object, on create and update alike; `prepare_create` sets the
fields a new object starts with. The API server calls both on a tree that nobody else holds, after its types
were checked.
"""

from collections.abc import Callable

from quorate.api.meta import Json
from quorate.embedded.defaults import autoscaling, cluster, creation, services, storage, workloads
from quorate.embedded.defaults.pods import pod, template_object

_DEFAULTS: dict[tuple[str, str], Callable[[Json], None]] = {
    ("", "Pod"): pod,
    ("", "PodTemplate"): template_object,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "Service"): services.service,
    ("", "Endpoints"): services.endpoints,
    ("", "Namespace"): cluster.namespace,
    ("", "Node"): cluster.node,
    ("", "Secret"): cluster.secret,
    ("", "Event"): cluster.event,
    ("", "PersistentVolume"): storage.persistent_volume,
    ("", "PersistentVolumeClaim"): storage.persistent_volume_claim,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("batch", "Job"): workloads.job,
    ("batch", "CronJob"): workloads.cron_job,
    ("autoscaling", "HorizontalPodAutoscaler"): autoscaling.horizontal_pod_autoscaler,
    ("storage.k8s.io", "StorageClass"): storage.storage_class,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class,
    ("discovery.k8s.io", "EndpointSlice"): services.endpoint_slice,
    ("networking.k8s.io", "NetworkPolicy"): services.network_policy,
    ("rbac.authorization.k8s.io", "RoleBinding"): cluster.role_binding,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): cluster.role_binding,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): cluster.mutating_webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): cluster.validating_webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): cluster.custom_resource_definition,
}


def default(group: str, kind: str, obj: Json) -> Json:
    """Complete the object in place; kinds without defaults come back as they are."""
    complete = _DEFAULTS.get((group, kind))
    if complete is not None:
        complete(obj)
    return obj


prepare_create = creation.prepare_create
