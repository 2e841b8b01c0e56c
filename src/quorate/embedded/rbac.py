"""Who may do what: roles and bindings from the store, compiled so that a request costs one look-up.

1. Members of `system:masters` may do everything, whatever the objects say.
2. Access is the union of what all bindings of the user and the user's groups grant; nothing takes away.
3. A role that aggregates others grants what the cluster roles with matching labels grant at that moment.

The HTTP layer asks `Authorizer.check` before each request; `accessreviews.py` answers questions about access.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.causes import quoted
from quorate.embedded.errors import ApiError
from quorate.embedded.options import User
from quorate.embedded.store import Event, Store
from quorate.embedded.validation.labelselectors import selects

GROUP = "rbac.authorization.k8s.io"
MASTERS = "system:masters"
_ROLES = frozenset(("roles", "clusterroles"))
_BINDINGS = frozenset(("rolebindings", "clusterrolebindings"))
_CACHE_LIMIT = 50_000


class Attributes(NamedTuple):
    """What a request asks for: a verb on a resource, or with `path` on a URL that is none."""

    user: User
    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    path: str = ""

    def __str__(self) -> str:
        who = f"User {quoted(self.user.name)} cannot {self.verb}"
        if self.path:
            return f"{who} path {quoted(self.path)}"
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        where = f"in the namespace {quoted(self.namespace)}" if self.namespace else "at the cluster scope"
        return f"{who} resource {quoted(resource)} in API group {quoted(self.group)} {where}"


class Decision(NamedTuple):
    allowed: bool
    reason: str = ""


class _Rule(NamedTuple):
    verbs: frozenset[str]
    groups: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str]
    urls: frozenset[str]
    source: Json

    def covers(self, attributes: Attributes) -> bool:
        """Whether the rule grants the request, object names aside."""
        if not self.verbs & {"*", attributes.verb}:
            return False
        if attributes.path:
            return any(_url_matches(url, attributes.path) for url in self.urls)
        wanted = {"*", attributes.resource}
        if attributes.subresource:
            wanted = {"*", f"{attributes.resource}/{attributes.subresource}", f"*/{attributes.subresource}"}
        return bool(self.groups & {"*", attributes.group}) and bool(self.resources & wanted)


class _Grant(NamedTuple):
    """One binding seen from one of its subjects."""

    namespace: str
    role: tuple[str, str, str]
    reason: str


class _Refused(NamedTuple):
    group: str
    kind: str
    plural: str


class Authorizer:
    """Follows the RBAC objects of a store."""

    def __init__(self, store: Store) -> None:
        self._objects: dict[tuple[str, str, str], Json] = {}
        self._grants: dict[str, list[_Grant]] | None = None
        self._rules: dict[tuple[str, str, str], tuple[_Rule, ...]] = {}
        # The decision on each kind of request of each user, and the names it may be made for if denied.
        self._cache: dict[tuple[object, ...], tuple[Decision, dict[str, str]]] = {}
        for plural in _ROLES | _BINDINGS:
            for obj in store.list(GROUP, plural):
                self.put(plural, obj)
        store.on_event(self._observe)

    def _observe(self, event: Event) -> None:
        key = event.key
        if key.group != GROUP:
            return
        if event.type == "DELETED":
            self.remove(key.plural, key.namespace, key.name)
        else:
            self.put(key.plural, event.object)

    def put(self, plural: str, obj: Json) -> None:
        metadata = obj["metadata"]
        self._objects[plural, metadata.get("namespace", ""), metadata["name"]] = obj
        self._forget()

    def remove(self, plural: str, namespace: str, name: str) -> None:
        self._objects.pop((plural, namespace, name), None)
        self._forget()

    def _forget(self) -> None:
        self._grants = None
        self._rules.clear()
        self._cache.clear()

    def check(self, attributes: Attributes) -> None:
        """Raise the 403 of a request that is not allowed."""
        if self.decide(attributes).allowed:
            return
        raise refusal(attributes)

    def decide(self, attributes: Attributes) -> Decision:
        if MASTERS in attributes.user.groups:
            return Decision(allowed=True)
        user, verb, group, resource, subresource, _, namespace, path = attributes
        key = (user.name, user.groups, verb, group, resource, subresource, namespace, path)
        known = self._cache.get(key)
        if known is None:
            if len(self._cache) > _CACHE_LIMIT:
                self._cache.clear()
            known = self._cache[key] = self._judge(attributes)
        decision, names = known
        if not decision.allowed and attributes.name in names:
            return Decision(allowed=True, reason=names[attributes.name])
        return decision

    def _judge(self, attributes: Attributes) -> tuple[Decision, dict[str, str]]:
        names: dict[str, str] = {}
        for grant in self._granted(attributes.user, attributes.namespace):
            for rule in self._role_rules(grant.role):
                if not rule.covers(attributes):
                    continue
                if not rule.names or attributes.path:
                    return Decision(allowed=True, reason=grant.reason), {}
                names |= dict.fromkeys(rule.names, grant.reason)
        return Decision(allowed=False), names

    def rules_for(self, user: User, namespace: str) -> Iterator[Json]:
        """The rules that hold for a user in a namespace, cluster-wide ones included."""
        for grant in self._granted(user, namespace):
            for rule in self._role_rules(grant.role):
                yield rule.source

    def _granted(self, user: User, namespace: str) -> Iterator[_Grant]:
        if self._grants is None:
            self._grants = self._compile_bindings()
        for subject in (f"User {user.name}", *(f"Group {group}" for group in user.groups)):
            for grant in self._grants.get(subject, ()):
                if not grant.namespace or grant.namespace == namespace:
                    yield grant

    def _compile_bindings(self) -> dict[str, list[_Grant]]:
        grants: dict[str, list[_Grant]] = {}
        # Cluster-wide bindings first, so that the reason given is the broadest one.
        for (plural, namespace, name), obj in sorted(self._objects.items(), key=lambda item: item[0]):
            if plural not in _BINDINGS:
                continue
            reference = obj["roleRef"]
            role = (
                ("roles", namespace, reference["name"])
                if reference["kind"] == "Role"
                else ("clusterroles", "", reference["name"])
            )
            binding = f"ClusterRoleBinding {quoted(name)}"
            if namespace:
                binding = f"RoleBinding {quoted(f'{name}/{namespace}')}"
            of_role = f"{reference['kind']} {quoted(reference['name'])}"
            for subject in obj.get("subjects") or ():
                reason = f"RBAC: allowed by {binding} of {of_role} to {_described(subject)}"
                grant = _Grant(namespace, role, reason)
                grants.setdefault(_subject_key(subject, namespace), []).append(grant)
        return grants

    def _role_rules(self, role: tuple[str, str, str]) -> tuple[_Rule, ...]:
        rules = self._rules.get(role)
        if rules is None:
            rules = self._rules[role] = tuple(map(_compiled, self._rules_of(role, frozenset())))
        return rules

    def _rules_of(self, role: tuple[str, str, str], seen: frozenset[tuple[str, str, str]]) -> Iterable[Json]:
        obj = self._objects.get(role)
        if obj is None or role in seen:
            return
        aggregation = obj.get("aggregationRule")
        if aggregation is None:
            yield from obj.get("rules") or ()
            return
        selectors = aggregation.get("clusterRoleSelectors") or ()
        for key, other in self._objects.items():
            labels = other["metadata"].get("labels") or {}
            if key[0] == "clusterroles" and any(selects(selector, labels) for selector in selectors):
                yield from self._rules_of(key, seen | {role})


def refusal(attributes: Attributes) -> ApiError:
    """The 403 with the words of a kube-apiserver."""
    if attributes.path:
        return errors.forbidden_path(str(attributes))
    resource = _Refused(attributes.group, "", attributes.resource)
    return errors.forbidden(resource, attributes.name, str(attributes))


def _compiled(rule: Json) -> _Rule:
    fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    verbs, groups, resources, names, urls = (frozenset(rule.get(field) or ()) for field in fields)
    return _Rule(verbs, groups, resources, names, urls, rule)


def _url_matches(pattern: str, path: str) -> bool:
    if pattern.endswith("*"):
        return path.startswith(pattern[:-1])
    return pattern == path


def _subject_key(subject: Json, namespace: str) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"User system:serviceaccount:{subject.get('namespace') or namespace}:{subject['name']}"
    return f"{subject['kind']} {subject['name']}"


def _described(subject: Json) -> str:
    if subject["kind"] == "ServiceAccount":
        account = f"{subject['name']}/{subject.get('namespace', '')}"
        return f"ServiceAccount {quoted(account)}"
    return f"{subject['kind']} {quoted(subject['name'])}"
