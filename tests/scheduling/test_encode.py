from itertools import permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.api import labels
from quorate.api.core import NODE, POD, Node, NodeSpec, NodeStatus, Pod, PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec, SubGroup
from quorate.api.podspec import Container, PodSpec, ResourceRequirements
from quorate.api.queue import QUEUE, Queue, QueueSpec
from quorate.scheduling.encode import Encoder
from quorate.scheduling.snapshot import CPU, GPU, MEMORY, NONE, PODS, Preemptibility, Snapshot, State
from tests.fakes.clusters import Cluster, Group, moment


def node(name: str, *, cordoned: bool = False, **allocatable: str | int) -> Node:
    named = {"gpu": labels.GPU_RESOURCE}
    resources = {named.get(key, key): value for key, value in allocatable.items()}
    return Node(
        metadata=ObjectMeta(name=name),
        spec=NodeSpec(unschedulable=cordoned),
        status=NodeStatus(allocatable={**resources}),
    )


def pod(
    name: str, *, at: str = "", gang: str = "g", deleting: str | None = None, scheduler: str = "quorate"
) -> Pod:
    requests = ResourceRequirements(requests={labels.GPU_RESOURCE: 1, "cpu": "500m", "memory": "1Gi"})
    annotations = {labels.POD_GROUP_NAME: gang} if gang else {}
    return Pod(
        metadata=ObjectMeta(name=name, namespace="ns", annotations=annotations, deletion_timestamp=deleting),
        spec=PodSpec(
            containers=[Container(name="main", resources=requests)], scheduler_name=scheduler, node_name=at
        ),
        status=PodStatus(phase="Running" if at else "Pending"),
    )


def podgroup(name: str = "g", **spec: object) -> PodGroup:
    return PodGroup(metadata=ObjectMeta(name=name, namespace="ns"), spec=PodGroupSpec(**spec))  # type: ignore[arg-type]  # any field of the spec


def encoder(*pods: Pod) -> Encoder:
    made = Encoder("quorate")
    made.update(NODE, None, node("n", gpu=8, cpu="4", memory="10Gi", pods=10))
    made.update(POD_GROUP, None, podgroup(min_member=1))
    for one in pods:
        made.update(POD, None, one)
    return made


def test_amounts_are_milli_units_and_bytes() -> None:
    snapshot = encoder(pod("p")).snapshot(0.0)
    assert snapshot.nodes.allocatable[[CPU, MEMORY, PODS, GPU], 0].tolist() == [
        4000,
        10 * 2**30,
        10_000,
        8000,
    ]
    assert snapshot.requests[snapshot.pods.shape[0], [CPU, MEMORY, PODS, GPU]].tolist() == [
        500,
        2**30,
        1000,
        1000,
    ]


def test_a_bound_pod_uses_its_node_until_it_is_gone() -> None:
    made = encoder(pod("p"))
    made.update(POD, pod("p"), pod("p", at="n"))
    assert made.snapshot(0.0).nodes.used[GPU, 0] == 1000
    made.update(POD, pod("p", at="n"), None)
    assert made.snapshot(0.0).nodes.used[GPU, 0] == 0


def test_a_pod_being_deleted_gives_its_seat_back_until_it_is_late() -> None:
    made = encoder(pod("p", at="n", deleting=moment(1000)))
    snapshot = made.snapshot(1010.0)
    assert (snapshot.nodes.releasing[GPU, 0], snapshot.pods.state[0]) == (1000, State.RELEASING)
    assert made.snapshot(2000.0).nodes.releasing[GPU, 0] == 0


def test_a_pod_of_another_scheduler_uses_its_node_and_is_never_ours_to_place() -> None:
    snapshot = encoder(pod("a", at="n", gang="", scheduler="x"), pod("b", gang="", scheduler="x")).snapshot(
        0.0
    )
    assert (snapshot.nodes.used[GPU, 0], snapshot.nodes.foreign[GPU], len(snapshot.pods.refs)) == (
        1000,
        1000,
        0,
    )


def test_a_pod_on_a_node_that_vanished_has_no_node() -> None:
    made = encoder(pod("p", at="n"))
    made.update(NODE, node("n"), None)
    assert made.snapshot(0.0).pods.node.tolist() == [NONE]


def test_members_stand_in_the_order_of_their_numbers() -> None:
    names = [ref.name for ref in encoder(pod("w-10"), pod("w-2"), pod("w-1")).snapshot(0.0).pods.refs]
    assert names == ["w-1", "w-2", "w-10"]


def test_members_of_higher_task_priority_stand_first() -> None:
    pods = [pod("w-0"), pod("w-1"), pod("w-2")]
    for one, priority in zip(pods, ("-1", "2", "10"), strict=True):
        one.metadata.labels = {labels.TASK_PRIORITY: priority}
    assert [ref.name for ref in encoder(*pods).snapshot(0.0).pods.refs] == ["w-2", "w-1", "w-0"]


def test_names_of_equal_numbers_stand_in_one_order_whatever_came_first() -> None:
    pods = [pod("w-1"), pod("w-01"), pod("w-001")]
    for shown in permutations(pods):
        names = [ref.name for ref in encoder(*shown).snapshot(0.0).pods.refs]
        assert names == ["w-001", "w-01", "w-1"]


def test_the_labels_of_members_protect_a_gang_whose_spec_says_nothing() -> None:
    labelled = pod("b", at="n")
    labelled.metadata.labels = {labels.PREEMPTIBILITY: "semi-preemptible"}
    made = encoder(pod("a", at="n"), labelled)
    assert made.snapshot(0.0).gangs.preemptibility.tolist() == [Preemptibility.SEMI]
    assert made.snapshot(0.0).pods.is_core.tolist() == [True, False]
    made.update(POD_GROUP, podgroup(min_member=1), podgroup(min_member=1, preemptibility="preemptible"))
    assert made.snapshot(0.0).gangs.preemptibility.tolist() == [Preemptibility.PREEMPTIBLE]


def test_a_priority_class_that_does_not_exist_is_a_problem() -> None:
    made = encoder()
    made.update(POD_GROUP, None, podgroup("other", priority_class_name="gone"))
    (problem,) = made.snapshot(0.0).problems
    assert (problem.reason, problem.about.name) == ("UnknownPriorityClass", "other")
    assert problem.message == 'PriorityClass "gone" does not exist: priority 50 is used'


def test_a_broken_tree_is_a_problem_and_its_gang_can_not_start() -> None:
    made = encoder()
    made.update(POD_GROUP, None, podgroup("bad", sub_groups=[SubGroup(name="a", parent="b", min_member=1)]))
    (problem,) = made.snapshot(0.0).problems
    assert problem.message == (
        "spec.subGroups[0].parent: parent b of a was not found; no pod of this gang is scheduled until it is fixed"
    )


def test_a_member_of_no_known_group_is_a_problem_that_names_the_groups() -> None:
    made = encoder(pod("p", gang="tree"))
    made.update(POD_GROUP, None, podgroup("tree", sub_groups=[SubGroup(name="a", min_member=1)]))
    (problem,) = made.snapshot(0.0).problems
    assert problem.about.name == "p"
    assert problem.message.endswith("label kai.scheduler/subgroup-name must be one of: a")


def test_a_node_with_an_unreadable_quantity_offers_nothing_and_is_named() -> None:
    made = encoder()
    made.update(NODE, None, node("odd", gpu="many"))
    snapshot = made.snapshot(0.0)
    assert snapshot.nodes.allocatable[GPU].tolist() == [8000, 0]
    assert snapshot.problems[0].about.name == "odd"


def test_orphans_and_cycles_among_queues_are_left_out_and_named() -> None:
    made = encoder()
    for name, parent in (("a", "b"), ("b", "a"), ("orphan", "nobody"), ("fine", "")):
        made.update(QUEUE, None, Queue(metadata=ObjectMeta(name=name), spec=QueueSpec(parent_queue=parent)))
    snapshot = made.snapshot(0.0)
    assert snapshot.queues.names == ("fine",)
    assert sorted(problem.about.name for problem in snapshot.problems) == ["a", "b", "orphan"]


def test_without_queues_there_is_one_without_limits() -> None:
    queues = encoder().snapshot(0.0).queues
    assert (queues.names, queues.limit.tolist()) == (("default-queue",), [[-1, -1, -1]])


def test_nothing_changed_costs_nothing() -> None:
    made = encoder(pod("p"))
    assert made.snapshot(0.0).pods is made.snapshot(1.0).pods


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(8)), st.lists(st.integers(0, 7), max_size=6))
def test_the_order_and_number_of_changes_leave_no_trace(order: list[int], again: list[int]) -> None:
    assert_same(_built(list(range(8)), []), _built(order, again))


def _built(order: list[int], again: list[int]) -> Snapshot:
    cluster = Cluster()
    changes = [
        *((NODE, node(f"n{at}", gpu=at, pods=5)) for at in range(3)),
        (POD_GROUP, podgroup("g", min_member=2)),
        (POD_GROUP, podgroup("h", sub_groups=[SubGroup(name="a", min_member=1)])),
        (POD, pod("p1")),
        (POD, pod("p2", at="n1")),
        (POD, pod("q", gang="h")),
    ]
    for at in order:
        kind, one = changes[at]
        cluster.encoder.update(kind, None, one)
    for at in again:
        kind, one = changes[at]
        cluster.encoder.update(kind, one, None)
        cluster.encoder.update(kind, None, one)
    return cluster.encoder.snapshot(0.0)


def assert_same(one: Snapshot, other: Snapshot) -> None:
    for part in ("nodes", "pods", "groups", "gangs", "queues"):
        for name, mine in vars(getattr(one, part)).items():
            yours = getattr(getattr(other, part), name)
            if isinstance(mine, np.ndarray):
                assert np.array_equal(mine, yours, equal_nan=mine.dtype.kind == "f"), (part, name)
            elif name != "labels":
                assert mine == yours, (part, name)


def test_groups_are_in_preorder_with_their_pods_in_slices() -> None:
    cluster = Cluster()
    groups = [
        Group(""),
        Group("a"),
        Group("a-0", parent="a", min_member=1, members=2),
        Group("b", min_member=1, members=3),
    ]
    cluster.gang("g", groups)
    found = cluster.encoder.snapshot(0.0).groups
    assert found.names == ("", "a", "a-0", "b")
    assert found.end.tolist() == [4, 3, 3, 4]
    assert list(zip(found.first_pod.tolist(), found.last_pod.tolist(), strict=True)) == [
        (0, 5),
        (0, 2),
        (0, 2),
        (2, 5),
    ]
