from typing import Any

from quorate.workloads.builtin import fakery, kinds
from tests.fakes.small_cluster import SmallCluster, pod_template, run


def test_completes_when_enough_pods_succeed() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job(parallelism=2, completions=5))
        await cluster.advance(3)
        assert cluster.get(kinds.JOB, "train")["status"]["active"] == 2
        await cluster.advance(60)
        found = cluster.get(kinds.JOB, "train")
        assert found["status"]["succeeded"] == 5
        assert cluster.condition(found, "Complete")["reason"] == "CompletionsReached"
        assert cluster.condition(found, "SuccessCriteriaMet")["status"] == "True"
        assert "completionTime" in found["status"]
        assert len(cluster.names(kinds.POD)) == 5
        assert all(not item["metadata"].get("finalizers") for item in cluster.all(kinds.POD))

    run(scenario)


def test_indexed_pods_know_their_index() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job(parallelism=3, completions=3, completionMode="Indexed"))
        names = sorted(cluster.names(kinds.POD))
        assert [name.rsplit("-", 1)[0] for name in names] == ["train-0", "train-1", "train-2"]
        second = cluster.get(kinds.POD, names[1])
        assert second["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "1"
        assert second["spec"]["hostname"] == "train-1"
        assert second["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"
        await cluster.advance(30)
        assert cluster.get(kinds.JOB, "train")["status"]["completedIndexes"] == "0-2"

    run(scenario)


def test_too_many_failures_fail_the_job() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job({fakery.EXIT_CODE: "3", fakery.RUN: "1"}, backoffLimit=2))
        await cluster.advance(300)
        found = cluster.get(kinds.JOB, "train")
        assert found["status"]["failed"] == 3
        assert cluster.condition(found, "FailureTarget")["reason"] == "BackoffLimitExceeded"
        failed = cluster.condition(found, "Failed")
        assert failed["message"] == "Job has reached the specified backoff limit"

    run(scenario)


def test_failures_are_retried_with_growing_delay() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job({fakery.EXIT_CODE: "1", fakery.RUN: "1"}, backoffLimit=6))
        await cluster.advance(5)
        assert len(cluster.names(kinds.POD)) == 1
        await cluster.advance(10)
        assert len(cluster.names(kinds.POD)) == 2
        await cluster.advance(10)
        assert len(cluster.names(kinds.POD)) == 2

    run(scenario)


def test_deadline_ends_the_job_and_its_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job({fakery.RUN: "1000"}, activeDeadlineSeconds=20))
        await cluster.advance(19)
        assert cluster.get(kinds.JOB, "train")["status"]["active"] == 1
        await cluster.advance(5)
        found = cluster.get(kinds.JOB, "train")
        assert cluster.condition(found, "Failed")["reason"] == "DeadlineExceeded"
        assert cluster.names(kinds.POD) == []

    run(scenario)


def test_ttl_removes_a_finished_job_and_its_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job(ttlSecondsAfterFinished=30))
        await cluster.advance(20)
        assert cluster.names(kinds.JOB) == ["train"]
        await cluster.advance(40)
        assert cluster.names(kinds.JOB) == []
        assert cluster.names(kinds.POD) == []

    run(scenario)


def test_suspend_stops_pods_and_resume_starts_them_again() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job({fakery.RUN: "20"}, suspend=True))
        await cluster.advance(5)
        assert cluster.names(kinds.POD) == []
        assert cluster.condition(cluster.get(kinds.JOB, "train"), "Suspended")["status"] == "True"
        await cluster.merge(kinds.JOB, "train", {"spec": {"suspend": False}})
        await cluster.advance(5)
        assert cluster.get(kinds.JOB, "train")["status"]["active"] == 1
        await cluster.merge(kinds.JOB, "train", {"spec": {"suspend": True}})
        await cluster.advance(5)
        assert cluster.names(kinds.POD) == []
        await cluster.merge(kinds.JOB, "train", {"spec": {"suspend": False}})
        await cluster.advance(40)
        found = cluster.get(kinds.JOB, "train")
        assert cluster.condition(found, "Complete")["status"] == "True"

    run(scenario)


def test_pod_failure_policy_fails_the_job_at_once() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        codes = {"operator": "In", "values": [42]}
        policy = {"rules": [{"action": "FailJob", "onExitCodes": codes}]}
        await cluster.create(_job({fakery.EXIT_CODE: "42", fakery.RUN: "1"}, podFailurePolicy=policy))
        await cluster.advance(10)
        failed = cluster.condition(cluster.get(kinds.JOB, "train"), "Failed")
        assert failed["reason"] == "PodFailurePolicy"
        assert "failed with exit code 42 matching FailJob rule at index 0" in failed["message"]

    run(scenario)


def test_success_policy_ends_the_job_early() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        rules = {"rules": [{"succeededIndexes": "0", "succeededCount": 1}]}
        body = _job(parallelism=1, completions=5, completionMode="Indexed", successPolicy=rules)
        await cluster.create(body)
        await cluster.advance(15)
        found = cluster.get(kinds.JOB, "train")
        assert cluster.condition(found, "Complete")["reason"] == "SuccessPolicy"

    run(scenario)


def test_a_deleted_finished_pod_stays_counted() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job(parallelism=1, completions=2))
        await cluster.advance(7)
        first = next(item for item in cluster.all(kinds.POD) if item["status"]["phase"] == "Succeeded")
        await cluster.delete(kinds.POD, first["metadata"]["name"])
        await cluster.advance(30)
        found = cluster.get(kinds.JOB, "train")
        assert found["status"]["succeeded"] == 2
        assert len(cluster.names(kinds.POD)) == 1

    run(scenario)


def test_pods_of_a_deleted_job_are_let_go() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        body = _job(parallelism=2)
        body["spec"]["template"]["spec"]["schedulerName"] = "nobody"
        await cluster.create(body)
        assert len(cluster.names(kinds.POD)) == 2
        await cluster.delete(kinds.JOB, "train")
        await cluster.advance(1)
        assert cluster.names(kinds.POD) == []

    run(scenario)


def test_pods_of_an_orphaning_job_stay_without_its_finalizer() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.create(_job({fakery.RUN: "100"}))
        await cluster.advance(2)
        await cluster.delete(kinds.JOB, "train", propagation="Orphan")
        await cluster.advance(1)
        (left,) = cluster.all(kinds.POD)
        assert "finalizers" not in left["metadata"]

    run(scenario)


def _job(notes: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    template = pod_template({"app": "train"}, restartPolicy="Never")
    template["metadata"]["annotations"] = notes or {}
    body = {"template": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": body}
