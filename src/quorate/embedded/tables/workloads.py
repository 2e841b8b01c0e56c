"""The rows of the kinds that make pods."""

from quorate.api.meta import Json
from quorate.embedded.tables.age import epoch, human, since
from quorate.embedded.tables.printer import (
    CONTAINERS,
    NAME,
    SELECTOR,
    Cell,
    Column,
    Printer,
    age,
    columns,
    condition_is_true,
    count,
    fields,
    name,
    of_containers,
    pairs,
    selector,
    text,
)

_JOB_STATES = (("Complete", "Complete"), ("Failed", "Failed"))
_JOB_LATE_STATES = (
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def _pods(obj: Json) -> list[Cell]:
    return of_containers(fields(obj, "spec", "template", "spec"))


def deployment(obj: Json, now: float) -> list[Cell]:
    ready = f"{count(obj, 'status', 'readyReplicas')}/{count(obj, 'spec', 'replicas')}"
    updated, available = count(obj, "status", "updatedReplicas"), count(obj, "status", "availableReplicas")
    wide = [*_pods(obj), selector(fields(obj, "spec", "selector"))]
    return [name(obj), ready, updated, available, age(obj, now), *wide]


def scale(obj: Json, now: float) -> list[Cell]:
    return [name(obj), count(obj, "spec", "replicas"), count(obj, "status", "replicas"), age(obj, now)]


def replica_set(obj: Json, now: float) -> list[Cell]:
    counts = (("spec", "replicas"), ("status", "replicas"), ("status", "readyReplicas"))
    wide = [*_pods(obj), selector(fields(obj, "spec", "selector"))]
    return [name(obj), *(count(obj, *path) for path in counts), age(obj, now), *wide]


def replication_controller(obj: Json, now: float) -> list[Cell]:
    counts = (("spec", "replicas"), ("status", "replicas"), ("status", "readyReplicas"))
    wide = [*_pods(obj), pairs(fields(obj, "spec", "selector"))]
    return [name(obj), *(count(obj, *path) for path in counts), age(obj, now), *wide]


def stateful_set(obj: Json, now: float) -> list[Cell]:
    ready = f"{count(obj, 'status', 'readyReplicas')}/{count(obj, 'spec', 'replicas')}"
    return [name(obj), ready, age(obj, now), *_pods(obj)]


def daemon_set(obj: Json, now: float) -> list[Cell]:
    numbers = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    nodes = pairs(fields(obj, "spec", "template", "spec", "nodeSelector"))
    wide = [*_pods(obj), selector(fields(obj, "spec", "selector"))]
    return [name(obj), *(count(obj, "status", one) for one in numbers), nodes, age(obj, now), *wide]


def job(obj: Json, now: float) -> list[Cell]:
    wide = [*_pods(obj), selector(fields(obj, "spec", "selector"))]
    return [name(obj), _job_state(obj), _completions(obj), _duration(obj, now), age(obj, now), *wide]


def _completions(obj: Json) -> str:
    done, wanted = count(obj, "status", "succeeded"), fields(obj, "spec").get("completions")
    if wanted is not None:
        return f"{done}/{wanted}"
    parallelism = count(obj, "spec", "parallelism")
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _duration(obj: Json, now: float) -> str:
    start, end = text(obj, "status", "startTime"), text(obj, "status", "completionTime")
    if not start:
        return ""
    return human((epoch(end) if end else now) - epoch(start))


def _job_state(obj: Json) -> str:
    conditions = fields(obj, "status").get("conditions")
    for kind, shown in _JOB_STATES:
        if condition_is_true(conditions, kind):
            return shown
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    late = (shown for kind, shown in _JOB_LATE_STATES if condition_is_true(conditions, kind))
    return next(late, "Running")


def cron_job(obj: Json, now: float) -> list[Cell]:
    spec = obj["spec"]
    last = fields(obj, "status").get("lastScheduleTime")
    inner = fields(spec, "jobTemplate", "spec")
    return [
        name(obj),
        text(spec, "schedule"),
        text(spec, "timeZone", absent="<none>"),
        "True" if spec.get("suspend") else "False",
        len(fields(obj, "status").get("active") or ()),
        since(last, now) if last else "<none>",
        age(obj, now),
        *of_containers(fields(inner, "template", "spec")),
        selector(inner.get("selector")),
    ]


def controller_revision(obj: Json, now: float) -> list[Cell]:
    owners = obj["metadata"].get("ownerReferences") or ()
    owner = next((one for one in owners if one.get("controller")), None)
    shown = "<none>"
    if owner is not None:
        group = owner.get("apiVersion", "").rpartition("/")[0]
        shown = f"{owner['kind']}.{group}".rstrip(".").lower() + f"/{owner['name']}"
    return [name(obj), shown, obj.get("revision", 0), age(obj, now)]


def disruption_budget(obj: Json, now: float) -> list[Cell]:
    spec = obj.get("spec") or {}
    bounds = [
        str(spec[field]) if spec.get(field) is not None else "N/A"
        for field in ("minAvailable", "maxUnavailable")
    ]
    return [name(obj), *bounds, count(obj, "status", "disruptionsAllowed"), age(obj, now)]


def autoscaler(obj: Json, now: float) -> list[Cell]:
    spec, status = obj["spec"], obj.get("status") or {}
    target = fields(spec, "scaleTargetRef")
    return [
        name(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _metrics(spec.get("metrics") or [], status.get("currentMetrics") or []),
        text(spec, "minReplicas", absent="<unset>"),
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        age(obj, now),
    ]


def _metrics(wanted: list[Json], current: list[Json]) -> str:
    if not wanted:
        return "<none>"
    shown: list[str] = []
    for index, metric in enumerate(wanted):
        kind = str(metric.get("type", ""))
        field = kind[:1].lower() + kind[1:]
        target = fields(metric, field, "target")
        now = fields(current[index], field, "current") if index < len(current) else {}
        prefix = f"{metric[field]['name']}: " if field in {"resource", "containerResource"} else ""
        shown.append(f"{prefix}{_measure(now, '<unknown>')}/{_measure(target, '<auto>')}")
    if len(shown) > 2:
        return f"{', '.join(shown[:2])} + {len(shown) - 2} more..."
    return ", ".join(shown)


def _measure(value: Json, absent: str) -> str:
    if value.get("averageUtilization") is not None:
        return f"{value['averageUtilization']}%"
    return str(value.get("averageValue") or value.get("value") or absent)


_REPLICAS = columns(NAME, "#Desired", "#Current", "#Ready", "Age", *CONTAINERS, SELECTOR)

PRINTERS = {
    ("apps", "Deployment"): Printer(
        columns(NAME, "Ready", "Up-to-date", "Available", "Age", *CONTAINERS, SELECTOR), deployment
    ),
    ("autoscaling", "Scale"): Printer(columns(NAME, "#Desired", "#Available", Column("Age", "date")), scale),
    ("apps", "ReplicaSet"): Printer(_REPLICAS, replica_set),
    ("", "ReplicationController"): Printer(_REPLICAS, replication_controller),
    ("apps", "StatefulSet"): Printer(columns(NAME, "Ready", "Age", *CONTAINERS), stateful_set),
    ("apps", "DaemonSet"): Printer(
        columns(
            NAME,
            *("#Desired", "#Current", "#Ready", "#Up-to-date", "#Available", "Node Selector", "Age"),
            *CONTAINERS,
            SELECTOR,
        ),
        daemon_set,
    ),
    ("apps", "ControllerRevision"): Printer(
        columns(NAME, "Controller", "Revision", "Age"), controller_revision
    ),
    ("batch", "Job"): Printer(
        columns(NAME, "Status", "Completions", "Duration", "Age", *CONTAINERS, SELECTOR), job
    ),
    ("batch", "CronJob"): Printer(
        columns(
            NAME,
            *("Schedule", "Timezone", "?Suspend", "#Active", "Last Schedule", "Age"),
            *CONTAINERS,
            SELECTOR,
        ),
        cron_job,
    ),
    ("policy", "PodDisruptionBudget"): Printer(
        columns(NAME, "Min Available", "Max Unavailable", "#Allowed Disruptions", "Age"), disruption_budget
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Printer(
        columns(NAME, "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"), autoscaler
    ),
}
