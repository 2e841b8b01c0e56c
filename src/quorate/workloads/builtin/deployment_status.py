"""Status of a Deployment: counts, and the conditions that `kubectl rollout status` and `wait` read."""

from collections.abc import Sequence

from quorate.api.meta import Json
from quorate.workloads.builtin import rollout
from quorate.workloads.builtin.conditions import find, put, without
from quorate.workloads.builtin.instants import epoch, rfc3339
from quorate.workloads.builtin.outcome import is_deleting

_NO_DEADLINE = 2**31 - 1  # the largest int32, which Kubernetes reads as "never"


def status(item: Json, current: Json | None, owned: Sequence[Json], now: float) -> Json:
    counts = _counts(current, owned)
    after = {
        "observedGeneration": item["metadata"].get("generation", 1),
        **{key: count for key, count in counts.items() if count},
    }
    terminating = [found.get("status", {}).get("terminatingReplicas") for found in owned]
    if None not in terminating:
        after["terminatingReplicas"] = sum(terminating)
    collisions = item.get("status", {}).get("collisionCount")
    if collisions:
        after["collisionCount"] = collisions
    conditions = item.get("status", {}).get("conditions") or []
    conditions = _put(conditions, _available(item, counts["availableReplicas"]), now)
    progressing = _progressing(item, current, counts, now)
    if progressing is not None and not is_deleting(item):
        conditions = _put(conditions, progressing, now)
    failure = find((current or {}).get("status", {}).get("conditions"), "ReplicaFailure")
    if failure is None:
        conditions = without(conditions, "ReplicaFailure")
    else:
        why = failure["reason"], failure["message"]
        conditions = _put(conditions, _condition("ReplicaFailure", "True", *why), now)
    return {**after, "conditions": conditions}


def is_complete(item: Json) -> bool:
    """The stored status says that every replica is updated and available, and no other is left."""
    seen, desired = item.get("status", {}), item["spec"].get("replicas", 1)
    return bool(
        seen.get("updatedReplicas", 0) == desired
        and seen.get("replicas", 0) == desired
        and seen.get("availableReplicas", 0) == desired
        and seen.get("observedGeneration", 0) >= item["metadata"].get("generation", 1)
    )


def deadline(item: Json, after: Json, now: float) -> float | None:
    """When a rollout that stands still turns into ProgressDeadlineExceeded."""
    found = find(after["conditions"], "Progressing")
    limit = item["spec"].get("progressDeadlineSeconds", 600)
    running = found is not None and found["reason"] in {
        "NewReplicaSetCreated",
        "ReplicaSetUpdated",
        "FoundNewReplicaSet",
    }
    if not running or found is None or limit >= _NO_DEADLINE:
        return None
    due: float = epoch(found["lastUpdateTime"]) + limit
    return max(due, now) + 0.001


def _counts(current: Json | None, owned: Sequence[Json]) -> dict[str, int]:
    def total(field: str) -> int:
        return sum(found.get("status", {}).get(field, 0) for found in owned)

    wanted = sum(rollout.wanted(found) for found in owned)
    available = total("availableReplicas")
    return {
        "replicas": total("replicas"),
        "updatedReplicas": current.get("status", {}).get("replicas", 0) if current else 0,
        "readyReplicas": total("readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(wanted - available, 0),
    }


def _available(item: Json, available: int) -> Json:
    _, missing = rollout.limits(item)
    if available >= item["spec"].get("replicas", 1) - missing:
        return _condition(
            "Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."
        )
    return _condition(
        "Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
    )


def _progressing(item: Json, current: Json | None, counts: dict[str, int], now: float) -> Json | None:
    """The Progressing condition, or `None` to leave the stored one as it is."""
    before = find(item.get("status", {}).get("conditions"), "Progressing")
    if item["spec"].get("paused"):
        return _condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")
    if before is not None and before["reason"] == "DeploymentPaused":
        return _condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed")
    desired = item["spec"].get("replicas", 1)
    if current and counts["updatedReplicas"] == counts["replicas"] == counts["availableReplicas"] == desired:
        text = f"{_subject(item, current)} has successfully progressed."
        return _condition("Progressing", "True", "NewReplicaSetAvailable", text)
    if before is not None:
        return _under_way(item, current, counts, before, now)
    if current is None:
        return None
    text = f'Created new replica set "{rollout.name(current)}"'
    return _condition("Progressing", "True", "NewReplicaSetCreated", text)


def _under_way(
    item: Json, current: Json | None, counts: dict[str, int], before: Json, now: float
) -> Json | None:
    """A rollout that moves renews its deadline; one that stands still runs into it."""
    if _moved(item, counts) or (before["reason"] == "NewReplicaSetAvailable" and _is_rolling(item, counts)):
        text = f"{_subject(item, current)} is progressing."
        return {
            **_condition("Progressing", "True", "ReplicaSetUpdated", text),
            "lastUpdateTime": rfc3339(now),
        }
    if _timed_out(item, before, now):
        text = f"{_subject(item, current)} has timed out progressing."
        return _condition("Progressing", "False", "ProgressDeadlineExceeded", text)
    return None


def _subject(item: Json, current: Json | None) -> str:
    if current is not None:
        return f'ReplicaSet "{rollout.name(current)}"'
    return f'Deployment "{item["metadata"]["name"]}"'


def _is_rolling(item: Json, counts: dict[str, int]) -> bool:
    """A new template is on its way; a pod lost after a finished rollout does not reopen it."""
    return bool(counts["updatedReplicas"] < min(item["spec"].get("replicas", 1), counts["replicas"] or 1))


def _moved(item: Json, counts: dict[str, int]) -> bool:
    before = item.get("status", {})
    old_before = before.get("replicas", 0) - before.get("updatedReplicas", 0)
    return bool(
        counts["updatedReplicas"] > before.get("updatedReplicas", 0)
        or counts["replicas"] - counts["updatedReplicas"] < old_before
        or counts["readyReplicas"] > before.get("readyReplicas", 0)
        or counts["availableReplicas"] > before.get("availableReplicas", 0)
    )


def _timed_out(item: Json, before: Json, now: float) -> bool:
    limit = item["spec"].get("progressDeadlineSeconds", 600)
    if limit >= _NO_DEADLINE or before["reason"] == "NewReplicaSetAvailable":
        return False
    return bool(now > epoch(before["lastUpdateTime"]) + limit)


def _condition(kind: str, state: str, reason: str, message: str) -> Json:
    return {"type": kind, "status": state, "reason": reason, "message": message}


def _put(conditions: Sequence[Json], new: Json, now: float) -> list[Json]:
    """As `put`, with the `lastUpdateTime` that only Deployments keep: it moves when status or reason does."""
    at = rfc3339(now)
    before = find(conditions, new["type"])
    same = before is not None and before["status"] == new["status"] and before["reason"] == new["reason"]
    if before is not None and same and "lastUpdateTime" not in new:
        if before["message"] == new["message"] or new["type"] == "Available":
            return list(conditions)
        return put(conditions, {"lastUpdateTime": before.get("lastUpdateTime", at), **new}, at)
    return put(conditions, {"lastUpdateTime": at, **new}, at)
