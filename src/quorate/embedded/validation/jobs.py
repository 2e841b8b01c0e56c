"""Rules of jobs and cron jobs."""

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, invalid, not_supported, required
from quorate.embedded.validation.labelselectors import label_selector, selects
from quorate.embedded.validation.metadata import unchanged
from quorate.embedded.validation.pods import template
from quorate.embedded.validation.workloads import counts

_COMPLETION_MODES = ("NonIndexed", "Indexed")
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_FIXED = (
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_SCHEDULING = ("affinity", "nodeSelector", "tolerations", "schedulingGates")
_CRON_FIELDS = 5
_LONGEST_CRON_NAME = 52


def job(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    spec = obj["spec"]
    selector = spec.get("selector")
    if selector is None:
        found.append(required("spec.selector"))
        _job_spec(found, spec, "spec")
        return found
    if not spec.get("manualSelector") and not _is_generated(selector):
        found.append(invalid("spec.selector", selector, "`selector` not auto-generated"))
    broken = label_selector(selector, "spec.selector")
    found += broken
    _job_spec(found, spec, "spec")
    labels = spec["template"]["metadata"].get("labels") or {}
    if not broken and not selects(selector, labels):
        detail = "`selector` does not match template `labels`"
        found.append(invalid("spec.template.metadata.labels", labels, detail))
    return found


def _is_generated(selector: Json) -> bool:
    """Creation adds the label of the controller to whatever the user selects by, which should be nothing."""
    return set(selector) == {"matchLabels"} and len(selector["matchLabels"]) == 1


def _job_spec(found: list[Cause], spec: Json, path: str) -> None:
    counts(found, spec, *_COUNTS, path=path)
    mode = spec.get("completionMode")
    if mode is not None and mode not in _COMPLETION_MODES:
        found.append(not_supported(f"{path}.completionMode", mode, _COMPLETION_MODES))
    if mode == "Indexed" and spec.get("completions") is None:
        found.append(required(f"{path}.completions", "when completion mode is Indexed"))
    if mode in {None, "NonIndexed"}:
        indexed = [one for one in ("backoffLimitPerIndex", "maxFailedIndexes") if spec.get(one) is not None]
        found += [invalid(f"{path}.{one}", spec[one], "requires indexed completion mode") for one in indexed]
    found += template(spec, f"{path}.template")
    _restart_policy(found, spec, f"{path}.template.spec.restartPolicy")


def _restart_policy(found: list[Cause], spec: Json, path: str) -> None:
    policy = spec["template"]["spec"]["restartPolicy"]
    if policy == "Always":
        # Always is what defaulting writes, so the user most likely said nothing.
        found.append(required(path, 'valid values: "OnFailure", "Never"'))
    elif policy not in {"OnFailure", "Never"}:
        found.append(not_supported(path, policy, ("OnFailure", "Never")))
    elif spec.get("podFailurePolicy") and policy != "Never":
        found.append(invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified'))


def job_update(new: Json, old: Json) -> list[Cause]:
    found: list[Cause] = []
    after, before = new["spec"], old["spec"]
    unchanged(found, after, before, "spec", *_FIXED)
    if after.get("completions") != before.get("completions"):
        elastic = after.get("completionMode") == "Indexed" and after.get("completions") == after.get(
            "parallelism"
        )
        if not elastic:
            detail = (
                "field is immutable"
                if after.get("completionMode") != "Indexed"
                else "can only be modified in tandem with spec.parallelism"
            )
            found.append(invalid("spec.completions", after.get("completions"), detail))
    suspended = before.get("suspend") and not (old.get("status") or {}).get("startTime")
    if _template(after, scheduling=not suspended) != _template(before, scheduling=not suspended):
        found.append(invalid("spec.template", after["template"], "field is immutable"))
    return found


def _template(spec: Json, *, scheduling: bool) -> Json:
    """What must stay; where pods may go is free while a job waits suspended."""
    if scheduling:
        found: Json = spec["template"]
        return found
    pod = {field: value for field, value in spec["template"]["spec"].items() if field not in _SCHEDULING}
    return {"spec": pod}


def cron_job(obj: Json) -> list[Cause]:
    found: list[Cause] = []
    spec = obj["spec"]
    schedule = spec.get("schedule")
    if not schedule:
        found.append(required("spec.schedule"))
    elif not schedule.startswith("@") and len(schedule.split()) != _CRON_FIELDS:
        detail = f"expected exactly 5 fields, found {len(schedule.split())}: [{schedule}]"
        found.append(invalid("spec.schedule", schedule, detail))
    if spec["concurrencyPolicy"] not in _CONCURRENCY:
        found.append(not_supported("spec.concurrencyPolicy", spec["concurrencyPolicy"], _CONCURRENCY))
    fields = ("startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    counts(found, spec, *fields)
    name = obj["metadata"].get("name", "")
    if len(name) > _LONGEST_CRON_NAME:
        detail = f"must be no more than {_LONGEST_CRON_NAME} characters"
        found.append(invalid("metadata.name", name, detail))
    _job_spec(found, spec["jobTemplate"]["spec"], "spec.jobTemplate.spec")
    return found
