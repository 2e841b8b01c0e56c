"""What a new cluster holds before anybody writes: namespaces, priority classes, a storage class, roles."""

from collections.abc import Iterable

from quorate.api.meta import Json, Kind
from quorate.embedded.bootstraproles import cluster_role_bindings, cluster_roles
from quorate.embedded.builtins.writer import Writer
from quorate.workloads.builtin import kinds

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
PROVISIONER = "quorate.dev/fake"
_RBAC = "rbac.authorization.k8s.io"
_CLUSTER_ROLE = Kind(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False)
_CLUSTER_ROLE_BINDING = Kind(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
# for claims that name no class
STORAGE_CLASS: Json = {
    "metadata": {"name": "standard", "annotations": {_DEFAULT_CLASS: "true"}},
    "provisioner": PROVISIONER,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "WaitForFirstConsumer",
}


async def bootstrap(writer: Writer, nodes: Iterable[Json] = ()) -> None:
    """Create what is missing; a cluster that has it all is left as it is."""
    for kind, body in _objects():
        await writer.ensure(kind, body)
    for node in nodes:
        await writer.ensure(kinds.NODE, node)


def _objects() -> Iterable[tuple[Kind, Json]]:
    for name in NAMESPACES:
        yield kinds.NAMESPACE, {"metadata": {"name": name}}
    yield kinds.PRIORITY_CLASS, _priority("system-node-critical", 2_000_001_000)
    yield kinds.PRIORITY_CLASS, _priority("system-cluster-critical", 2_000_000_000)
    yield kinds.STORAGE_CLASS, STORAGE_CLASS
    for role in cluster_roles():
        yield _CLUSTER_ROLE, role
    for binding in cluster_role_bindings():
        yield _CLUSTER_ROLE_BINDING, binding


def _priority(name: str, value: int) -> Json:
    where = (
        "must not be moved from their current node."
        if "node" in name
        else "must run in the cluster, but can be moved to another node if necessary."
    )
    return {
        "metadata": {"name": name},
        "value": value,
        "description": f"Used for system critical pods that {where}",
    }
