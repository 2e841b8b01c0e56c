"""Rules of roles, role bindings and webhook configurations."""

from quorate.api.meta import Json
from quorate.embedded import cel
from quorate.embedded.causes import Cause, duplicate, invalid, not_supported, required
from quorate.embedded.validation import names
from quorate.embedded.validation.labelselectors import label_selector

# What the match conditions of a webhook may speak of.
CONDITION_VARIABLES = frozenset(("object", "oldObject", "request", "authorizer"))
_RBAC = "rbac.authorization.k8s.io"
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_FAILURE_POLICIES = ("Fail", "Ignore")
_MATCH_POLICIES = ("Equivalent", "Exact")
_SIDE_EFFECTS = ("None", "NoneOnDryRun")


def role(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    for index, rule in enumerate(obj.get("rules") or ()):
        path = f"rules[{index}]"
        if not rule.get("verbs"):
            found.append(required(f"{path}.verbs", "verbs must contain at least one value"))
        urls = rule.get("nonResourceURLs")
        if urls:
            _urls(found, rule, path, namespaced=obj.get("kind") == "Role")
            continue
        if not rule.get("apiGroups"):
            found.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
        if not rule.get("resources"):
            found.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
    aggregation = obj.get("aggregationRule")
    if aggregation is not None and not aggregation.get("clusterRoleSelectors"):
        detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        found.append(required("aggregationRule.clusterRoleSelectors", detail))
    return found


def _urls(found: list[Cause], rule: Json, path: str, *, namespaced: bool) -> None:
    where = f"{path}.nonResourceURLs"
    if namespaced:
        detail = "namespaced rules cannot apply to non-resource URLs"
        found.append(invalid(where, rule["nonResourceURLs"], detail))
    if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
        detail = "rules cannot apply to both regular resources and non-resource URLs"
        found.append(invalid(where, rule["nonResourceURLs"], detail))


def role_binding(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    namespaced = obj.get("kind") == "RoleBinding"
    reference = obj["roleRef"]
    if reference["apiGroup"] != _RBAC:
        found.append(not_supported("roleRef.apiGroup", reference["apiGroup"], (_RBAC,)))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if reference.get("kind") not in kinds:
        found.append(not_supported("roleRef.kind", reference.get("kind", ""), kinds))
    if not reference.get("name"):
        found.append(required("roleRef.name"))
    else:
        messages = names.path_segment(reference["name"])
        found += [invalid("roleRef.name", reference["name"], message) for message in messages]
    for index, subject in enumerate(obj.get("subjects") or ()):
        _subject(found, subject, f"subjects[{index}]", namespaced=namespaced)
    return found


def _subject(found: list[Cause], subject: Json, path: str, *, namespaced: bool) -> None:
    kind, name, group = subject.get("kind", ""), subject.get("name", ""), subject.get("apiGroup", "")
    if not name:
        found.append(required(f"{path}.name"))
    if kind == "ServiceAccount":
        if name:
            found += [invalid(f"{path}.name", name, message) for message in names.dns_subdomain(name)]
        if group:
            found.append(not_supported(f"{path}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            found.append(required(f"{path}.namespace"))
    elif kind in {"User", "Group"}:
        if group != _RBAC:
            found.append(not_supported(f"{path}.apiGroup", group, (_RBAC,)))
    else:
        found.append(not_supported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group")))


def role_binding_update(new: Json, old: Json) -> list[Cause]:
    if new["roleRef"] == old["roleRef"]:
        return []
    # Shown as Go shows it, by the names of its own fields.
    shown = {"APIGroup": new["roleRef"]["apiGroup"], "Kind": new["roleRef"].get("kind", "")}
    return [invalid("roleRef", {**shown, "Name": new["roleRef"].get("name", "")}, "cannot change roleRef")]


def webhooks(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    taken: set[str] = set()
    for index, webhook in enumerate(obj.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        name = webhook.get("name", "")
        found += _webhook(webhook, path)
        if name in taken:
            found.append(duplicate(f"{path}.name", name))
        taken.add(name)
    return found


def _webhook(webhook: Json, path: str) -> list[Cause]:
    found: list[Cause] = []
    name = webhook.get("name", "")
    found += [invalid(f"{path}.name", name, message) for message in names.dns_subdomain(name)]
    if name.count(".") < 2:
        detail = "should be a domain with at least three segments separated by dots"
        found.append(invalid(f"{path}.name", name, detail))
    for index, rule in enumerate(webhook.get("rules") or ()):
        _rule(found, rule, f"{path}.rules[{index}]")
    _policies(found, webhook, path)
    if not 1 <= webhook["timeoutSeconds"] <= 30:
        detail = "the timeout value must be between 1 and 30 seconds"
        found.append(invalid(f"{path}.timeoutSeconds", webhook["timeoutSeconds"], detail))
    for field in ("namespaceSelector", "objectSelector"):
        found += label_selector(webhook.get(field), f"{path}.{field}")
    _client(found, webhook.get("clientConfig") or {}, f"{path}.clientConfig")
    for index, condition in enumerate(webhook.get("matchConditions") or ()):
        _condition(found, condition, f"{path}.matchConditions[{index}]")
    _versions(found, webhook.get("admissionReviewVersions"), f"{path}.admissionReviewVersions")
    return found


def _policies(found: list[Cause], webhook: Json, path: str) -> None:
    for field, supported in (("failurePolicy", _FAILURE_POLICIES), ("matchPolicy", _MATCH_POLICIES)):
        if webhook[field] not in supported:
            found.append(not_supported(f"{path}.{field}", webhook[field], supported))
    effects = webhook.get("sideEffects")
    if effects is None:
        found.append(required(f"{path}.sideEffects", f"must specify one of {', '.join(_SIDE_EFFECTS)}"))
    elif effects not in _SIDE_EFFECTS:
        found.append(not_supported(f"{path}.sideEffects", effects, _SIDE_EFFECTS))


def _versions(found: list[Cause], versions: list[str] | None, path: str) -> None:
    if not versions:
        found.append(required(path, "must specify one of v1, v1beta1"))
    elif not {"v1", "v1beta1"} & set(versions):
        found.append(invalid(path, versions, "must include at least one of v1, v1beta1"))


def _condition(found: list[Cause], condition: Json, path: str) -> None:
    if not condition.get("name"):
        found.append(required(f"{path}.name"))
    source = condition.get("expression") or ""
    if not source.strip():
        found.append(required(f"{path}.expression"))
        return
    try:
        cel.compiled(source, CONDITION_VARIABLES)
    except cel.CompileError as error:
        found.append(invalid(f"{path}.expression", source, str(error)))


def _client(found: list[Cause], client: Json, path: str) -> None:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        found.append(required(path, "exactly one of url or service is required"))
    elif url is not None and not url.startswith("https://"):
        detail = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        found.append(invalid(f"{path}.url", url.partition(":")[0], detail))
    elif service is not None:
        found += [
            required(f"{path}.service.{field}") for field in ("name", "namespace") if not service.get(field)
        ]


def _rule(found: list[Cause], rule: Json, path: str) -> None:
    operations = rule.get("operations") or []
    if not operations:
        found.append(required(f"{path}.operations"))
    elif len(operations) > 1 and "*" in operations:
        detail = "if '*' is present, must not specify other operations"
        found.append(invalid(f"{path}.operations", operations, detail))
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            found.append(not_supported(f"{path}.operations[{index}]", operation, _OPERATIONS))
    found += [
        required(f"{path}.{one}") for one in ("apiGroups", "apiVersions", "resources") if not rule.get(one)
    ]
    if rule["scope"] not in _SCOPES:
        found.append(not_supported(f"{path}.scope", rule["scope"], _SCOPES))
