"""Kinds of the group batch; their objects are read as JSON."""

from quorate.api.meta import Kind

JOB = Kind("batch", "v1", "Job", "jobs")
CRON_JOB = Kind("batch", "v1", "CronJob", "cronjobs")
