"""The default scheduler's choice, kept simple: the first node that admits the pod and has room."""

from collections import Counter
from collections.abc import Callable, Iterable

from quorate.api.meta import Json
from quorate.workloads.builtin.nodematch import admits, repels

ShortOf = Callable[[Json], list[str]]


def first_fit(pod: Json, nodes: Iterable[Json], short_of: ShortOf) -> tuple[str, str]:
    """(node, "") or ("", message in the scheduler's words)."""
    reasons: Counter[str] = Counter()
    total = 0
    for node in nodes:
        total += 1
        why = _objections(pod, node, short_of)
        if not why:
            return node["metadata"]["name"], ""
        reasons.update(why)
    shown = ", ".join(sorted(f"{count} {text}" for text, count in reasons.items()))
    return "", f"0/{total} nodes are available" + (f": {shown}." if shown else ".")


def _objections(pod: Json, node: Json, short_of: ShortOf) -> list[str]:
    if node.get("spec", {}).get("unschedulable") and repels(pod["spec"], _cordoned(node)) is not None:
        return ["node(s) were unschedulable"]
    taint = repels(pod["spec"], node)
    if taint is not None:
        value = f": {taint['value']}" if taint.get("value") else ": "
        return [f"node(s) had untolerated taint {{{taint['key']}{value}}}"]
    if not admits(pod["spec"], node):
        return ["node(s) didn't match Pod's node affinity/selector"]
    return ["Too many pods" if name == "pods" else f"Insufficient {name}" for name in short_of(node)]


def _cordoned(node: Json) -> Json:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    return {**node, "spec": {**node["spec"], "taints": [taint]}}
