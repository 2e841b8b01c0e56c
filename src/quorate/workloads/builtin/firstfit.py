"""The default scheduler's choice, kept simple: the first node that admits the pod and has room."""

from collections import Counter
from collections.abc import Callable, Iterable

from quorate.api.meta import Json
from quorate.workloads.builtin.nodematch import admits, repels

Objections = Callable[[Json], list[str]]  # what besides its spec keeps the pod off a node


def first_fit(pod: Json, nodes: Iterable[Json], objections: Objections) -> tuple[str, str]:
    """(node, "") or ("", message in the scheduler's words)."""
    reasons: Counter[str] = Counter()
    total = 0
    for node in nodes:
        total += 1
        why = _why_not(pod, node, objections)
        if not why:
            return node["metadata"]["name"], ""
        reasons.update(why)
    shown = ", ".join(sorted(f"{count} {text}" for text, count in reasons.items()))
    return "", f"0/{total} nodes are available" + (f": {shown}." if shown else ".")


def _why_not(pod: Json, node: Json, objections: Objections) -> list[str]:
    if node.get("spec", {}).get("unschedulable") and repels(pod["spec"], _cordoned(node)) is not None:
        return ["node(s) were unschedulable"]
    taint = repels(pod["spec"], node)
    if taint is not None:
        value = f": {taint['value']}" if taint.get("value") else ": "
        return [f"node(s) had untolerated taint {{{taint['key']}{value}}}"]
    if not admits(pod["spec"], node):
        return ["node(s) didn't match Pod's node affinity/selector"]
    return objections(node)


def _cordoned(node: Json) -> Json:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    return {**node, "spec": {**node["spec"], "taints": [taint]}}
