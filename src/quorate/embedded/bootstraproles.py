"""The roles and bindings that every cluster starts with; the API server stores those that are missing.

The user-facing roles aggregate, so that a role labelled for `edit` or `view` widens them.
"""

from collections.abc import Sequence

from quorate.api.meta import Json

_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "deletecollection", "patch", "update")
_AGGREGATE = f"{_RBAC}/aggregate-to-"

_PROXIED = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy")
_WRITABLE: dict[str, tuple[str, ...]] = {
    "": (
        "configmaps",
        "events",
        "persistentvolumeclaims",
        "pods",
        *_PROXIED,
        "replicationcontrollers",
        "replicationcontrollers/scale",
        "secrets",
        "serviceaccounts",
        "services",
        "services/proxy",
    ),
    "apps": (
        "daemonsets",
        "deployments",
        "deployments/rollback",
        "deployments/scale",
        "replicasets",
        "replicasets/scale",
        "statefulsets",
        "statefulsets/scale",
    ),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "events.k8s.io": ("events",),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
}
_READABLE: dict[str, tuple[str, ...]] = {
    "": (
        "bindings",
        "configmaps",
        "endpoints",
        "events",
        "limitranges",
        "namespaces",
        "namespaces/status",
        "persistentvolumeclaims",
        "persistentvolumeclaims/status",
        "pods",
        "pods/log",
        "pods/status",
        "replicationcontrollers",
        "replicationcontrollers/scale",
        "replicationcontrollers/status",
        "resourcequotas",
        "resourcequotas/status",
        "serviceaccounts",
        "services",
        "services/status",
    ),
    "apps": (
        "controllerrevisions",
        "daemonsets",
        "daemonsets/status",
        *(
            f"{plural}{tail}"
            for plural in ("deployments", "replicasets", "statefulsets")
            for tail in ("", "/scale", "/status")
        ),
    ),
    "autoscaling": ("horizontalpodautoscalers", "horizontalpodautoscalers/status"),
    "batch": ("cronjobs", "cronjobs/status", "jobs", "jobs/status"),
    "discovery.k8s.io": ("endpointslices",),
    "events.k8s.io": ("events",),
    "networking.k8s.io": ("ingresses", "ingresses/status", "networkpolicies"),
    "policy": ("poddisruptionbudgets", "poddisruptionbudgets/status"),
}
_DISCOVERY = ("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*")
_HEALTH = ("/healthz", "/livez", "/readyz", "/version", "/version/")


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> Json:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _urls(*urls: str) -> Json:
    return {"nonResourceURLs": list(urls), "verbs": ["get"]}


_EDIT = [
    *(_rule(group, resources, _WRITE) for group, resources in _WRITABLE.items()),
    _rule("", (*_PROXIED, "secrets", "services/proxy"), _READ),
    _rule("", ("pods/eviction", "serviceaccounts/token"), ("create",)),
    _rule("", ("serviceaccounts",), ("impersonate",)),
    _rule("coordination.k8s.io", ("leases",), (*_READ, *_WRITE)),
]
_ADMIN = [
    _rule("authorization.k8s.io", ("localsubjectaccessreviews",), ("create",)),
    _rule(_RBAC, ("rolebindings", "roles"), (*_READ, *_WRITE)),
]
_VIEW = [_rule(group, resources, _READ) for group, resources in _READABLE.items()]
_RULES: dict[str, list[Json]] = {
    "cluster-admin": [_rule("*", ("*",), ("*",)), {"nonResourceURLs": ["*"], "verbs": ["*"]}],
    "system:discovery": [_urls(*_DISCOVERY, *_HEALTH)],
    "system:public-info-viewer": [_urls(*_HEALTH)],
    "system:basic-user": [
        _rule("authorization.k8s.io", ("selfsubjectaccessreviews", "selfsubjectrulesreviews"), ("create",)),
        _rule("authentication.k8s.io", ("selfsubjectreviews",), ("create",)),
    ],
    "system:auth-delegator": [
        _rule("authentication.k8s.io", ("tokenreviews",), ("create",)),
        _rule("authorization.k8s.io", ("subjectaccessreviews",), ("create",)),
    ],
    "system:aggregate-to-admin": _ADMIN,
    "system:aggregate-to-edit": _EDIT,
    "system:aggregate-to-view": _VIEW,
}
# Which wider role each role flows into.
_FLOWS = {
    "system:aggregate-to-admin": "admin",
    "system:aggregate-to-edit": "edit",
    "system:aggregate-to-view": "view",
    "edit": "admin",
    "view": "edit",
}
_BOUND = {
    "cluster-admin": ("system:masters",),
    "system:discovery": ("system:authenticated",),
    "system:basic-user": ("system:authenticated",),
    "system:public-info-viewer": ("system:authenticated", "system:unauthenticated"),
}


def cluster_roles() -> list[Json]:
    plain = [_cluster_role(name, {"rules": rules}) for name, rules in _RULES.items()]
    return [*plain, *(_cluster_role(name, _aggregation(name)) for name in ("admin", "edit", "view"))]


def cluster_role_bindings() -> list[Json]:
    return [_binding(name, groups) for name, groups in _BOUND.items()]


def _aggregation(name: str) -> Json:
    selector = {"matchLabels": {f"{_AGGREGATE}{name}": "true"}}
    return {"aggregationRule": {"clusterRoleSelectors": [selector]}, "rules": _flowing_into(name)}


def _flowing_into(name: str) -> list[Json]:
    """The rules to show from the start; what holds is what aggregates at the moment of a request."""
    sources = [source for source, target in _FLOWS.items() if target == name]
    return [rule for source in sources for rule in _RULES.get(source) or _flowing_into(source)]


def _metadata(name: str) -> Json:
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    if name in _FLOWS:
        labels[f"{_AGGREGATE}{_FLOWS[name]}"] = "true"
    return {
        "name": name,
        "labels": labels,
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }


def _cluster_role(name: str, rest: Json) -> Json:
    return {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": _metadata(name), **rest}


def _binding(name: str, groups: Sequence[str]) -> Json:
    metadata = _metadata(name)
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group} for group in groups],
    }
