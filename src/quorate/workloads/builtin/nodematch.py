"""Whether a node suits a pod spec: node selector, required node affinity, taints and tolerations."""

from collections.abc import Iterable

from quorate.api.meta import Json
from quorate.workloads.builtin.selection import expression_holds

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def admits(spec: Json, node: Json) -> bool:
    """Node name, node selector and required node affinity."""
    name, labels = node["metadata"]["name"], node["metadata"].get("labels") or {}
    if spec.get("nodeName", name) != name:
        return False
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED)
    return required is None or any(term_holds(term, name, labels) for term in required["nodeSelectorTerms"])


def term_holds(term: Json, name: str, labels: dict[str, str]) -> bool:
    """All expressions of one term; a term without any matches nothing."""
    fields, expressions = term.get("matchFields") or (), term.get("matchExpressions") or ()
    if not fields and not expressions:
        return False
    by_field = {"metadata.name": name}
    return all(expression_holds(item, by_field) for item in fields) and all(
        expression_holds(item, labels) for item in expressions
    )


def pinned(pod: Json) -> str:
    """The node a daemon's affinity names, or empty."""
    required = ((pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}).get(_REQUIRED) or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and len(field.get("values") or ()) == 1:
                name: str = field["values"][0]
                return name
    return ""


def tolerates(tolerations: Iterable[Json], taint: Json) -> bool:
    return any(tolerates_taint(item, taint) for item in tolerations)


def tolerates_taint(toleration: Json, taint: Json) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def repels(spec: Json, node: Json) -> Json | None:
    """The first taint that keeps a new pod away, if any."""
    tolerations = spec.get("tolerations") or ()
    for taint in node.get("spec", {}).get("taints") or ():
        if taint.get("effect") in {"NoSchedule", "NoExecute"} and not tolerates(tolerations, taint):
            found: Json = taint
            return found
    return None
