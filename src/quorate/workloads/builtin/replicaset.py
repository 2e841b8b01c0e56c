"""ReplicaSet: keep `spec.replicas` active pods that match the selector; status tells how many there are."""

from collections import Counter
from collections.abc import Iterable, Sequence

from quorate.api.meta import Json, Kind
from quorate.plan import Change, Patch
from quorate.workloads.builtin import kinds, pods
from quorate.workloads.builtin.conditions import put, without
from quorate.workloads.builtin.instants import rfc3339
from quorate.workloads.builtin.outcome import (
    Outcome,
    controller_of,
    create,
    delete,
    event,
    is_deleting,
    owner_reference,
    patch,
    ref,
)
from quorate.workloads.builtin.selection import matches

FAILURE = "ReplicaFailure"
_BURST = 500  # creates or deletes in one pass, as the real controller bounds them


def replicaset(item: Json, children: Sequence[Json], neighbours: Iterable[Json], now: float) -> Outcome:
    """`children` are owned pods and orphans; `neighbours` count per node for the deletion order."""
    claimed, claims = claim(kinds.REPLICA_SET, item, kinds.POD, children)
    active = [pod for pod in claimed if pods.is_active(pod)]
    changes = [] if is_deleting(item) else _scale(item, active, neighbours, now)
    min_ready = item["spec"].get("minReadySeconds", 0)
    wake = pods.next_available(active, min_ready, now)
    return Outcome((*claims, *changes), _status(item, claimed, now), wake)


def claim(kind: Kind, owner: Json, of: Kind, children: Iterable[Json]) -> tuple[list[Json], list[Change]]:
    """The children that are the owner's, and patches that adopt matching orphans or release strangers."""
    kept: list[Json] = []
    changes: list[Change] = []
    for child in children:
        controller = controller_of(child)
        fits = matches(owner["spec"].get("selector"), child["metadata"].get("labels"))
        if controller is not None and controller["uid"] == owner["metadata"]["uid"]:
            if fits or is_deleting(owner):
                kept.append(child)
            elif not is_deleting(child):
                changes.append(_release(of, child, owner["metadata"]["uid"]))
        elif controller is None and fits and not is_deleting(owner) and not is_deleting(child):
            kept.append(child)
            changes.append(_adopt(kind, owner, of, child))
    return kept, changes


def _adopt(kind: Kind, owner: Json, of: Kind, child: Json) -> Patch:
    owners = [*(child["metadata"].get("ownerReferences") or ()), owner_reference(kind, owner)]
    return patch(of, child, {"metadata": {"ownerReferences": owners}})


def _release(of: Kind, child: Json, uid: str) -> Patch:
    owners = [item for item in child["metadata"].get("ownerReferences") or () if item["uid"] != uid]
    return patch(of, child, {"metadata": {"ownerReferences": owners or None}})


def pod_from(kind: Kind, owner: Json, template: Json) -> Json:
    """A pod of the template, owned by and named after the owner."""
    meta = template.get("metadata", {})
    return {
        "metadata": {
            "generateName": owner["metadata"]["name"] + "-",
            "namespace": owner["metadata"]["namespace"],
            "labels": dict(meta.get("labels") or {}),
            "annotations": dict(meta.get("annotations") or {}),
            "ownerReferences": [owner_reference(kind, owner)],
        },
        "spec": template["spec"],
    }


def _scale(item: Json, active: Sequence[Json], neighbours: Iterable[Json], now: float) -> list[Change]:
    missing = item["spec"].get("replicas", 1) - len(active)
    if missing >= 0:
        body = pod_from(kinds.REPLICA_SET, item, item["spec"]["template"])
        return [create(kinds.POD, body)] * min(missing, _BURST)
    on_node = Counter(pods.node_of(pod) for pod in neighbours if pods.is_active(pod))
    doomed = pods.deletion_order(active, on_node, now)[: min(-missing, _BURST)]
    changes: list[Change] = []
    for pod in doomed:
        changes.append(delete(kinds.POD, pod))
        message = f"Deleted pod: {pod['metadata']['name']}"
        changes.append(event(ref(kinds.REPLICA_SET, item), "SuccessfulDelete", message))
    return changes


def _status(item: Json, claimed: Sequence[Json], now: float) -> Json:
    active = [pod for pod in claimed if pods.is_active(pod)]
    terminating = sum(is_deleting(pod) and not pods.is_finished(pod) for pod in claimed)
    wanted = (item["spec"]["template"].get("metadata", {}).get("labels") or {}).items()
    min_ready = item["spec"].get("minReadySeconds", 0)
    counts = {
        "fullyLabeledReplicas": sum(
            wanted <= (pod["metadata"].get("labels") or {}).items() for pod in active
        ),
        "readyReplicas": sum(pods.is_ready(pod) for pod in active),
        "availableReplicas": sum(pods.is_available(pod, min_ready, now) for pod in active),
    }
    status = {
        "replicas": len(active),
        "terminatingReplicas": terminating,
        **{name: count for name, count in counts.items() if count},
    }
    conditions = without(item.get("status", {}).get("conditions"), FAILURE)
    kept = {"conditions": conditions} if conditions else {}
    return {**status, "observedGeneration": item["metadata"].get("generation", 1), **kept}


def with_failure(item: Json, status: Json, why: str, now: float) -> Json:
    """The status of a set whose pods were refused; the next pass that is not refused takes it back."""
    note = {"type": FAILURE, "status": "True", "reason": "FailedCreate", "message": why}
    return {**status, "conditions": put(item.get("status", {}).get("conditions"), note, rfc3339(now))}
