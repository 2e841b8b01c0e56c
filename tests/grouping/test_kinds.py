"""What single kinds mean, beyond the cases shared with upstream."""

from quorate.api import labels
from quorate.grouping.grouper import group
from quorate.grouping.registry import TABLE
from tests.fakes.grouped import context, grouped, only_gang, places, pod, refusals, thing, tree


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
