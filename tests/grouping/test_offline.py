"""Workloads of files, grouped with the pods that they would have."""

from typing import Any

import pytest

from quorate.api import labels
from quorate.grouping.offline import Answer, UnreadableError, group_objects
from quorate.grouping.samples import ROLES
from quorate.grouping.subject import Context
from tests.fakes.grouped import places

OURS = {"spec": {"schedulerName": "quorate"}}


def answer(*documents: Any) -> Answer:
    return group_objects(documents, Context())


def workload(version: str, kind: str, spec: Any, **metadata: Any) -> Any:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "w", **metadata}, "spec": spec}


def role(**fields: Any) -> Any:
    return {"template": OURS, **fields}


WORKLOADS = [
    (workload("batch/v1", "Job", role(parallelism=2)), {"w-0": "", "w-1": ""}),
    (workload("apps/v1", "StatefulSet", role(replicas=2)), {"w-0": "", "w-1": ""}),
    (workload("example.com/v1", "Custom", role(replicas=1)), {"w-0": ""}),
    (workload("batch/v1", "CronJob", {"jobTemplate": {"spec": role()}}), {"w-0": ""}),
    (
        workload(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            {"replicatedJobs": [{"name": "a", "replicas": 2, "template": {"spec": role()}}]},
        ),
        {"w-a-0-0": "a-replica-0", "w-a-1-0": "a-replica-1"},
    ),
    (
        workload(
            "kubeflow.org/v1",
            "PyTorchJob",
            {"pytorchReplicaSpecs": {"Master": role(), "Worker": role(replicas=1)}},
        ),
        {"w-master-0": "master", "w-worker-0": "worker"},
    ),
    (
        workload(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"leaderWorkerTemplate": {"size": 2, "workerTemplate": OURS}},
        ),
        {"w-0": "leader", "w-0-1": "workers"},
    ),
    (
        workload(
            "ray.io/v1",
            "RayJob",
            {
                "rayClusterSpec": {
                    "headGroupSpec": role(),
                    "workerGroupSpecs": [role(groupName="g", replicas=1)],
                }
            },
        ),
        {"w-head": "headgroup", "w-g-worker-0": "g"},
    ),
    (
        workload("serving.knative.dev/v1", "Service", {"template": {"spec": {"schedulerName": "quorate"}}}),
        {"w-00001-0": ""},
    ),
    (
        workload(
            "sparkoperator.k8s.io/v1beta2",
            "SparkApplication",
            {
                "driver": {"schedulerName": "quorate"},
                "executor": {"instances": 2, "schedulerName": "quorate"},
            },
        ),
        {"w-driver": "", "w-executor-0": "", "w-executor-1": ""},
    ),
]


@pytest.mark.parametrize(("document", "expected"), WORKLOADS, ids=lambda found: found.get("kind", ""))
def test_a_workload_without_pods_gets_those_it_would_have(document: Any, expected: Any) -> None:
    found = answer(document)
    assert [warned.message for warned in found.warnings if warned.is_refusal] == []
    (gang,) = found.gangs
    assert places(gang) == expected


def test_every_kind_with_roles_of_its_own_is_in_a_test() -> None:
    tested = {kind for document, _ in WORKLOADS for kind in [document["kind"]]}
    alike = {"JAXJob", "MPIJob", "TFJob", "XGBoostJob"}
    below = {"RayCluster", "Revision"}
    assert {kind for _, kind in ROLES} - tested == alike | below | {"PodCliqueSet"}


def test_pods_of_the_file_are_taken_instead() -> None:
    owner = workload("batch/v1", "Job", role(parallelism=2))
    ref = {"apiVersion": "batch/v1", "kind": "Job", "name": "w", "controller": True}
    pod = workload("v1", "Pod", {"schedulerName": "quorate"}, ownerReferences=[ref])
    assert [
        places(gang) for gang in answer(owner, pod | {"metadata": {**pod["metadata"], "name": "p"}}).gangs
    ] == [{"p": ""}]


def test_pods_of_another_scheduler_are_told_what_to_write() -> None:
    found = answer(workload("batch/v1", "Job", {"parallelism": 3, "template": {"spec": {}}}))
    assert found.gangs == ()
    assert [warned.message for warned in found.warnings] == [
        "spec.schedulerName is '': write quorate to have it grouped"
    ]


def test_a_workload_that_other_controllers_expand_is_named() -> None:
    assert answer(workload("trainer.kubeflow.org/v1", "TrainJob", {})).ungrouped == ("TrainJob w",)
    assert answer(workload("grove.io/v1alpha1", "PodCliqueSet", role())).ungrouped == ("PodCliqueSet w",)


def test_a_priority_class_of_the_files_counts() -> None:
    job = workload("batch/v1", "Job", role(), labels={labels.PRIORITY_CLASS: "mine"})
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "mine"}}
    assert answer(job, made).gangs[0].body["spec"]["priorityClassName"] == "mine"
    assert answer(job).gangs[0].body["spec"]["priorityClassName"] == "train"


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"kind": "Job"}, "apiVersion"),
        ({"apiVersion": "batch/v1"}, "kind"),
        ({"apiVersion": "batch/v1", "kind": "Job"}, "metadata.name"),
        (workload("v1", "Pod", {"containers": 3}), "$.spec.containers"),
    ],
)
def test_what_is_no_object_is_refused_by_field(document: Any, field: str) -> None:
    with pytest.raises(UnreadableError, match=field.replace("$", r"\$")):
        answer(document)
