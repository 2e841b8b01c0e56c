"""Deployment: which ReplicaSets it should have; `rollout` sizes them, `deployment_status` reports them."""

from collections.abc import Sequence

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import deployment_status, kinds, rollout
from quorate.workloads.builtin.hashing import template_hash
from quorate.workloads.builtin.outcome import (
    Outcome,
    create,
    delete,
    event,
    is_deleting,
    owner_reference,
    patch,
    ref,
)
from quorate.workloads.builtin.pods import is_finished
from quorate.workloads.builtin.replicaset import claim
from quorate.workloads.builtin.rollout import Sizes

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
_HISTORY = "deployment.kubernetes.io/revision-history"
_DESIRED = "deployment.kubernetes.io/desired-replicas"
_MAXIMUM = "deployment.kubernetes.io/max-replicas"
_NOT_COPIED = {
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    _HISTORY,
    _DESIRED,
    _MAXIMUM,
    "deprecated.deployment.rollback.to",
}


def deployment(item: Json, sets: Sequence[Json], pods: Sequence[Json], now: float) -> Outcome:
    """`sets` are owned ReplicaSets and orphans it may adopt, `pods` the pods of those sets."""
    owned, claims = claim(kinds.DEPLOYMENT, item, kinds.REPLICA_SET, sets)
    owned.sort(key=_age)
    current = newest_equal(item, owned)
    old = [found for found in owned if found is not current]
    if is_deleting(item):
        return Outcome(tuple(claims), deployment_status.status(item, current, owned, now))
    revision = max((revision_of(found) for found in old), default=0) + 1
    paused = item["spec"].get("paused", False)
    made: list[Change] = []
    held = _is_recreate(item) and (any(rollout.wanted(found) for found in old) or _old_remain(old, pods))
    if current is None and not paused and not held:
        made = [create(kinds.REPLICA_SET, _new_set(item, old, owned, revision))]
    sizes = {} if made else _sizes(item, current, old, pods)
    changes = [*claims, *made, *_resize(item, owned, current, sizes, revision)]
    changes += _annotate(item, current, revision, creating=bool(made))
    changes += _clean_up(item, current, old)
    status = deployment_status.status(item, current, owned, now)
    return Outcome(tuple(changes), status, deployment_status.deadline(item, status, now))


def newest_equal(item: Json, sets: Sequence[Json]) -> Json | None:
    """The oldest ReplicaSet whose template equals the Deployment's: how a roll-back finds its set again."""
    wanted = item["spec"]["template"]
    return next((found for found in sets if _template_of(found) == wanted), None)


def revision_of(item: Json) -> int:
    text = (item["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def _age(item: Json) -> tuple[str, str]:
    return item["metadata"].get("creationTimestamp", ""), item["metadata"]["name"]


def _template_of(item: Json) -> Json:
    template: Json = item["spec"]["template"]
    meta = dict(template.get("metadata", {}))
    meta["labels"] = {key: value for key, value in (meta.get("labels") or {}).items() if key != HASH}
    return {**template, "metadata": meta}


def _old_remain(old: Sequence[Json], pods: Sequence[Json]) -> bool:
    """Recreate grows its new set only once no pod of an old one is left running."""
    uids = {found["metadata"]["uid"] for found in old}
    return any(
        owner["uid"] in uids and not is_finished(pod)
        for pod in pods
        for owner in pod["metadata"].get("ownerReferences") or ()
    )


def _is_recreate(item: Json) -> bool:
    return bool(item["spec"].get("strategy", {}).get("type") == "Recreate")


def _new_set(item: Json, old: Sequence[Json], owned: Sequence[Json], revision: int) -> Json:
    meta, spec = item["metadata"], item["spec"]
    taken = {found["metadata"]["name"] for found in owned}
    salt = item.get("status", {}).get("collisionCount", 0)
    digest = template_hash(spec["template"], salt)
    while f"{meta['name']}-{digest}" in taken:
        salt += 1
        digest = template_hash(spec["template"], salt)
    template_meta = spec["template"].get("metadata", {})
    labels = {**(template_meta.get("labels") or {}), HASH: digest}
    selector = {
        **spec["selector"],
        "matchLabels": {**(spec["selector"].get("matchLabels") or {}), HASH: digest},
    }
    size = rollout.new_size(item, Sizes.of(None, old, spec.get("replicas", 1)))
    return {
        "metadata": {
            "name": f"{meta['name']}-{digest}",
            "namespace": meta["namespace"],
            "labels": labels,
            "annotations": {**_copied(item), **_size_notes(item), REVISION: str(revision)},
            "ownerReferences": [owner_reference(kinds.DEPLOYMENT, item)],
        },
        "spec": {
            "replicas": size,
            "minReadySeconds": spec.get("minReadySeconds", 0),
            "selector": selector,
            "template": {**spec["template"], "metadata": {**template_meta, "labels": labels}},
        },
    }


def _copied(item: Json) -> dict[str, str]:
    notes = item["metadata"].get("annotations") or {}
    return {key: value for key, value in notes.items() if key not in _NOT_COPIED}


def _size_notes(item: Json) -> dict[str, str]:
    desired = item["spec"].get("replicas", 1)
    surge, _ = rollout.limits(item)
    return {_DESIRED: str(desired), _MAXIMUM: str(desired + surge)}


def _sizes(item: Json, current: Json | None, old: Sequence[Json], pods: Sequence[Json]) -> dict[str, int]:
    """The size each set should have now, by name; only those that change matter."""
    paused = item["spec"].get("paused", False)
    desired = item["spec"].get("replicas", 1)
    if paused or _was_rescaled(item, [*old, *([current] if current else [])]):
        return rollout.proportional(item, current, old)
    if _is_recreate(item):
        grown = {current["metadata"]["name"]: desired} if current and not _old_remain(old, pods) else {}
        return {**{found["metadata"]["name"]: 0 for found in old}, **grown}
    return rollout.rolling(item, current, old)


def _was_rescaled(item: Json, sets: Sequence[Json]) -> bool:
    """`spec.replicas` changed since the active sets were last sized."""
    desired = str(item["spec"].get("replicas", 1))
    notes = (
        (found["metadata"].get("annotations") or {}).get(_DESIRED)
        for found in sets
        if found["spec"].get("replicas", 1)
    )
    return any(note is not None and note != desired for note in notes)


def _resize(
    item: Json, owned: Sequence[Json], current: Json | None, sizes: dict[str, int], revision: int
) -> list[Change]:
    changes: list[Change] = []
    for found in owned:
        name, before = found["metadata"]["name"], found["spec"].get("replicas", 1)
        after = sizes.get(name, before)
        notes = _size_notes(item) if name in sizes and (after or before) else {}
        if found is current:
            notes = {**notes, **_revision_notes(item, found, revision)}
        has = found["metadata"].get("annotations") or {}
        notes = {key: value for key, value in notes.items() if has.get(key) != value}
        if not notes and after == before:
            continue
        body: Json = {"metadata": {"annotations": notes}} if notes else {}
        if after != before:
            body["spec"] = {"replicas": after}
            way = "up" if after > before else "down"
            text = f"Scaled {way} replica set {name} from {before} to {after}"
            changes.append(event(ref(kinds.DEPLOYMENT, item), "ScalingReplicaSet", text))
        changes.append(patch(kinds.REPLICA_SET, found, body))
    return changes


def _revision_notes(item: Json, current: Json, revision: int) -> dict[str, str]:
    """A set that becomes current again takes a new revision and remembers its former ones."""
    before = revision_of(current)
    notes = _copied(item)
    if before >= revision:
        return notes
    history = (current["metadata"].get("annotations") or {}).get(_HISTORY, "")
    if before:
        notes[_HISTORY] = f"{history},{before}" if history else str(before)
    return {**notes, REVISION: str(revision)}


def _annotate(item: Json, current: Json | None, revision: int, *, creating: bool) -> list[Change]:
    if current is None and not creating:
        return []
    wanted = str(max(revision, revision_of(current) if current else 0))
    if (item["metadata"].get("annotations") or {}).get(REVISION) == wanted:
        return []
    return [patch(kinds.DEPLOYMENT, item, {"metadata": {"annotations": {REVISION: wanted}}})]


def _clean_up(item: Json, current: Json | None, old: Sequence[Json]) -> list[Change]:
    """Old empty sets beyond `revisionHistoryLimit` go, once the rollout is complete."""
    if current is None or not deployment_status.is_complete(item):
        return []
    idle = [found for found in old if _is_idle(found)]
    surplus = len(idle) - item["spec"].get("revisionHistoryLimit", 10)
    idle.sort(key=revision_of)
    return [delete(kinds.REPLICA_SET, found) for found in idle[: max(surplus, 0)]]


def _is_idle(found: Json) -> bool:
    status = found.get("status", {})
    observed = status.get("observedGeneration", 0) >= found["metadata"].get("generation", 1)
    return (
        not found["spec"].get("replicas", 1)
        and not status.get("replicas", 0)
        and observed
        and not is_deleting(found)
    )
