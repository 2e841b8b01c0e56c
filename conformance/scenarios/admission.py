"""RBAC objects and other kinds that a server checks before it stores them."""

from conformance.scenarios.step import Json, delete, get, post, put, scenario

RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}"
ROLE: Json = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "reader"},
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
}
ROLE_BINDING: Json = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "reader"},
    "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "{ns}"}],
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
}
OTHER = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "other"}

SCENARIOS = (
    scenario(
        "roles",
        post(f"{RBAC}/roles", ROLE),
        post(f"{RBAC}/rolebindings", ROLE_BINDING),
        get(f"{RBAC}/rolebindings/reader"),
        put(f"{RBAC}/rolebindings/reader", ROLE_BINDING | {"roleRef": OTHER}),
        post(f"{RBAC}/roles", ROLE | {"metadata": {"name": "empty"}, "rules": [{"verbs": []}]}),
        delete(f"{RBAC}/roles/reader"),
    ),
)
