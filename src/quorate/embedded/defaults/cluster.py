"""Defaults of the kinds that describe the cluster: namespaces, nodes, priorities, bindings, webhooks."""

import base64

from quorate.api.meta import Json
from quorate.embedded.defaults.workloads import fill

_RBAC = "rbac.authorization.k8s.io"


def namespace(obj: Json) -> None:
    metadata = obj.setdefault("metadata", {})
    if metadata.get("name"):
        labels = metadata.get("labels") or {}
        metadata["labels"] = {**labels, "kubernetes.io/metadata.name": metadata["name"]}
    obj.setdefault("spec", {})
    status = obj.setdefault("status", {})
    status["phase"] = status.get("phase") or "Active"


def node(obj: Json) -> None:
    obj.setdefault("spec", {})
    status = obj.setdefault("status", {})
    if status.get("allocatable") is None and status.get("capacity") is not None:
        status["allocatable"] = dict(status["capacity"])


def secret(obj: Json) -> None:
    obj["type"] = obj.get("type") or "Opaque"
    # Plain texts are only written, never read back: they become data.
    for name, text in (obj.pop("stringData", None) or {}).items():
        obj.setdefault("data", {})[name] = base64.b64encode(text.encode()).decode()


def event(obj: Json) -> None:
    """A real server prints the times of an event even where there are none."""
    for field in ("eventTime", "firstTimestamp", "lastTimestamp"):
        obj.setdefault(field, None)


def priority_class(obj: Json) -> None:
    fill(obj, preemptionPolicy="PreemptLowerPriority")
    # Go's zero value is printed: value has no omitempty.
    fill(obj, value=0)


def role_binding(obj: Json) -> None:
    reference = obj.setdefault("roleRef", {})
    reference["apiGroup"] = reference.get("apiGroup") or _RBAC
    for subject in obj.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in {"User", "Group"}:
            subject["apiGroup"] = _RBAC


def mutating_webhooks(obj: Json) -> None:
    for webhook in obj.get("webhooks") or ():
        _webhook(webhook)
        fill(webhook, reinvocationPolicy="Never")


def validating_webhooks(obj: Json) -> None:
    for webhook in obj.get("webhooks") or ():
        _webhook(webhook)


def _webhook(webhook: Json) -> None:
    fill(webhook, failurePolicy="Fail", matchPolicy="Equivalent", timeoutSeconds=10)
    fill(webhook, namespaceSelector={}, objectSelector={})
    service = (webhook.get("clientConfig") or {}).get("service")
    if service is not None:
        fill(service, port=443)
    for rule in webhook.get("rules") or ():
        fill(rule, scope="*")


def custom_resource_definition(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    names = spec.setdefault("names", {})
    if not names.get("singular"):
        names["singular"] = names.get("kind", "").lower()
    if not names.get("listKind") and names.get("kind"):
        names["listKind"] = f"{names['kind']}List"
    conversion = spec.get("conversion")
    if not conversion:
        spec["conversion"] = {"strategy": "None"}
    elif (conversion.get("webhook") or {}).get("clientConfig", {}).get("service") is not None:
        fill(conversion["webhook"]["clientConfig"]["service"], port=443)
