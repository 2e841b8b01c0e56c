from typing import Any

from quorate.workloads.builtin import fakery, kinds
from tests.fakes.small_cluster import SmallCluster, pod_template, run


def test_starts_a_job_each_minute_and_keeps_some_history() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_cron("1"))
        await cluster.advance(62)
        assert cluster.names(kinds.JOB) == [f"tick-{_minute(cluster)}"]
        await cluster.advance(600)
        assert len(cluster.names(kinds.JOB)) == 3
        status = cluster.get(kinds.CRON_JOB, "tick")["status"]
        assert status["lastScheduleTime"] == "2026-01-01T00:11:00Z"
        assert "lastSuccessfulTime" in status

    run(scenario)


def test_forbid_waits_for_the_running_job() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_cron("150", concurrencyPolicy="Forbid"))
        await cluster.advance(170)
        assert len(cluster.names(kinds.JOB)) == 1
        assert "JobAlreadyActive" in cluster.reasons()
        assert len(cluster.get(kinds.CRON_JOB, "tick")["status"]["active"]) == 1

    run(scenario)


def test_replace_ends_the_running_job() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_cron("150", concurrencyPolicy="Replace"))
        await cluster.advance(125)
        assert cluster.names(kinds.JOB) == [f"tick-{_minute(cluster)}"]

    run(scenario)


def test_a_suspended_schedule_starts_nothing() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_cron("1", suspend=True))
        await cluster.advance(300)
        assert cluster.names(kinds.JOB) == []

    run(scenario)


def _minute(cluster: SmallCluster) -> int:
    return int(cluster.clock.now()) // 60


def _cron(seconds: str, **spec: Any) -> dict[str, Any]:
    template = pod_template({"app": "tick"}, restartPolicy="Never")
    template["metadata"]["annotations"] = {fakery.RUN: seconds}
    body = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"}, "spec": body}
