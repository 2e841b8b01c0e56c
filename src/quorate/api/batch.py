"""Job and CronJob, as the grouper and the workloads read them."""

import msgspec

from quorate.api.meta import Condition, Kind, Object, ObjectMeta, Wire
from quorate.api.podspec import LabelSelector, PodTemplate

JOB = Kind("batch", "v1", "Job", "jobs")
CRON_JOB = Kind("batch", "v1", "CronJob", "cronjobs")


class JobSpec(Wire):
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int | None = None
    suspend: bool = False
    selector: LabelSelector | None = None
    template: PodTemplate = msgspec.field(default_factory=PodTemplate)


class JobStatus(Wire):
    active: int = 0
    ready: int | None = None
    succeeded: int = 0
    failed: int = 0
    conditions: list[Condition] | None = None
    start_time: str | None = None
    completion_time: str | None = None


class Job(Object):
    spec: JobSpec = msgspec.field(default_factory=JobSpec)
    status: JobStatus = msgspec.field(default_factory=JobStatus)


class JobTemplate(Wire):
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: JobSpec = msgspec.field(default_factory=JobSpec)


class CronJobSpec(Wire):
    schedule: str = ""
    suspend: bool = False
    job_template: JobTemplate = msgspec.field(default_factory=JobTemplate)


class CronJob(Object):
    spec: CronJobSpec = msgspec.field(default_factory=CronJobSpec)
