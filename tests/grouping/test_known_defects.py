"""Defects of the grouper that Quorate is compatible with, and what happens here instead: one test for each.

The numbers are those of the list of known defects in the reference on KAI's pod grouper.
"""

from typing import Any

import msgspec
import pytest

from quorate.api import labels
from quorate.api.meta import Json
from quorate.api.podgroup import PodGroup
from quorate.grouping import writes
from quorate.grouping.grouper import Gang, group
from quorate.grouping.kinds.kubeflow import REPLICA_INDEX, REPLICA_TYPE
from quorate.grouping.subject import Settings
from quorate.plan import Apply, Patch
from quorate.rules import tree as trees
from tests.fakes.grouped import (
    context,
    grouped,
    only_gang,
    places,
    pod,
    reference,
    refusals,
    thing,
    tree,
    warnings,
)

LWS = "leaderworkerset.x-k8s.io/v1"


def applied(gang: Gang) -> PodGroup:
    """The PodGroup as the API server shows it after the grouper wrote it."""
    (change,) = writes.gang_changes(gang, None, Settings())
    assert isinstance(change, Apply)
    return msgspec.convert(change.body, PodGroup)


def job(**fields: Any) -> Json:
    return thing("batch/v1", "Job", "train", spec={"parallelism": 2}, **fields)


def lws(template: Json, **spec: Any) -> Json:
    return thing(LWS, "LeaderWorkerSet", "llm", spec={"leaderWorkerTemplate": template, **spec})


def lws_pod(owner: Json, worker: str, size: int = 4, **fields: Any) -> Any:
    found = {labels.LWS_GROUP_INDEX: "0", labels.LWS_WORKER_INDEX: worker}
    return pod(f"llm-0-{worker}", owner, labels=found, annotations={labels.LWS_SIZE: str(size)}, **fields)


def pytorch(**worker: Any) -> Json:
    roles = {"Master": {"replicas": 1}, "Worker": {"replicas": 4, **worker}}
    return thing("kubeflow.org/v1", "PyTorchJob", "pt", spec={"pytorchReplicaSpecs": roles})


def torch_worker(owner: Json, index: str, **fields: Any) -> Any:
    return pod(f"pt-worker-{index}", owner, labels={REPLICA_TYPE: "worker", REPLICA_INDEX: index}, **fields)


def ray(*groups: Json, name: str = "rc", owner: Json | None = None) -> Json:
    spec = {"headGroupSpec": {}, "workerGroupSpecs": list(groups)}
    return thing("ray.io/v1", "RayCluster", name, owner, spec=spec)


def jobset(*jobs: Json, **spec: Any) -> Json:
    return thing("jobset.x-k8s.io/v1alpha2", "JobSet", "js", spec={"replicatedJobs": list(jobs), **spec})


def jobset_pod(owner: Json, role: str, index: str = "0") -> Any:
    found = {"jobset.sigs.k8s.io/replicatedjob-name": role, "jobset.sigs.k8s.io/job-index": index}
    return pod(f"js-{role}-{index}", owner, labels=found)


def grove(name: str, **fields: Any) -> tuple[Json, Json, Any]:
    owner = thing("grove.io/v1alpha1", name, "pcs", spec={}, **fields)
    parts = [{"name": "decode", "minReplicas": 1, "podReferences": [{"namespace": "team", "name": "a"}]}]
    gang = thing("scheduler.grove.io/v1alpha1", "PodGang", "pg1", spec={"podgroups": parts})
    return owner, gang, pod("a", owner, labels={"grove.io/podgang": "pg1"})


def test_01_a_second_pass_over_unchanged_input_writes_nothing() -> None:
    owner = job(labels={"team": "a"})
    gang = only_gang([pod("a", owner)], owner)
    assert list(writes.gang_changes(gang, applied(gang), Settings())) == []


def test_02_a_leader_that_starts_first_with_segments_is_grouped_alone() -> None:
    owner = lws({"size": 4, "subGroupPolicy": {"subGroupSize": 2}}, startupPolicy="LeaderReady")
    gang = only_gang([lws_pod(owner, "0")], owner)
    assert (gang.body["spec"]["minMember"], tree(gang)) == (1, [("leader", None, 1)])
    bound = only_gang([lws_pod(owner, "0", spec={"nodeName": "n1"})], owner)
    assert bound.body["spec"]["minMember"] == 4


def test_02_a_leader_waits_no_more_once_a_worker_came_whatever_the_last_pass_said_of_it() -> None:
    owner = lws({"size": 4}, startupPolicy="LeaderReady")
    leader, around = lws_pod(owner, "0"), context(owner)
    alone = group([leader], around)
    both = group([leader, lws_pod(owner, "1")], around, before=alone)
    assert [found.body["spec"]["minMember"] for found in (*alone.gangs, *both.gangs)] == [1, 4]


@pytest.mark.parametrize("size", ["0", "-1", "x"])
def test_03_a_segment_size_that_is_no_size_is_refused_with_its_name(size: str) -> None:
    owner = pytorch()
    found = grouped([torch_worker(owner, "0", annotations={labels.SEGMENT_SIZE: size})], owner)
    assert len(refusals(found)) == 1
    assert f"annotation {labels.SEGMENT_SIZE}" in refusals(found)[0]


def test_03_a_worker_beyond_the_segments_is_refused_with_its_index() -> None:
    owner = lws({"size": 4, "subGroupPolicy": {"subGroupSize": 2}})
    found = grouped([lws_pod(owner, "0"), lws_pod(owner, "9")], owner)
    assert refusals(found) == [f"label {labels.LWS_WORKER_INDEX}: 9 is beyond the size 4"]
    assert places(found.gangs[0]) == {"llm-0-0": "leader"}  # the others are not held up


def test_04_groups_get_distinct_names_that_the_schema_accepts() -> None:
    owner = ray({"groupName": "A_b.c", "replicas": 1}, {"groupName": "headgroup", "replicas": 1})
    members = [
        pod("h", owner, labels={"ray.io/group": "headgroup", "ray.io/node-type": "head"}),
        pod("w", owner, labels={"ray.io/group": "A_b.c"}),
    ]
    gang = only_gang(members, owner)
    names = [name for name, _, _ in tree(gang)]
    assert len(set(names)) == 3
    assert all(name.replace("-", "").isalnum() and name.islower() for name in names)
    assert places(gang) == {"h": "headgroup", "w": names[1]}


def test_05_a_stale_subgroup_label_is_removed() -> None:
    owner = job()
    gang = only_gang([pod("a", owner, labels={labels.SUB_GROUP_NAME: "gone"})], owner)
    (change,) = writes.member_changes(gang)
    assert isinstance(change, Patch)
    assert change.body["metadata"]["labels"] == {labels.SUB_GROUP_NAME: None}


def test_06_the_queue_of_a_pod_clique_set_is_the_queue_of_its_gangs() -> None:
    owner, gang, member = grove("PodCliqueSet", labels={labels.QUEUE: "research"})
    assert only_gang([member], owner, gang).body["spec"]["queue"] == "research"


def test_07_a_graph_that_may_not_be_read_leaves_a_warning_and_the_gang() -> None:
    graph = thing("nvidia.com/v1alpha1", "DynamoGraphDeployment", "g", spec={})
    owner, gang, _ = grove("PodCliqueSet")
    owner["metadata"]["ownerReferences"] = [reference(graph)]
    member = pod("a", owner, labels={"grove.io/podgang": "pg1"})
    found = group([member], context(owner, gang, forbidden=frozenset({"DynamoGraphDeployment"})))
    assert tree(found.gangs[0]) == [("decode", None, 1)]
    assert "may not be read" in warnings(found)[0]
    assert "DynamoGraphDeployment g" in warnings(found)[0]


def test_08_a_new_version_of_a_kind_keeps_its_gang() -> None:
    owner = pytorch() | {"apiVersion": "kubeflow.org/v9"}
    assert only_gang([torch_worker(owner, "0")], owner).body["spec"]["minMember"] == 5
    outer = thing("trainer.kubeflow.org/v7", "TrainJob", "tj", spec={})
    inner = jobset({"name": "node", "template": {"spec": {"parallelism": 4}}})
    inner["metadata"]["ownerReferences"] = [reference(outer)]
    assert len(tree(only_gang([jobset_pod(inner, "node")], inner, outer))) == 2


def test_09_owners_decide_before_the_pod_whatever_the_length_of_the_chain() -> None:
    top = thing("example.test/v1", "Foo", "foo", labels={labels.PRIORITY_CLASS: "build"})
    low = job(owner=top)
    gang = only_gang([pod("a", low, spec={"priorityClassName": "high"})], low, top)
    assert gang.body["spec"]["priorityClassName"] == "build"


@pytest.mark.parametrize(
    ("version", "kind"), [("apps/v1", "StatefulSet"), ("example.test/v1", "Foo"), ("apps/v1", "ReplicaSet")]
)
def test_10_any_kind_can_say_how_many_members_it_needs(version: str, kind: str) -> None:
    owner = thing(version, kind, "w", annotations={labels.MIN_MEMBER: "3"})
    assert only_gang([pod("a", owner)], owner).body["spec"]["minMember"] == 3


def test_10_the_runs_of_a_cron_job_can_too() -> None:
    cron = thing("batch/v1", "CronJob", "nightly")
    run = job(owner=cron, annotations={labels.BATCH_MIN_MEMBER: "2"})
    assert only_gang([pod("a", run)], run, cron).body["spec"]["minMember"] == 2


def test_11_knative_reads_preemptibility_and_topology() -> None:
    service = thing("serving.knative.dev/v1", "Service", "s")
    revision = thing(
        "serving.knative.dev/v1",
        "Revision",
        "s-1",
        labels={labels.PREEMPTIBILITY: "non-preemptible", labels.PRIORITY_CLASS: "build"},
        annotations={labels.TOPOLOGY: "t", labels.TOPOLOGY_REQUIRED: "rack"},
    )
    spec = only_gang(
        [pod("a", service, labels={"serving.knative.dev/revision": "s-1"})], service, revision
    ).body["spec"]
    assert (spec["preemptibility"], spec["priorityClassName"]) == ("non-preemptible", "build")
    assert spec["topologyConstraint"] == {"topology": "t", "requiredTopologyLevel": "rack"}


def test_12_completions_bound_the_members_of_a_replica() -> None:
    owner = jobset({"name": "w", "template": {"spec": {"parallelism": 8, "completions": 3}}})
    assert tree(only_gang([jobset_pod(owner, "w")], owner))[1] == ("w-replica-0", "w", 3)


def test_12_a_job_without_replicas_is_no_group() -> None:
    owner = jobset({"name": "w"}, {"name": "off", "replicas": 0})
    gang = only_gang([jobset_pod(owner, "w")], owner)
    assert (gang.body["spec"]["minSubGroup"], [name for name, _, _ in tree(gang)]) == (
        1,
        ["w", "w-replica-0"],
    )


def test_12_an_ordered_job_set_needs_its_first_job_not_any_of_them() -> None:
    owner = jobset({"name": "driver"}, {"name": "w"}, startupPolicy={"startupPolicyOrder": "InOrder"})
    gang = trees.build(applied(only_gang([jobset_pod(owner, "driver")], owner)))
    assert trees.satisfied(gang, {"driver-replica-0": 1})[""]
    assert not trees.satisfied(gang, {"w-replica-0": 1})[""]


def test_13_pods_that_disagree_give_one_stable_group_and_one_warning() -> None:
    owner = job()
    first = pod("a", owner, labels={labels.PREEMPTIBILITY: "preemptible", labels.QUEUE: "q1"})
    second = pod("b", owner, labels={labels.QUEUE: "q2"})
    seen = [grouped(pods, owner) for pods in ([first, second], [second, first])]
    assert seen[0].gangs[0].body == seen[1].gangs[0].body
    assert seen[0].gangs[0].body["spec"]["queue"] == "q1"
    said = f"pods of one gang disagree on label {labels.QUEUE}: a says 'q1', b says 'q2'; 'q1' is used"
    assert [text.rpartition(":")[0] for text in warnings(seen[0]) if "queue" in text] == [said]


def test_14_zero_minimum_replicas_of_ray_require_no_worker() -> None:
    owner = ray({"groupName": "a", "replicas": 3, "minReplicas": 0})
    gang = only_gang([pod("w", owner, labels={"ray.io/group": "a"})], owner)
    assert (gang.body["spec"]["minMember"], tree(gang)[1]) == (1, ("a", None, 0))


def test_14_the_pod_that_submits_a_ray_job_is_a_gang_of_its_own_in_its_queue() -> None:
    said = {"labels": {labels.QUEUE: "research"}, "annotations": {labels.MIN_MEMBER: "2"}}
    owner = thing("ray.io/v1", "RayJob", "rj", status={"rayClusterName": "rc"}, **said)
    cluster = ray({"groupName": "a", "replicas": 1})
    submitter = thing("batch/v1", "Job", "rj-submit", owner)
    members = [pod("submit", submitter), pod("worker", owner, labels={"ray.io/group": "a"})]
    found = grouped(members, submitter, owner, cluster)
    assert refusals(found) == []
    shapes = {tuple(places(gang)): gang.body["spec"] for gang in found.gangs}
    assert [spec["queue"] for spec in shapes.values()] == ["research", "research"]
    assert (shapes["submit",]["minMember"], shapes["worker",]["minMember"]) == (1, 2)
    assert "subGroups" not in shapes["submit",]


def test_14_each_cluster_of_a_ray_service_is_a_gang_of_its_own_size_while_it_is_upgraded() -> None:
    def state(*clusters: str) -> Json:
        fields = ("activeServiceStatus", "pendingServiceStatus")
        named = [{"rayClusterName": name} for name in clusters]
        return thing("ray.io/v1", "RayService", "rs", status=dict(zip(fields, named, strict=False)))

    clusters = [ray({"groupName": "a", "replicas": n}, name=f"rc{n}", owner=state("")) for n in (1, 4)]
    members = [pod(f"{cluster['metadata']['name']}-a", cluster) for cluster in clusters]

    def sizes(*serving: str) -> dict[str, int]:
        found = grouped(members, *clusters, state(*serving))
        return {place: gang.body["spec"]["minMember"] for gang in found.gangs for place in places(gang)}

    assert sizes("rc1", "rc4") == sizes("rc4") == {"rc1-a": 2, "rc4-a": 5}
    names = [gang.name for gang in grouped(members, *clusters, state("rc1", "rc4")).gangs]
    assert [name.endswith("-rc4") for name in names] == [False, True]


def test_14_a_worker_group_without_replicas_is_no_group() -> None:
    owner = ray({"groupName": "a", "replicas": 0}, {"groupName": "b"}, {"groupName": "c", "replicas": 1})
    gang = only_gang([pod("w", owner, labels={"ray.io/group": "c"})], owner)
    assert [name for name, _, _ in tree(gang)] == ["headgroup", "c"]


def test_15_a_class_that_does_not_exist_hides_no_other() -> None:
    found = grouped([pod("a", labels={labels.PRIORITY_CLASS: "nope"}, spec={"priorityClassName": "high"})])
    assert found.gangs[0].body["spec"]["priorityClassName"] == "high"
    assert "'nope' does not exist" in warnings(found)[0]


def test_15_kubeflows_own_queue_and_class_are_read() -> None:
    owner = pytorch()
    owner["spec"]["runPolicy"] = {"schedulingPolicy": {"queue": "research", "priorityClass": "build"}}
    spec = only_gang([torch_worker(owner, "0")], owner).body["spec"]
    assert (spec["queue"], spec["priorityClassName"]) == ("research", "build")


def test_16_an_invalid_value_warns_in_every_kind() -> None:
    said = {labels.PREEMPTIBILITY: "Always"}
    owner, gang, member = grove("PodCliqueSet", labels=said)
    torch = pytorch()
    torch["metadata"]["labels"] = said
    sets = jobset({"name": "w"})
    sets["metadata"]["labels"] = said
    for found in (
        grouped([member], owner, gang),
        grouped([torch_worker(torch, "0")], torch),
        grouped([jobset_pod(sets, "w")], sets),
    ):
        assert refusals(found) == []
        assert [text for text in warnings(found) if "Always" in text]


def test_04_jobs_of_a_set_whose_names_clash_get_groups_of_their_own() -> None:
    owner = jobset({"name": "a"}, {"name": "a-replica-0"})
    gang = only_gang([jobset_pod(owner, "a"), jobset_pod(owner, "a-replica-0")], owner)
    names = [name for name, _, _ in tree(gang)]
    assert len(set(names)) == 4
    assert places(gang) == {"js-a-0": "a-replica-0-members", "js-a-replica-0-0": "a-replica-0-replica-0"}


def test_what_our_own_admission_would_refuse_is_not_written() -> None:
    owner = jobset({"name": "a", "replicas": 100_000})
    found = grouped([jobset_pod(owner, "a")], owner)
    assert found.gangs == ()
    assert "more than 512 groups" in refusals(found)[0]


def test_a_minimum_that_cannot_be_met_is_a_warning() -> None:
    owner = pytorch()
    owner["spec"]["runPolicy"] = {"schedulingPolicy": {"minAvailable": 3}}
    owner["metadata"]["annotations"] = {labels.MIN_SUB_GROUP: "9"}
    found = grouped([torch_worker(owner, "0")], owner)
    assert len(found.gangs) == 1
    assert warnings(found)
