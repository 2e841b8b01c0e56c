"""What is wrong with one object keeps nobody else from being scheduled."""

import pytest

from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec, SubGroup
from quorate.api.podspec import Container, ResourceRequirements
from quorate.api.queue import QUEUE, Queue, QueueResource, QueueResources, QueueSpec
from quorate.scheduling.decide import decide
from tests.fakes.clusters import Cluster, Group

ONE = [Group("", min_member=1, members=1)]


def with_a_good_gang() -> Cluster:
    cluster = Cluster()
    cluster.queue("good", quota=-1)
    cluster.node("n", 4, zone="z", rack="r")
    cluster.gang("good", ONE, queue="good")
    return cluster


@pytest.mark.parametrize("amount", [-5.0, 1e30, float("inf"), float("nan")])
def test_a_queue_with_absurd_amounts_keeps_nobody_else_waiting(amount: float) -> None:
    cluster = with_a_good_gang()
    absurd = QueueResource(quota=amount, limit=amount, over_quota_weight=amount)
    spec = QueueSpec(resources=QueueResources(cpu=absurd, memory=absurd, gpu=absurd))
    cluster.encoder.update(QUEUE, None, Queue(metadata=ObjectMeta(name="absurd"), spec=spec))
    cluster.gang("theirs", ONE, queue="absurd")
    cluster.settle()
    assert cluster.bound("good") == ["n"]


@pytest.mark.parametrize(
    "groups",
    [
        [SubGroup(name="a", parent="a", min_member=1)],
        [SubGroup(name="a", min_member=1), SubGroup(name="a", min_member=1)],
        [SubGroup(name="a", parent="b"), SubGroup(name="b", parent="a")],
        [SubGroup(name="", min_member=1)],
        [SubGroup(name=f"g{at}", parent=f"g{at - 1}" if at else None) for at in range(600)],
        [SubGroup(name="a", min_member=-3)],
        [SubGroup(name="a", min_member=10**12)],
    ],
    ids=["its own parent", "twice", "a cycle", "no name", "too deep", "negative", "absurd"],
)
def test_a_tree_that_bypassed_admission_keeps_nobody_else_waiting(groups: list[SubGroup]) -> None:
    cluster = with_a_good_gang()
    cluster.gang("bad", [Group(""), Group("a", min_member=1, members=1)], queue="good")
    broken = PodGroup(metadata=ObjectMeta(name="bad", namespace="ns"), spec=PodGroupSpec(sub_groups=groups))
    cluster.encoder.update(POD_GROUP, cluster.podgroups["bad"], broken)
    cluster.settle()
    assert cluster.bound("good") == ["n"]


def test_a_gang_whose_groups_form_no_tree_is_refused_by_the_field_to_mend() -> None:
    cluster = with_a_good_gang()
    cluster.gang("bad", [Group(""), Group("a", min_member=1, members=1)], queue="good")
    spec = PodGroupSpec(queue="good", sub_groups=[SubGroup(name="a", parent="a", min_member=1)])
    broken = PodGroup(metadata=ObjectMeta(name="bad", namespace="ns"), spec=spec)
    cluster.encoder.update(POD_GROUP, cluster.podgroups["bad"], broken)
    (refusal,) = cluster.cycle().refusals
    assert (refusal.gate, refusal.message) == (
        "InvalidGroups",
        (
            "spec.subGroups[0].parent: cycle detected in subgroups; "
            "no pod of this gang is scheduled until it is fixed"
        ),
    )


def test_gangs_that_fail_alike_are_each_told_of_themselves() -> None:
    cluster = with_a_good_gang()
    for name in ("here", "there"):
        cluster.gang(name, [Group("", min_member=6, members=6, required="rack")], queue="good")
    for refusal in cluster.cycle().refusals:
        assert f"job <ns/{refusal.gang.name}>" in refusal.message


def test_gangs_that_ask_for_unknown_places_are_each_told_which() -> None:
    cluster = with_a_good_gang()
    for level in ("galaxy", "planet"):
        cluster.gang(level, [Group("", min_member=1, members=1, required=level)], queue="good")
    for refusal in cluster.cycle().refusals:
        assert f"level {refusal.gang.name} is not in topology" in refusal.message


def test_a_gang_that_runs_on_in_a_queue_that_is_gone_is_told() -> None:
    cluster = with_a_good_gang()
    cluster.queue("doomed")
    cluster.gang("left", ONE, queue="doomed")
    cluster.settle()
    cluster.encoder.update(QUEUE, cluster.objects[QUEUE, "doomed"], None)
    snapshot = cluster.encoder.snapshot(cluster.now)
    (problem,) = snapshot.problems
    assert (problem.about.name, problem.reason) == ("left", "QueueDoesNotExist")
    assert problem.message.startswith("spec.queue: doomed is no queue that takes gangs")
    assert decide(snapshot).changes == ()


def test_a_preemptibility_that_bypassed_admission_is_told() -> None:
    cluster = with_a_good_gang()
    cluster.gang("odd", ONE, queue="good", preemptibility="sometimes")
    (problem,) = cluster.encoder.snapshot(cluster.now).problems
    assert (problem.about.name, problem.reason) == ("odd", "InvalidPreemptibility")


@pytest.mark.parametrize("amount", ["9223372036854775807", "1e30", "100000000000000000000Ei"])
def test_amounts_beyond_all_machines_keep_nobody_else_waiting(amount: str) -> None:
    cluster = with_a_good_gang()
    cluster.gang("bad", [Group("", min_member=8, members=8)], queue="good", priority=75)
    cluster.mark("n", more={"example.com/device": amount})
    cluster.dress(
        "bad",
        containers=[Container(resources=ResourceRequirements(requests={"cpu": amount, "memory": amount}))],
    )
    cluster.settle()
    assert cluster.bound("good") == ["n"]
    assert not cluster.bound("bad")


def test_a_node_without_the_labels_of_a_topology_takes_gangs_that_ask_for_none() -> None:
    cluster = with_a_good_gang()
    cluster.node("unlabelled", 4)
    cluster.gang("near", [Group("", min_member=6, members=6, required="rack")], queue="good")
    cluster.gang("anywhere", [Group("", min_member=6, members=6)], queue="good", priority=75)
    cluster.settle()
    assert (cluster.bound("near"), len(cluster.bound("anywhere"))) == ([], 6)


def test_a_node_whose_devices_disappear_takes_nobody_more_and_others_do() -> None:
    cluster = with_a_good_gang()
    cluster.settle()
    cluster.node("n", 0, zone="z", rack="r")
    cluster.node("m", 4, zone="z", rack="r")
    cluster.gang("next", [Group("", min_member=2, members=2)], queue="good")
    cluster.settle()
    assert (cluster.bound("good"), cluster.bound("next")) == (["n"], ["m", "m"])
