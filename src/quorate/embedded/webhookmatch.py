"""Which webhooks a request concerns: the configurations of the store, compiled and indexed by kind of request.

`Hooks.matching` answers from a dictionary; selectors and conditions are looked at only for what remains.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from quorate.api.meta import Json
from quorate.embedded import cel, errors
from quorate.embedded.admissionrequest import Request
from quorate.embedded.registry import Registry, Resource
from quorate.embedded.selectors import Requirement
from quorate.embedded.store import Event, Key, Store
from quorate.embedded.validation.access import CONDITION_VARIABLES
from quorate.embedded.validation.labelselectors import requirements

GROUP = "admissionregistration.k8s.io"
Phase = Literal["mutating", "validating"]


@dataclass(frozen=True, slots=True)
class Rule:
    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str

    def covers(self, operation: str, resource: Resource, subresource: str) -> bool:
        """Whether the rule is for such requests, the version aside."""
        scopes = {"*", "Namespaced" if resource.namespaced else "Cluster"}
        return (
            bool(self.operations & {"*", operation})
            and bool(self.groups & {"*", resource.group})
            and self.scope in scopes
            and any(
                plural in {"*", resource.plural} and below in {"*", subresource}
                for plural, below in self.resources
            )
        )


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook of one configuration."""

    configuration: str
    name: str
    rules: tuple[Rule, ...]
    equivalent: bool
    namespaces: tuple[Requirement, ...]
    objects: tuple[Requirement, ...]
    conditions: tuple[Json, ...]
    fails_open: bool
    reinvoked: bool
    side_effects: str
    timeout_seconds: int
    client: Json


@dataclass(frozen=True, slots=True)
class Match:
    """A webhook that concerns a kind of request, and the version in which it wants to see the object."""

    hook: Hook
    version: str


class Hooks:
    """The webhooks of one phase."""

    def __init__(self, store: Store, registry: Registry, phase: Phase) -> None:
        self._store = store
        self._registry = registry
        self._plural = f"{phase}webhookconfigurations"
        self._hooks: tuple[Hook, ...] | None = None
        self._index: dict[tuple[str, Resource, str], tuple[Match, ...]] = {}
        store.on_event(self._observe)
        registry.on_change(self._index.clear)

    def _observe(self, event: Event) -> None:
        if event.key.plural == self._plural and event.key.group == GROUP:
            self._hooks = None
            self._index.clear()

    def matching(self, request: Request) -> tuple[Match, ...]:
        """The webhooks for such requests, in order; whether they want this one, `wants` tells."""
        key = (request.operation, request.resource, request.subresource)
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = tuple(self._search(*key))
        return found

    def _search(self, operation: str, resource: Resource, subresource: str) -> Iterator[Match]:
        # Webhooks cannot stand in the way of repairing webhooks.
        if resource.group == GROUP:
            return
        if self._hooks is None:
            self._hooks = tuple(_compiled(self._store.list(GROUP, self._plural)))
        versions = [one.version for one in self._registry.resources() if _is_same(one, resource)]
        for hook in self._hooks:
            rules = [rule for rule in hook.rules if rule.covers(operation, resource, subresource)]
            offered = [resource.version, *versions] if hook.equivalent else [resource.version]
            version = next((one for one in offered for rule in rules if rule.versions & {"*", one}), None)
            if version is not None:
                yield Match(hook, version)

    def wants(self, hook: Hook, request: Request, asked: Json) -> bool:
        """Whether the webhook's selectors and conditions pick this request; `asked` is its review's request."""
        if hook.namespaces and not self._namespace_matches(hook, request):
            return False
        if hook.objects and not any(_labels_match(hook.objects, one) for one in (request.obj, request.old)):
            return False
        return not hook.conditions or _conditions_hold(hook, request, asked)

    def _namespace_matches(self, hook: Hook, request: Request) -> bool:
        if request.resource.kind == "Namespace" and not request.resource.group:
            namespace = request.obj or request.old
        elif not request.namespace:
            return True
        else:
            namespace = self._store.get(Key("", "namespaces", "", request.namespace))
        return namespace is not None and _labels_match(hook.namespaces, namespace)


def _is_same(one: Resource, resource: Resource) -> bool:
    return one.plural == resource.plural and one.group == resource.group


def _labels_match(terms: tuple[Requirement, ...], obj: Json | None) -> bool:
    if obj is None:
        return False
    labels = (obj.get("metadata") or {}).get("labels") or {}
    return all(term.matches(labels) for term in terms)


def _conditions_hold(hook: Hook, request: Request, asked: Json) -> bool:
    variables = {"object": request.obj, "oldObject": request.old, "request": asked}
    failures: list[str] = []
    for condition in hook.conditions:
        source = condition["expression"]
        try:
            holds = cel.compiled(source, CONDITION_VARIABLES).evaluate(variables)
        except (cel.CompileError, cel.EvaluationError) as error:
            failures.append(f"expression '{source}' resulted in error: {error}")
            continue
        if holds is not True:
            return False
    if failures and not hook.fails_open:
        why = failures[0] if len(failures) == 1 else f"[{', '.join(failures)}]"
        raise errors.forbidden(request.resource, request.name, why)
    return not failures


def _compiled(configurations: Iterable[Json]) -> Iterator[Hook]:
    for configuration in sorted(configurations, key=lambda one: one["metadata"]["name"]):
        for webhook in configuration.get("webhooks") or ():
            yield _hook(configuration["metadata"]["name"], webhook)


def _hook(configuration: str, webhook: Json) -> Hook:
    return Hook(
        configuration,
        webhook["name"],
        tuple(map(_rule, webhook.get("rules") or ())),
        webhook.get("matchPolicy") != "Exact",
        requirements(webhook.get("namespaceSelector")),
        requirements(webhook.get("objectSelector")),
        tuple(webhook.get("matchConditions") or ()),
        webhook.get("failurePolicy") == "Ignore",
        webhook.get("reinvocationPolicy") == "IfNeeded",
        webhook.get("sideEffects") or "",
        webhook.get("timeoutSeconds") or 10,
        webhook["clientConfig"],
    )


def _rule(rule: Json) -> Rule:
    pairs = [resource.partition("/")[::2] for resource in rule.get("resources") or ()]
    return Rule(
        frozenset(rule.get("operations") or ()),
        frozenset(rule.get("apiGroups") or ()),
        frozenset(rule.get("apiVersions") or ()),
        tuple((plural, below) for plural, below in pairs),
        rule.get("scope") or "*",
    )
