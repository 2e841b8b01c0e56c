"""What single kinds mean, beyond the cases shared with upstream."""

import pytest

from quorate.api import labels
from quorate.api.meta import Json
from quorate.grouping.grouper import group
from quorate.grouping.registry import TABLE
from tests.fakes.grouped import context, grouped, only_gang, places, pod, refusals, thing, tree, warnings


def test_pods_of_a_deployment_are_gangs_of_their_own() -> None:
    owner = thing("apps/v1", "Deployment", "web")
    sets = thing("apps/v1", "ReplicaSet", "web-1", owner)
    found = grouped([pod("a", sets), pod("b", sets)], sets, owner)
    assert len(found.gangs) == 2
    assert {gang.body["spec"]["priorityClassName"] for gang in found.gangs} == {"inference"}


def test_a_deployment_can_ask_to_be_one_gang() -> None:
    owner = thing(
        "apps/v1", "Deployment", "web", annotations={labels.GROUP_AS: "one", labels.MIN_MEMBER: "2"}
    )
    sets = thing("apps/v1", "ReplicaSet", "web-1", owner)
    gang = only_gang([pod("a", sets), pod("b", sets)], sets, owner)
    assert (len(gang.members), gang.body["spec"]["minMember"]) == (2, 2)


def test_an_unknown_way_to_group_is_refused() -> None:
    owner = thing("apps/v1", "Deployment", "web", annotations={labels.GROUP_AS: "all"})
    assert "'all' is neither" in refusals(grouped([pod("a", owner)], owner))[0]


def test_segments_of_workers_follow_their_index() -> None:
    roles = {"Master": {"replicas": 1}, "Worker": {"replicas": 4}}
    owner = thing("kubeflow.org/v1", "PyTorchJob", "pt", spec={"pytorchReplicaSpecs": roles})
    members = [
        pod(
            f"w{index}",
            owner,
            labels={
                "training.kubeflow.org/replica-type": "worker",
                "training.kubeflow.org/replica-index": str(index),
            },
            annotations={labels.SEGMENT_SIZE: "2"},
        )
        for index in range(4)
    ]
    gang = only_gang(members, owner)
    assert places(gang) == {"w0": "worker-0", "w1": "worker-0", "w2": "worker-1", "w3": "worker-1"}
    assert tree(gang)[1:] == [("worker", None, 2), ("worker-0", "worker", 2), ("worker-1", "worker", 2)]


def test_pods_of_other_schedulers_and_opted_out_pods_are_left_alone() -> None:
    pods = [
        pod("other", spec={"schedulerName": "default-scheduler"}),
        pod("out", annotations={labels.SKIP_POD_GROUPER: "true"}),
        pod("mine", annotations={labels.POD_GROUP_NAME: "my-gang"}),
        pod("done", status={"phase": "Succeeded"}),
    ]
    assert group(pods, context()).gangs == ()


def test_an_owner_can_opt_out_for_its_pods() -> None:
    owner = thing("batch/v1", "Job", "train", annotations={labels.SKIP_POD_GROUPER: "true"})
    assert grouped([pod("a", owner)], owner).gangs == ()


def test_every_rule_of_the_table_is_named_by_group_and_kind() -> None:
    assert all("/" not in group_name and kind for group_name, kind in TABLE)
    assert list(TABLE) == sorted(TABLE)


def test_a_leader_worker_set_can_be_one_gang_of_its_groups() -> None:
    owner = thing(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "llm",
        annotations={labels.MIN_GROUPS: "3"},
        spec={"replicas": 4, "leaderWorkerTemplate": {"size": 2}},
    )
    member = pod("llm-1", owner, labels={labels.LWS_GROUP_INDEX: "1", labels.LWS_WORKER_INDEX: "0"})
    gang = only_gang([member], owner)
    assert (gang.body["spec"]["minSubGroup"], gang.body["spec"]["minMember"]) == (3, 6)
    assert tree(gang)[:3] == [
        ("group-0", None, 2),
        ("group-0-leader", "group-0", 1),
        ("group-0-workers", "group-0", 1),
    ]
    assert [name for name, parent, _ in tree(gang) if parent is None] == [
        f"group-{index}" for index in range(4)
    ]
    assert places(gang) == {"llm-1": "group-1-leader"}


def lws(**spec: object) -> Json:
    template = {"size": 4, "subGroupPolicy": {"subGroupSize": 2}}
    return thing(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "llm",
        spec={"leaderWorkerTemplate": template, **spec},
    )


def test_a_start_up_policy_that_nobody_knows_is_refused() -> None:
    owner = lws(startupPolicy="Leaders")
    assert "spec.startupPolicy: 'Leaders' is neither" in refusals(grouped([pod("llm-0", owner)], owner))[0]


def test_a_worker_of_a_set_with_segments_says_its_index() -> None:
    member = pod("llm-0", lws(), labels={labels.LWS_GROUP_INDEX: "0"})
    assert f"label {labels.LWS_WORKER_INDEX} is missing" in refusals(grouped([member], lws()))[0]


def test_a_size_annotation_that_is_no_size_leaves_the_size_of_the_set_and_a_warning() -> None:
    said = {labels.LWS_GROUP_INDEX: "0", labels.LWS_WORKER_INDEX: "1"}
    found = grouped([pod("llm-0-1", lws(), labels=said, annotations={labels.LWS_SIZE: "four"})], lws())
    assert found.gangs[0].body["spec"]["minMember"] == 4
    assert [text for text in warnings(found) if "'four' is not a whole number" in text]


def test_segments_take_the_topology_of_the_job_where_only_that_names_one() -> None:
    levels = {labels.SEGMENT_SIZE: "2", labels.SEGMENT_TOPOLOGY_REQUIRED: "rack"}
    worker = {"replicas": 2, "template": {"metadata": {"annotations": levels}}}
    owner = thing(
        "kubeflow.org/v1",
        "PyTorchJob",
        "pt",
        annotations={labels.TOPOLOGY: "site"},
        spec={"pytorchReplicaSpecs": {"Worker": worker}},
    )
    said = {"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "0"}
    groups = only_gang([pod("w0", owner, labels=said)], owner).body["spec"]["subGroups"]
    assert groups[1]["topologyConstraint"] == {"topology": "site", "requiredTopologyLevel": "rack"}


def test_a_topology_without_a_level_constrains_no_replica_of_a_job_set() -> None:
    template = {"metadata": {"annotations": {labels.TOPOLOGY: "site"}}}
    jobs = [{"name": "w", "replicas": 1, "template": template}]
    owner = thing("jobset.x-k8s.io/v1alpha2", "JobSet", "js", spec={"replicatedJobs": jobs})
    said = {"jobset.sigs.k8s.io/replicatedjob-name": "w", "jobset.sigs.k8s.io/job-index": "0"}
    groups = only_gang([pod("js-w-0", owner, labels=said)], owner).body["spec"]["subGroups"]
    assert all("topologyConstraint" not in each for each in groups)


def test_masters_that_a_job_does_not_have_are_no_group() -> None:
    roles = {"Master": {"replicas": 0}, "Worker": {"replicas": 2}}
    policy = {"schedulingPolicy": {"minAvailable": 2}}
    owner = thing(
        "kubeflow.org/v1", "PyTorchJob", "pt", spec={"pytorchReplicaSpecs": roles, "runPolicy": policy}
    )
    member = pod("w0", owner, labels={"training.kubeflow.org/replica-type": "worker"})
    assert tree(only_gang([member], owner)) == [("worker", None, 2)]


@pytest.mark.parametrize(
    ("version", "kind"),
    [("serving.kserve.io/v1beta1", "InferenceService"), ("argoproj.io/v1alpha1", "CronWorkflow")],
)
def test_what_only_wraps_a_workload_hands_its_labels_down(version: str, kind: str) -> None:
    top = thing(version, kind, "top", labels={labels.QUEUE: "serving"})
    owner = thing("apps/v1", "Deployment", "llm", top)
    sets = thing("apps/v1", "ReplicaSet", "llm-1", owner)
    found = grouped([pod("a", sets), pod("b", sets)], sets, owner, top)
    specs = [gang.body["spec"] for gang in found.gangs]
    assert [(spec["queue"], spec["priorityClassName"]) for spec in specs] == [("serving", "inference")] * 2


def test_each_pod_of_a_daemon_set_is_a_gang() -> None:
    owner = thing("apps/v1", "DaemonSet", "agent")
    assert len(grouped([pod("a", owner), pod("b", owner)], owner).gangs) == 2


def test_driver_and_executors_of_a_spark_application_are_one_gang() -> None:
    owner = thing(
        "sparkoperator.k8s.io/v1beta2", "SparkApplication", "pi", annotations={labels.MIN_MEMBER: "2"}
    )
    driver = pod("pi-driver", owner)
    executor = pod("pi-exec-1", thing("v1", "Pod", "pi-driver", owner))
    gang = only_gang([driver, executor], owner, thing("v1", "Pod", "pi-driver", owner))
    assert (len(gang.members), gang.body["spec"]["minMember"]) == (2, 2)


def test_the_pods_of_a_spark_application_without_an_operator_are_one_gang_with_a_valid_name() -> None:
    said = {"spark-app-name": "pi", "spark-app-selector": "Spark_1"}
    driver = pod("driver", labels=said)
    executor = pod("executor", thing("v1", "Pod", "driver", labels=said), labels=said)
    gang = only_gang([driver, executor], thing("v1", "Pod", "driver", labels=said))
    assert len(gang.members) == 2
    assert gang.name.startswith("spark-1-")
