"""Defaults of the kinds that make pods: replicas, update strategies, back-off, history."""

from quorate.api.meta import Json
from quorate.embedded.defaults.pods import template
from quorate.embedded.defaults.storage import claim_spec

_UNLIMITED = 2**31 - 1


def _spec(obj: Json) -> Json:
    spec: Json = obj.setdefault("spec", {})
    return spec


def fill(fields: Json, **defaults: object) -> None:
    """Set each field that is absent or null."""
    for name, value in defaults.items():
        if fields.get(name) is None:
            fields[name] = value


def deployment(obj: Json) -> None:
    spec = _spec(obj)
    fill(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    strategy = spec["strategy"]
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        fill(strategy, rollingUpdate={})
        fill(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")
    template(spec)


def replica_set(obj: Json) -> None:
    spec = _spec(obj)
    fill(spec, replicas=1)
    template(spec)


def replication_controller(obj: Json) -> None:
    spec = _spec(obj)
    fill(spec, replicas=1)
    labels = template(spec)["metadata"].get("labels")
    if labels:
        fill(spec, selector=dict(labels))
        fill(obj.setdefault("metadata", {}), labels=dict(labels))


def daemon_set(obj: Json) -> None:
    spec = _spec(obj)
    fill(spec, revisionHistoryLimit=10, updateStrategy={})
    strategy = spec["updateStrategy"]
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        fill(strategy, rollingUpdate={})
        fill(strategy["rollingUpdate"], maxUnavailable=1, maxSurge=0)
    template(spec)


def stateful_set(obj: Json) -> None:
    spec = _spec(obj)
    fill(spec, replicas=1, revisionHistoryLimit=10, updateStrategy={})
    spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
    strategy = spec["updateStrategy"]
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        fill(strategy, rollingUpdate={})
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        fill(strategy["rollingUpdate"], partition=0)
    fill(spec, persistentVolumeClaimRetentionPolicy={})
    fill(spec["persistentVolumeClaimRetentionPolicy"], whenDeleted="Retain", whenScaled="Retain")
    for claim in spec.get("volumeClaimTemplates") or ():
        fill(claim, apiVersion="v1", kind="PersistentVolumeClaim", spec={})
        claim_spec(claim["spec"])
        claim["status"] = {"phase": "Pending"}
    template(spec)


def job(obj: Json) -> None:
    labels = job_spec(_spec(obj))["metadata"].get("labels")
    metadata = obj.setdefault("metadata", {})
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)


def job_spec(spec: Json) -> Json:
    """Complete a Job's spec and return its pod template."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    fill(
        spec,
        parallelism=1,
        backoffLimit=6 if spec.get("backoffLimitPerIndex") is None else _UNLIMITED,
        completionMode="NonIndexed",
        suspend=False,
        podReplacementPolicy="Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed",
        manualSelector=False,
    )
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"
    return template(spec)


def cron_job(obj: Json) -> None:
    spec = _spec(obj)
    spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
    fill(spec, suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1, jobTemplate={})
    job_template = spec["jobTemplate"]
    fill(job_template, metadata={}, spec={})
    # The embedded job spec is completed only as far as its pods: the job itself is defaulted when it is made.
    template(job_template["spec"])
