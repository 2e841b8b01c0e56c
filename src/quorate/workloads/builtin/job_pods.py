"""The pods of a running Job: how many to start or stop now, at which indexes, after which back-off."""

from collections.abc import Sequence

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import kinds, pods
from quorate.workloads.builtin.instants import epoch
from quorate.workloads.builtin.job_counts import (
    INDEX,
    Counts,
    has_failed,
    index_of,
    is_indexed,
    replaces_only_failed,
)
from quorate.workloads.builtin.outcome import create, delete, event, is_deleting, ref
from quorate.workloads.builtin.replicaset import pod_from

_FIRST_DELAY, _LONGEST_DELAY = 10.0, 600.0
_BURST = 500


def managed(
    item: Json, owned: Sequence[Json], counts: Counts, finalizer: str, now: float
) -> tuple[list[Change], float | None]:
    active = [pod for pod in owned if pods.is_active(pod)]
    stopping = [pod for pod in owned if is_deleting(pod) and not pods.is_finished(pod)]
    wanted = _wanted(item, counts, len(active))
    if len(active) > wanted:
        return _stop(item, active, len(active) - wanted), None
    occupied = len(active) + (len(stopping) if replaces_only_failed(item) else 0)
    missing = min(wanted - occupied, _BURST)
    if missing <= 0:
        return [], None
    ready_at = _backed_off_until(item, owned, counts)
    if ready_at > now:
        return [], ready_at
    if not is_indexed(item):
        return [create(kinds.POD, _pod(item, finalizer))] * missing, None
    free = _free_indexes(item, [*active, *(stopping if replaces_only_failed(item) else ())], counts, missing)
    return [create(kinds.POD, _indexed(item, finalizer, index)) for index in free], None


def _wanted(item: Json, counts: Counts, active: int) -> int:
    spec = item["spec"]
    parallelism = int(spec.get("parallelism", 1))
    completions = spec.get("completions")
    if completions is None:
        # A work queue: after the first success no pod is started, and running ones end by themselves.
        return active if counts.all_succeeded and active <= parallelism else parallelism
    done = len(counts.indexes) if is_indexed(item) else counts.all_succeeded
    return min(parallelism, max(int(completions) - done, 0))


def _stop(item: Json, active: Sequence[Json], surplus: int) -> list[Change]:
    changes: list[Change] = []
    ordered = sorted(
        active, key=lambda pod: (pods.phase(pod) == "Running", pods.is_ready(pod), -index_of(pod))
    )
    for pod in ordered[:surplus]:
        text = f"Deleted pod: {pod['metadata']['name']}"
        changes += [delete(kinds.POD, pod), event(ref(kinds.JOB, item), "SuccessfulDelete", text)]
    return changes


def _backed_off_until(item: Json, owned: Sequence[Json], counts: Counts) -> float:
    """Failures since the last success double the delay: 10 s, 20 s, 40 s, … up to ten minutes."""
    ends = [(_ended(pod), pod) for pod in owned if has_failed(item, pod) or pods.phase(pod) == "Succeeded"]
    last_success = max((at for at, pod in ends if pods.phase(pod) == "Succeeded"), default=0.0)
    failures = [
        at for at, pod in ends if has_failed(item, pod) and at > last_success and not is_deleting(pod)
    ]
    if not failures or not counts.all_failed:
        return 0.0
    return max(failures) + min(_FIRST_DELAY * 2.0 ** (len(failures) - 1), _LONGEST_DELAY)


def _ended(pod: Json) -> float:
    states = pod.get("status", {}).get("containerStatuses") or ()
    ends = [epoch(((item.get("state") or {}).get("terminated") or {}).get("finishedAt")) for item in states]
    return max(ends, default=0.0) or epoch(pod["metadata"].get("creationTimestamp"))


def _free_indexes(item: Json, held: Sequence[Json], counts: Counts, missing: int) -> list[int]:
    taken = counts.indexes | {index_of(pod) for pod in held}
    free = (index for index in range(item["spec"].get("completions", 1)) if index not in taken)
    return [index for index, _ in zip(free, range(missing), strict=False)]


def _pod(item: Json, finalizer: str) -> Json:
    body = pod_from(kinds.JOB, item, item["spec"]["template"])
    uid, name = item["metadata"]["uid"], item["metadata"]["name"]
    own = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    body["metadata"]["labels"] = {**own, **body["metadata"]["labels"]}
    body["metadata"]["finalizers"] = [finalizer]
    return body


def _indexed(item: Json, finalizer: str, index: int) -> Json:
    body = _pod(item, finalizer)
    meta, spec = body["metadata"], body["spec"]
    name = f"{item['metadata']['name']}-{index}"
    meta["generateName"] = f"{name}-"
    meta["annotations"][INDEX] = meta["labels"][INDEX] = str(index)
    body["spec"] = {**spec, "hostname": name, "containers": [_with_index(one) for one in spec["containers"]]}
    if spec.get("initContainers"):
        body["spec"]["initContainers"] = [_with_index(one) for one in spec["initContainers"]]
    return body


def _with_index(container: Json) -> Json:
    """The container told its index, unless its author set the variable already."""
    known = container.get("env") or []
    if any(item["name"] == "JOB_COMPLETION_INDEX" for item in known):
        return container
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*known, {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}]}
