"""StatefulSet: which ordinals are created, replaced or removed next; `stateful_pods` gives them identity."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import kinds, pods, stateful_claims
from quorate.workloads.builtin.amounts import resolve
from quorate.workloads.builtin.outcome import Outcome, create, delete, event, is_deleting, ref
from quorate.workloads.builtin.replicaset import claim
from quorate.workloads.builtin.revisions import LABEL, Revisions, revise, truncate
from quorate.workloads.builtin.stateful_pods import ordinal_of, pod_at


class _Set(NamedTuple):
    """One pass over a StatefulSet: its ordinals, its pods by ordinal, its revisions."""

    item: Json
    wanted: range
    held: Mapping[int, Json]
    current: str
    update: str
    templates: Mapping[str, Json]
    claims: frozenset[str]
    now: float

    @property
    def is_parallel(self) -> bool:
        return bool(self.item["spec"].get("podManagementPolicy") == "Parallel")

    @property
    def min_ready(self) -> int:
        return int(self.item["spec"].get("minReadySeconds", 0))

    @property
    def partition(self) -> int:
        rolling = self.item["spec"].get("updateStrategy", {}).get("rollingUpdate") or {}
        return int(rolling.get("partition", 0))

    @property
    def on_delete(self) -> bool:
        return bool(self.item["spec"].get("updateStrategy", {}).get("type") == "OnDelete")

    def is_available(self, pod: Json) -> bool:
        return pods.is_available(pod, self.min_ready, self.now) and not is_deleting(pod)

    def revision_at(self, ordinal: int) -> str:
        """Pods below the partition are made from the current revision, all others from the latest."""
        below = not self.on_delete and ordinal < self.wanted.start + self.partition
        return self.current if below else self.update


def statefulset(
    item: Json, children: Sequence[Json], known: Sequence[Json], claims: Sequence[Json], now: float
) -> Outcome:
    """`children` are owned pods and orphans, `known` its ControllerRevisions, `claims` its namespace's PVCs."""
    owned, adopted = claim(kinds.STATEFUL_SET, item, kinds.POD, children)
    revisions = revise(kinds.STATEFUL_SET, item, known, item.get("status", {}).get("collisionCount", 0))
    view = _view(item, owned, revisions, claims, now)
    wake = pods.next_available(view.held.values(), view.min_ready, now)
    if is_deleting(item):
        return Outcome(tuple(adopted), _status(view), wake)
    changes = [*adopted, *revisions.changes, *_pods(view)]
    changes += stateful_claims.retain(item, view.wanted, claims, view.held)
    live = {view.current, view.update, *(_revision(item, pod) for pod in view.held.values())}
    return Outcome((*changes, *truncate(item, known, live)), _status(view), wake)


def _view(
    item: Json, owned: Sequence[Json], revisions: Revisions, claims: Sequence[Json], now: float
) -> _Set:
    start = (item["spec"].get("ordinals") or {}).get("start", 0)
    held: dict[int, Json] = {}
    for pod in owned:
        ordinal = ordinal_of(item, pod)
        if ordinal is not None:
            held[ordinal] = pod
    current = item.get("status", {}).get("currentRevision", revisions.update)
    if current not in revisions.templates:
        current = revisions.update
    wanted = range(start, start + item["spec"].get("replicas", 1))
    known = frozenset(claim["metadata"]["name"] for claim in claims)
    return _Set(item, wanted, held, current, revisions.update, revisions.templates, known, now)


def _pods(view: _Set) -> list[Change]:
    """Create what is missing from the lowest ordinal, then remove and update from the highest."""
    changes: list[Change] = []
    for ordinal in view.wanted:
        step, goes_on = _fill(view, ordinal)
        changes += step
        if not goes_on:
            return changes
    condemned = sorted((at for at in view.held if at not in view.wanted), reverse=True)
    for ordinal in condemned:
        step, goes_on = _condemn(view, ordinal)
        changes += step
        if not goes_on:
            return changes
    return changes if condemned and not view.is_parallel else changes + _update(view)


def _fill(view: _Set, ordinal: int) -> tuple[list[Change], bool]:
    """The writes for one wanted ordinal, and whether the next one may be looked at."""
    pod = view.held.get(ordinal)
    if pod is None:
        return [*_create(view, ordinal)], view.is_parallel
    if is_deleting(pod):
        return [], view.is_parallel
    if pods.is_finished(pod):
        why = "failed" if pods.phase(pod) == "Failed" else "succeeded"
        about = ref(kinds.STATEFUL_SET, view.item)
        text = f"StatefulSet {_full(view.item)} is recreating {why} Pod {pod['metadata']['name']}"
        return [event(about, "RecreatingTerminatedPod", text), delete(kinds.POD, pod)], view.is_parallel
    return [], view.is_parallel or view.is_available(pod)


def _create(view: _Set, ordinal: int) -> list[Change]:
    revision = view.revision_at(ordinal)
    pod = pod_at(view.item, view.templates[revision], ordinal, revision)
    made: list[Change] = []
    for body in stateful_claims.claims_of(view.item, ordinal):
        name = body["metadata"]["name"]
        if name not in view.claims:
            owner = f"Pod {pod['metadata']['name']} in StatefulSet {view.item['metadata']['name']}"
            about = ref(kinds.STATEFUL_SET, view.item)
            made += [
                create(kinds.CLAIM, body),
                event(about, "SuccessfulCreate", f"Create Claim {name} {owner} success"),
            ]
    return [*made, create(kinds.POD, pod)]


def _condemn(view: _Set, ordinal: int) -> tuple[list[Change], bool]:
    """Ordered scale-down waits for each pod to be gone and for every lower pod to be available."""
    pod = view.held[ordinal]
    if is_deleting(pod):
        return [], view.is_parallel
    healthy = all(view.is_available(other) for at, other in view.held.items() if at < ordinal)
    if not view.is_parallel and not healthy:
        return [], False
    return _remove(view, pod), view.is_parallel


def _remove(view: _Set, pod: Json) -> list[Change]:
    text = f"Delete Pod {pod['metadata']['name']} in StatefulSet {view.item['metadata']['name']} successful"
    return [delete(kinds.POD, pod), event(ref(kinds.STATEFUL_SET, view.item), "SuccessfulDelete", text)]


def _update(view: _Set) -> list[Change]:
    """Replace pods of other revisions from the highest ordinal down, never more than may be unavailable."""
    if view.on_delete:
        return []
    first = view.wanted.start + view.partition
    rolling = view.item["spec"].get("updateStrategy", {}).get("rollingUpdate") or {}
    budget = max(resolve(rolling.get("maxUnavailable", 1), len(view.wanted), up=True), 1)
    changes: list[Change] = []
    for ordinal in reversed(view.wanted):
        pod = view.held.get(ordinal)
        if ordinal < first or budget <= 0:
            break
        if pod is not None and _revision(view.item, pod) != view.update and not is_deleting(pod):
            changes += _remove(view, pod)
            budget -= 1
        elif pod is None or not view.is_available(pod):
            budget -= 1
    return changes


def _revision(item: Json, pod: Json) -> str:
    text: str = (pod["metadata"].get("labels") or {}).get(LABEL, "")
    return text or f"{item['metadata']['name']}-"


def _full(item: Json) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def _status(view: _Set) -> Json:
    item, held = view.item, [pod for pod in view.held.values() if not is_deleting(pod)]
    inside = [pod for at, pod in view.held.items() if at in view.wanted and not is_deleting(pod)]
    updated = sum(_revision(item, pod) == view.update for pod in inside)
    done = (
        not view.on_delete
        and updated == len(view.wanted)
        and all(view.is_available(pod) for pod in inside)
        and len(inside) == len(view.wanted)
        and view.partition == 0
    )
    current = view.update if done else view.current
    counts = {
        "readyReplicas": sum(pods.is_ready(pod) for pod in held),
        "currentReplicas": sum(_revision(item, pod) == current for pod in held),
        "updatedReplicas": sum(_revision(item, pod) == view.update for pod in held),
    }
    return {
        "observedGeneration": item["metadata"].get("generation", 1),
        "replicas": len(view.held),
        "availableReplicas": sum(view.is_available(pod) for pod in held),
        **{key: count for key, count in counts.items() if count},
        "currentRevision": current,
        "updateRevision": view.update,
        "collisionCount": item.get("status", {}).get("collisionCount", 0),
    }
