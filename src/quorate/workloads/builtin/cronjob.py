"""CronJob: start a Job at each scheduled time, within its deadline and concurrency policy; keep some history."""

from collections.abc import Sequence
from zoneinfo import ZoneInfoNotFoundError

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.conditions import is_true
from quorate.workloads.builtin.instants import epoch, rfc3339
from quorate.workloads.builtin.outcome import (
    Outcome,
    create,
    delete,
    event,
    is_deleting,
    owner_reference,
    ref,
    warning,
)
from quorate.workloads.builtin.schedule import Schedule, ScheduleError, next_after, parse

_SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_MOST_MISSED = 100


def cronjob(item: Json, jobs: Sequence[Json], now: float) -> Outcome:
    """`jobs` are those it owns."""
    about, active = ref(kinds.CRON_JOB, item), [job for job in jobs if not _is_over(job)]
    status = _status(item, jobs, active)
    changes = _forget(item, jobs)
    if is_deleting(item) or item["spec"].get("suspend"):
        return Outcome(tuple(changes), status)
    try:
        schedule = parse(item["spec"]["schedule"], item["spec"].get("timeZone", ""))
    except (ScheduleError, ZoneInfoNotFoundError) as error:
        return Outcome((*changes, warning(about, "UnparseableSchedule", str(error))), status)
    due, following = _due(item, schedule, now)
    if due is None:
        return Outcome(tuple(changes), status, following)
    if _is_too_late(item, due, now):
        text = f"Missed scheduled time to start a job: {rfc3339(due)}"
        return Outcome((*changes, warning(about, "MissSchedule", text)), _noted(status, due), following)
    policy = item["spec"].get("concurrencyPolicy", "Allow")
    if active and policy == "Forbid":
        text = "Not starting job because prior execution is running and concurrency policy is Forbid"
        return Outcome((*changes, event(about, "JobAlreadyActive", text)), status, following)
    replaced = [delete(kinds.JOB, job) for job in active] if policy == "Replace" else []
    made = _job(item, due)
    note = event(about, "SuccessfulCreate", f"Created job {made['metadata']['name']}")
    started = create(kinds.JOB, made)
    return Outcome((*changes, *replaced, started, note), _noted(status, due), following)


def _due(item: Json, schedule: Schedule, now: float) -> tuple[float | None, float | None]:
    """(the latest scheduled time not yet acted on, the next one to come)."""
    seen = item.get("status", {}).get("lastScheduleTime") or item["metadata"]["creationTimestamp"]
    due: float | None = None
    at = next_after(schedule, epoch(seen))
    missed = 0
    while at is not None and at <= now:
        due, missed = at, missed + 1
        # Far behind, the times in between do not matter.
        at = next_after(schedule, at if missed < _MOST_MISSED else max(at, now - 3600))
    return due, at


def _is_too_late(item: Json, due: float, now: float) -> bool:
    limit = item["spec"].get("startingDeadlineSeconds")
    return limit is not None and now - due > limit


def _noted(status: Json, due: float) -> Json:
    return {**status, "lastScheduleTime": rfc3339(due)}


def _is_over(job: Json) -> bool:
    conditions = job.get("status", {}).get("conditions")
    return is_true(conditions, "Complete") or is_true(conditions, "Failed")


def _status(item: Json, jobs: Sequence[Json], active: Sequence[Json]) -> Json:
    kept = {key: value for key, value in item.get("status", {}).items() if key != "active"}
    ends = [end for job in jobs if (end := job.get("status", {}).get("completionTime"))]
    if ends:
        kept["lastSuccessfulTime"] = max([*ends, kept.get("lastSuccessfulTime", "")])
    references = [
        {
            "apiVersion": kinds.JOB.api_version,
            "kind": "Job",
            "name": job["metadata"]["name"],
            "namespace": job["metadata"]["namespace"],
            "uid": job["metadata"]["uid"],
        }
        for job in active
    ]
    return {**kept, "active": references} if references else kept


def _forget(item: Json, jobs: Sequence[Json]) -> list[Change]:
    """Finished Jobs beyond the history limits go, oldest first."""
    changes: list[Change] = []
    limits = (("Complete", "successfulJobsHistoryLimit", 3), ("Failed", "failedJobsHistoryLimit", 1))
    for condition, field, default in limits:
        ended = [job for job in jobs if is_true(job.get("status", {}).get("conditions"), condition)]
        ended.sort(key=lambda job: job["status"].get("startTime", ""))
        surplus = len(ended) - item["spec"].get(field, default)
        changes += [delete(kinds.JOB, job) for job in ended[: max(surplus, 0)] if not is_deleting(job)]
    return changes


def _job(item: Json, due: float) -> Json:
    template, meta = item["spec"]["jobTemplate"], item["metadata"]
    given = template.get("metadata", {})
    return {
        "metadata": {
            "name": f"{meta['name']}-{int(due) // 60}",
            "namespace": meta["namespace"],
            "labels": dict(given.get("labels") or {}),
            "annotations": {**(given.get("annotations") or {}), _SCHEDULED_AT: rfc3339(due)},
            "ownerReferences": [owner_reference(kinds.CRON_JOB, item)],
        },
        "spec": template["spec"],
    }
