"""Rules of where a pod may go: affinity, tolerations, topology spread, node selector, scheduling gates."""

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, duplicate, invalid, not_supported, required
from quorate.embedded.validation import names
from quorate.embedded.validation.labelselectors import label_selector
from quorate.embedded.validation.metadata import labels

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_NODE_OPERATORS = frozenset(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
_WEIGHT = "must be in the range 1-100"


def placement(found: list[Cause], spec: Json, path: str) -> None:
    if spec.get("nodeSelector"):
        labels(found, spec["nodeSelector"], f"{path}.nodeSelector")
    if spec.get("affinity"):
        _affinity(found, spec["affinity"], f"{path}.affinity")
    if spec.get("tolerations"):
        tolerations(found, spec["tolerations"], f"{path}.tolerations")
    if spec.get("topologySpreadConstraints"):
        _spread(found, spec["topologySpreadConstraints"], f"{path}.topologySpreadConstraints")
    if spec.get("schedulingGates"):
        _gates(found, spec["schedulingGates"], f"{path}.schedulingGates")


def _gates(found: list[Cause], gates: list[Json], path: str) -> None:
    taken: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        found += [invalid(f"{path}[{index}]", name, message) for message in names.label_key(name)]
        if name in taken:
            found.append(duplicate(f"{path}[{index}]", name))
        taken.add(name)


def tolerations(found: list[Cause], entries: list[Json], path: str) -> None:
    for index, toleration in enumerate(entries):
        _toleration(found, toleration, f"{path}[{index}]")


def _toleration(found: list[Cause], toleration: Json, path: str) -> None:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        found += [invalid(f"{path}.key", key, message) for message in names.label_key(key)]
    elif operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        found.append(invalid(f"{path}.operator", operator, detail))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        found.append(invalid(f"{path}.effect", effect, detail))
    if operator == "Exists":
        if value:
            detail = "value must be empty when `operator` is 'Exists'"
            found.append(invalid(f"{path}.operator", value, detail))
    elif operator in {"", "Equal"}:
        if names.label_value(value):
            found.append(invalid(f"{path}.operator", value, ";".join(names.label_value(value))))
    else:
        found.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    if effect and effect not in EFFECTS:
        found.append(not_supported(f"{path}.effect", effect, EFFECTS))


def _spread(found: list[Cause], constraints: list[Json], path: str) -> None:
    pairs = [(one.get("topologyKey", ""), one.get("whenUnsatisfiable", "")) for one in constraints]
    for index, constraint in enumerate(constraints):
        where = f"{path}[{index}]"
        if constraint.get("maxSkew", 0) <= 0:
            found.append(
                invalid(f"{where}.maxSkew", constraint.get("maxSkew", 0), "must be greater than zero")
            )
        key, action = pairs[index]
        if not key:
            found.append(required(f"{where}.topologyKey", "can not be empty"))
        if action not in _UNSATISFIABLE:
            found.append(not_supported(f"{where}.whenUnsatisfiable", action, _UNSATISFIABLE))
        if (key, action) in pairs[index + 1 :]:
            found.append(duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
        found += label_selector(constraint.get("labelSelector"), f"{where}.labelSelector")


def _affinity(found: list[Cause], affinity: Json, path: str) -> None:
    node = affinity.get("nodeAffinity") or {}
    _node_affinity(found, node, f"{path}.nodeAffinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        pod = affinity.get(kind) or {}
        for index, term in enumerate(pod.get("requiredDuringSchedulingIgnoredDuringExecution") or ()):
            where = f"{path}.{kind}.requiredDuringSchedulingIgnoredDuringExecution[{index}]"
            _pod_term(found, term, where)
        for index, weighted in enumerate(pod.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
            where = f"{path}.{kind}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
            _weight(found, weighted, where)
            _pod_term(found, weighted.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm")


def _weight(found: list[Cause], weighted: Json, path: str) -> None:
    if not 1 <= weighted.get("weight", 0) <= 100:
        found.append(invalid(f"{path}.weight", weighted.get("weight", 0), _WEIGHT))


def _pod_term(found: list[Cause], term: Json, path: str) -> None:
    found += label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    found += label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for name in term.get("namespaces") or ():
        found += [invalid(f"{path}.namespace", name, message) for message in names.dns_label(name)]
    key = term.get("topologyKey", "")
    if not key:
        found.append(required(f"{path}.topologyKey", "can not be empty"))
    found += [invalid(f"{path}.topologyKey", key, message) for message in names.label_key(key)]


def _node_affinity(found: list[Cause], affinity: Json, path: str) -> None:
    needed = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if needed is not None:
        where = f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        terms = needed.get("nodeSelectorTerms")
        if not terms:
            found.append(required(where, "must have at least one node selector term"))
        for index, term in enumerate(terms or ()):
            _node_term(found, term, f"{where}[{index}]")
    for index, weighted in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        where = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
        _weight(found, weighted, where)
        _node_term(found, weighted.get("preference") or {}, f"{where}.preference")


def _node_term(found: list[Cause], term: Json, path: str) -> None:
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        where = f"{path}.matchExpressions[{index}]"
        operator, values = expression.get("operator", ""), expression.get("values") or []
        if operator not in _NODE_OPERATORS:
            found.append(invalid(f"{where}.operator", operator, "not a valid selector operator"))
        elif operator in {"In", "NotIn"} and not values:
            detail = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(required(f"{where}.values", detail))
        elif operator in {"Gt", "Lt"} and len(values) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            found.append(required(f"{where}.values", detail))
        key = expression.get("key", "")
        found += [invalid(f"{where}.key", key, message) for message in names.label_key(key)]
