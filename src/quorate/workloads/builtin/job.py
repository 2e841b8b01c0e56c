"""Job: count what finished, decide whether the whole is over, else keep `parallelism` pods running.

A pod carries the tracking finalizer until it is counted, in three passes: its uid enters
`status.uncountedTerminatedPods`, its finalizer is removed, and only then the count grows. Whatever is
interrupted, no finished pod is lost or counted twice. `job_counts` counts, `job_end` tells the end,
`job_pods` makes pods.
"""

from collections.abc import Sequence

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import kinds, pods
from quorate.workloads.builtin.conditions import find, is_true, put
from quorate.workloads.builtin.instants import epoch, rfc3339
from quorate.workloads.builtin.job_counts import Counts, count, render
from quorate.workloads.builtin.job_end import End, end_of
from quorate.workloads.builtin.job_pods import managed
from quorate.workloads.builtin.outcome import (
    Outcome,
    controller_of,
    delete,
    event,
    is_deleting,
    patch,
    ref,
    soonest,
)

TRACKING = "batch.kubernetes.io/job-tracking"


def job(item: Json, children: Sequence[Json], now: float) -> Outcome:
    owned = [pod for pod in children if (controller_of(pod) or {}).get("uid") == item["metadata"]["uid"]]
    counts = count(item, owned, TRACKING)
    freed = _free(item, owned)
    if _is_over(item) or is_deleting(item):
        changes, wake = _expire(item, now)
        released = [*freed, *_free_rest(item, owned)]
        return Outcome((*released, *changes), _settled(item, counts), wake)
    end = end_of(item, owned, counts, now)
    if end is not None:
        return _finish(item, owned, counts, end, freed, now)
    return _run(item, owned, counts, freed, now)


def _is_over(item: Json) -> bool:
    conditions = item.get("status", {}).get("conditions")
    return is_true(conditions, "Complete") or is_true(conditions, "Failed")


def _settled(item: Json, counts: Counts) -> Json:
    """The status of a finished Job: only the counting of its last pods goes on."""
    return render(item, item.get("status", {}), counts)


def _free(item: Json, owned: Sequence[Json]) -> list[Change]:
    """Remove the finalizer of pods that the stored status has noted."""
    noted = item.get("status", {}).get("uncountedTerminatedPods") or {}
    uids = {*(noted.get("succeeded") or ()), *(noted.get("failed") or ())}
    return [_untrack(pod) for pod in owned if pod["metadata"]["uid"] in uids and _is_tracked(pod)]


def _free_rest(item: Json, owned: Sequence[Json]) -> list[Change]:
    """Nothing more is counted once the Job is over: every pod left goes free."""
    noted = item.get("status", {}).get("uncountedTerminatedPods") or {}
    uids = {*(noted.get("succeeded") or ()), *(noted.get("failed") or ())}
    changes: list[Change] = []
    for pod in owned:
        if _is_tracked(pod) and pod["metadata"]["uid"] not in uids:
            changes.append(_untrack(pod))
        if pods.is_active(pod) and not is_deleting(item):
            changes.append(delete(kinds.POD, pod))
    return changes


def released(pods_left: Sequence[Json]) -> list[Change]:
    """Nobody counts the pods of a Job that is gone, so they go free."""
    return [_untrack(pod) for pod in pods_left if _is_tracked(pod)]


def _is_tracked(pod: Json) -> bool:
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def _untrack(pod: Json) -> Change:
    kept = [name for name in pod["metadata"].get("finalizers") or () if name != TRACKING]
    return patch(kinds.POD, pod, {"metadata": {"finalizers": kept or None}})


def _expire(item: Json, now: float) -> tuple[list[Change], float | None]:
    """`ttlSecondsAfterFinished` deletes the Job that long after its end."""
    ttl = item["spec"].get("ttlSecondsAfterFinished")
    if ttl is None or is_deleting(item):
        return [], None
    conditions = item.get("status", {}).get("conditions")
    last = next(cond for kind in ("Complete", "Failed") if (cond := find(conditions, kind)) is not None)
    due = epoch(last["lastTransitionTime"]) + ttl
    return ([delete(kinds.JOB, item)], None) if now >= due else ([], due)


def _finish(
    item: Json, owned: Sequence[Json], counts: Counts, end: End, freed: list[Change], now: float
) -> Outcome:
    """First the verdict (SuccessCriteriaMet, FailureTarget), then, with all pods ended, the last one."""
    running = [pod for pod in owned if pods.is_active(pod)]
    stopping = [pod for pod in owned if is_deleting(pod) and not pods.is_finished(pod)]
    stops = [delete(kinds.POD, pod) for pod in running]
    at, status = rfc3339(now), item.get("status", {})
    conditions = put(status.get("conditions"), _condition(end.target, end, now), at)
    changes: list[Change] = [*freed, *stops]
    after = render(item, status, counts, stopping=len(stopping) + len(running))
    after["conditions"] = conditions
    after.setdefault("startTime", at)
    if not running and not stopping and not counts.is_pending:
        after["conditions"] = put(conditions, _condition(end.terminal, end, now), at)
        if end.is_success:
            after["completionTime"] = at
        changes.append(_final_event(item, end))
    return Outcome(tuple(changes), after)


def _condition(kind: str, end: End, now: float) -> Json:
    return {
        "type": kind,
        "status": "True",
        "reason": end.reason,
        "message": end.message,
        "lastProbeTime": rfc3339(now),
    }


def _final_event(item: Json, end: End) -> Change:
    about = ref(kinds.JOB, item)
    return event(about, "Completed", "Job completed") if end.is_success else end.warning(about)


def _run(item: Json, owned: Sequence[Json], counts: Counts, freed: list[Change], now: float) -> Outcome:
    """Start or stop pods, and look again at the deadline or when a back-off ends."""
    spec, status = item["spec"], dict(item.get("status", {}))
    suspended = bool(spec.get("suspend"))
    status, notes = _suspension(item, status, now, suspended=suspended)
    if suspended:
        changes: list[Change] = [delete(kinds.POD, pod) for pod in owned if pods.is_active(pod)]
        wake = None
    else:
        changes, wake = managed(item, owned, counts, TRACKING, now)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and "startTime" in status:
        wake = soonest(wake, epoch(status["startTime"]) + deadline)
    return Outcome((*freed, *notes, *changes), _live(item, status, owned, counts), wake)


def _live(item: Json, status: Json, owned: Sequence[Json], counts: Counts) -> Json:
    active = [pod for pod in owned if pods.is_active(pod)]
    stopping = sum(is_deleting(pod) and not pods.is_finished(pod) for pod in owned)
    ready = sum(pods.is_ready(pod) for pod in active)
    return render(item, status, counts, active=len(active), ready=ready, stopping=stopping)


def _suspension(item: Json, status: Json, now: float, *, suspended: bool) -> tuple[Json, list[Change]]:
    """A suspended Job has no start time; resuming sets a new one."""
    before, at, about = find(status.get("conditions"), "Suspended"), rfc3339(now), ref(kinds.JOB, item)
    was = before is not None and before["status"] == "True"
    if suspended and not was:
        note = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}
        status = {**status, "conditions": put(status.get("conditions"), {**note, "lastProbeTime": at}, at)}
        status.pop("startTime", None)
        return status, [event(about, "Suspended", "Job suspended")]
    if not suspended and was:
        note = {"type": "Suspended", "status": "False", "reason": "JobResumed", "message": "Job resumed"}
        conditions = put(status.get("conditions"), {**note, "lastProbeTime": at}, at)
        return {**status, "conditions": conditions, "startTime": at}, [event(about, "Resumed", "Job resumed")]
    if not suspended and "startTime" not in status:
        return {**status, "startTime": at}, []
    return status, []
