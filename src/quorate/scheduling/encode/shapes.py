"""What a pod asks of a node, as a `Request`: the part of the pod that decides where it may run.

Equal pods give equal requests, whatever the order in which their spec lists things. `encode.pods` numbers
them.
"""

from collections.abc import Mapping

from quorate.api.core import Pod
from quorate.api.podspec import (
    Affinity,
    LabelSelector,
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
)
from quorate.api.podspec import Toleration as WireToleration
from quorate.api.selectors import compiled
from quorate.scheduling.encode.nodes import NAME
from quorate.scheduling.encode.volumes import FREE, Ties
from quorate.scheduling.request import (
    Expression,
    Neighbour,
    Port,
    Preference,
    Request,
    Selector,
    Spread,
    Term,
    Toleration,
)

NOTHING: Term = (Expression("", "Never"),)  # a selector that selects no pod


def request_of(pod: Pod, amounts: Mapping[str, int], ties: Ties = FREE) -> Request:
    """The shape of a pod that takes these amounts and is tied so by its volumes."""
    spec = pod.spec
    affinity = spec.affinity or Affinity()
    nodes = affinity.node_affinity
    preferred = nodes.preferred if nodes and nodes.preferred else []
    return Request(
        amounts=tuple(sorted((name, value) for name, value in amounts.items() if value)),
        node_selector=tuple(Expression(k, "In", (v,)) for k, v in sorted((spec.node_selector or {}).items())),
        node_terms=_node_terms(nodes.required if nodes else None),
        volume_terms=tuple(sorted({_node_terms(one) for one in ties.selectors}, key=repr)),
        node_preferences=tuple(Preference(one.weight, _node_term(one.preference)) for one in preferred),
        tolerations=tuple(sorted({_toleration(one) for one in spec.tolerations or ()}, key=repr)),
        ports=_ports(pod),
        near=_neighbours(pod, affinity, apart=False),
        apart=_neighbours(pod, affinity, apart=True),
        spreads=_spreads(pod),
        blocked_by=ties.blocked_by,
    )


def _node_terms(selector: NodeSelector | None) -> tuple[Term, ...]:
    return tuple(_node_term(term) for term in (selector.node_selector_terms if selector else None) or ())


def _node_term(term: NodeSelectorTerm) -> Term:
    fields = [_expression(one) for one in term.match_fields or ()]
    labels = [_expression(one) for one in term.match_expressions or ()]
    return tuple(sorted([*labels, *(one for one in fields if one.key == NAME)], key=repr))


def _expression(wire: LabelSelectorRequirement) -> Expression:
    return Expression(wire.key, wire.operator, tuple(sorted(wire.values or ())))


def _toleration(wire: WireToleration) -> Toleration:
    return Toleration(wire.key, wire.operator or "Equal", wire.value, wire.effect)


def _ports(pod: Pod) -> tuple[Port, ...]:
    found = {
        Port(port.protocol or "TCP", port.host_ip or "0.0.0.0", number)  # noqa: S104  the wire's word for "any"
        for container in pod.spec.containers or ()
        for port in container.ports or ()
        if (number := port.host_port or (port.container_port if pod.spec.host_network else 0))
    }
    return tuple(sorted(found, key=repr))


def _neighbours(pod: Pod, affinity: Affinity, *, apart: bool) -> tuple[Neighbour, ...]:
    wire = affinity.pod_anti_affinity if apart else affinity.pod_affinity
    if wire is None:
        return ()
    required = [Neighbour(_selector(pod, one), one.topology_key) for one in wire.required or ()]
    preferred = [
        Neighbour(_selector(pod, one.pod_affinity_term), one.pod_affinity_term.topology_key, one.weight)
        for one in wire.preferred or ()
    ]
    return tuple(sorted([*required, *preferred], key=repr))


def _selector(pod: Pod, term: PodAffinityTerm) -> Selector:
    mine = pod.metadata.labels or {}
    same = [Expression(key, "In", (mine[key],)) for key in term.match_label_keys or () if key in mine]
    other = [Expression(key, "NotIn", (mine[key],)) for key in term.mismatch_label_keys or () if key in mine]
    tests = (*_labels(term.label_selector), *same, *other)
    if term.namespace_selector is None:
        return Selector(tests, _namespaces(pod, term.namespaces))
    return Selector(tests, tuple(sorted(term.namespaces or ())), _labels(term.namespace_selector))


def _labels(selector: LabelSelector | None) -> Term:
    tests = compiled(selector)
    if tests is None:
        return NOTHING
    return tuple(Expression(test.key, test.operator, test.values) for test in tests)


def _namespaces(pod: Pod, stated: list[str] | None) -> tuple[str, ...]:
    return tuple(sorted(stated)) if stated else (pod.metadata.namespace,)


def _spreads(pod: Pod) -> tuple[Spread, ...]:
    mine = pod.metadata.labels or {}
    found = []
    for one in pod.spec.topology_spread_constraints or ():
        same = [Expression(key, "In", (mine[key],)) for key in one.match_label_keys or () if key in mine]
        selector = Selector((*_labels(one.label_selector), *same), _namespaces(pod, None))
        found.append(
            Spread(
                selector,
                one.topology_key,
                one.max_skew,
                one.min_domains or 1,
                is_hard=one.when_unsatisfiable != "ScheduleAnyway",
                reads_affinity=one.node_affinity_policy != "Ignore",
                reads_taints=one.node_taints_policy == "Honor",
            )
        )
    return tuple(sorted(found, key=repr))
