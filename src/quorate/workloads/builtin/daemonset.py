"""DaemonSet: one pod on each node that its affinity, selector and tolerations admit."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import kinds, pods
from quorate.workloads.builtin.amounts import resolve
from quorate.workloads.builtin.nodematch import admits, pinned, tolerates
from quorate.workloads.builtin.outcome import (
    Outcome,
    create,
    delete,
    event,
    is_deleting,
    ref,
    warning,
)
from quorate.workloads.builtin.replicaset import claim, pod_from
from quorate.workloads.builtin.revisions import LABEL, revise, truncate

_GENERATION = "pod-template-generation"
_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


class _Daemons(NamedTuple):
    """One pass: which nodes should run the pod, which do, and the revision to run."""

    item: Json
    should: Sequence[str]
    on: Mapping[str, Sequence[Json]]
    hash: str
    now: float

    @property
    def min_ready(self) -> int:
        return int(self.item["spec"].get("minReadySeconds", 0))

    def is_updated(self, pod: Json) -> bool:
        return bool((pod["metadata"].get("labels") or {}).get(LABEL) == self.hash)


def daemonset(
    item: Json, children: Sequence[Json], nodes: Iterable[Json], known: Sequence[Json], now: float
) -> Outcome:
    owned, claims = claim(kinds.DAEMON_SET, item, kinds.POD, children)
    revisions = revise(kinds.DAEMON_SET, item, known, item.get("status", {}).get("collisionCount", 0))
    prefix = len(item["metadata"]["name"]) + 1
    on: dict[str, list[Json]] = defaultdict(list)
    for pod in owned:
        on[pods.node_of(pod) or pinned(pod)].append(pod)
    stay = {node["metadata"]["name"]: _fits(item, node) for node in nodes}
    should = [name for name, (runs, _) in stay.items() if runs]
    view = _Daemons(item, should, on, revisions.update[prefix:], now)
    wake = pods.next_available(owned, view.min_ready, now)
    if is_deleting(item):
        return Outcome(tuple(claims), _status(view), wake)
    keep = {name for name, (_, continues) in stay.items() if continues}
    changes = [*claims, *revisions.changes, *_manage(view, keep), *_roll(view)]
    live = {revisions.update} | {_revision_name(item, pod) for pod in owned}
    return Outcome((*changes, *truncate(item, known, live)), _status(view), wake)


def _revision_name(item: Json, pod: Json) -> str:
    return f"{item['metadata']['name']}-{(pod['metadata'].get('labels') or {}).get(LABEL, '')}"


def tolerations(spec: Json) -> list[Json]:
    """The template's own and those every daemon gets, so that a sick node keeps it."""
    own = list(spec.get("tolerations") or ())
    extra = [
        *_TOLERATED,
        *((("node.kubernetes.io/network-unavailable", "NoSchedule"),) if spec.get("hostNetwork") else ()),
    ]
    added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in extra]
    return [*own, *(item for item in added if item not in own)]


def _fits(item: Json, node: Json) -> tuple[bool, bool]:
    """(should run there, may keep running there)."""
    spec = item["spec"]["template"]["spec"]
    if not admits(spec, node):
        return False, False
    taints = node.get("spec", {}).get("taints") or ()
    own = tolerations(spec)
    blocked = [
        taint
        for taint in taints
        if taint.get("effect") in {"NoSchedule", "NoExecute"} and not tolerates(own, taint)
    ]
    return not blocked, not any(taint["effect"] == "NoExecute" for taint in blocked)


def _pod_on(view: _Daemons, node: str) -> Json:
    item = view.item
    body = pod_from(kinds.DAEMON_SET, item, item["spec"]["template"])
    body["metadata"]["labels"].update({LABEL: view.hash, _GENERATION: _generation(item)})
    spec = body["spec"]
    body["spec"] = {
        **spec,
        "affinity": _pin(spec.get("affinity") or {}, node),
        "tolerations": tolerations(spec),
    }
    return body


def _generation(item: Json) -> str:
    """How often the template has changed, as the API server counts it in an annotation."""
    notes = item["metadata"].get("annotations") or {}
    return str(notes.get("deprecated.daemonset.template.generation", "1"))


def _pin(affinity: Json, node: str) -> Json:
    """Required node affinity on the node's name, replacing the template's, which was tested already."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    required = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {
        **affinity,
        "nodeAffinity": {
            **(affinity.get("nodeAffinity") or {}),
            "requiredDuringSchedulingIgnoredDuringExecution": required,
        },
    }


def _manage(view: _Daemons, keep: Iterable[str]) -> list[Change]:
    changes: list[Change] = []
    about = ref(kinds.DAEMON_SET, view.item)
    for node in view.should:
        alive = [pod for pod in view.on.get(node, ()) if not is_deleting(pod)]
        for pod in alive:
            if pods.phase(pod) in {"Failed", "Succeeded"}:
                text = f"Found failed daemon pod {_full(pod)} on node {node}, will try to kill it"
                changes += [warning(about, "FailedDaemonPod", text), delete(kinds.POD, pod)]
        if not alive and not view.on.get(node):
            changes.append(create(kinds.POD, _pod_on(view, node)))
        changes += _remove(view, _surplus(alive))
    kept = set(keep)
    for node, held in view.on.items():
        if node not in kept:
            changes += _remove(view, [pod for pod in held if not is_deleting(pod)])
    return changes


def _surplus(alive: Sequence[Json]) -> list[Json]:
    """All but the oldest of several daemons on one node."""
    ordered = sorted(
        alive, key=lambda pod: (pod["metadata"].get("creationTimestamp", ""), pod["metadata"]["name"])
    )
    return ordered[1:]


def _remove(view: _Daemons, doomed: Iterable[Json]) -> list[Change]:
    about = ref(kinds.DAEMON_SET, view.item)
    changes: list[Change] = []
    for pod in doomed:
        text = f"Deleted pod: {pod['metadata']['name']}"
        changes += [delete(kinds.POD, pod), event(about, "SuccessfulDelete", text)]
    return changes


def _roll(view: _Daemons) -> list[Change]:
    """Replace outdated daemons, unavailable ones first, never more than `maxUnavailable` nodes down."""
    strategy = view.item["spec"].get("updateStrategy", {})
    if strategy.get("type") == "OnDelete":
        return []
    rolling = strategy.get("rollingUpdate") or {}
    limit = max(resolve(rolling.get("maxUnavailable", 1), len(view.should), up=True), 1)
    candidates: list[Json] = []
    down = 0
    doomed: list[Json] = []
    for node in view.should:
        alive = [pod for pod in view.on.get(node, ()) if not is_deleting(pod) and not pods.is_finished(pod)]
        available = bool(alive) and pods.is_available(alive[0], view.min_ready, view.now)
        down += not available
        if alive and not view.is_updated(alive[0]):
            (candidates if available else doomed).append(alive[0])
    return _remove(view, [*doomed, *candidates[: max(limit - down, 0)]])


def _full(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _status(view: _Daemons) -> Json:
    should = set(view.should)
    first = {
        node: min(held, key=lambda pod: pod["metadata"].get("creationTimestamp", ""))
        for node, held in view.on.items()
    }
    right = [pod for node, pod in first.items() if node in should]
    ready = [pod for pod in right if pods.is_ready(pod)]
    available = sum(pods.is_available(pod, view.min_ready, view.now) for pod in ready)
    optional = {
        "updatedNumberScheduled": sum(view.is_updated(pod) for pod in right),
        "numberAvailable": available,
        "numberUnavailable": len(should) - available,
    }
    collisions = view.item.get("status", {}).get("collisionCount")
    return {
        "currentNumberScheduled": len(right),
        "numberMisscheduled": sum(node not in should for node in view.on if node),
        "desiredNumberScheduled": len(should),
        "numberReady": len(ready),
        "observedGeneration": view.item["metadata"].get("generation", 1),
        **{key: count for key, count in optional.items() if count},
        **({"collisionCount": collisions} if collisions else {}),
    }
