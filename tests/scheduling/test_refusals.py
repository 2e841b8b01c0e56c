"""What people and programs are told of a gang that found no room."""

import pytest

from quorate.api.core import Taint
from quorate.api.podspec import (
    Affinity,
    ClaimVolume,
    Container,
    ContainerPort,
    LabelSelector,
    PodAffinity,
    PodAffinityTerm,
    TopologySpreadConstraint,
    Volume,
)
from quorate.plan import Refusal
from quorate.scheduling.policy import Policy
from tests.fakes.clusters import Cluster, Group

APP = LabelSelector(match_labels={"app": "x"})
OTHER = LabelSelector(match_labels={"app": "y"})
APART = Affinity(
    pod_anti_affinity=PodAffinity(required=[PodAffinityTerm(label_selector=APP, topology_key="rack")])
)
NEAR = Affinity(
    pod_affinity=PodAffinity(required=[PodAffinityTerm(label_selector=OTHER, topology_key="rack")])
)
PORT = Container(name="main", ports=[ContainerPort(container_port=80, host_port=80)])
NO_NODES = "no nodes with enough resources were found: "


def refusal(cluster: Cluster) -> Refusal:
    plan = cluster.cycle()
    (found,) = plan.refusals
    return found


def test_a_pod_that_is_no_gang_is_spoken_of_by_name() -> None:
    cluster = Cluster()
    cluster.node("n", 3)
    cluster.gang("job", [Group("", min_member=1, members=1, gpus=4)])
    assert refusal(cluster).message == (
        f"Resources were not found for pod ns/job.0 due to: {NO_NODES}"
        "1 node(s) didn't have enough resources: GPUs"
    )


def test_a_gang_that_runs_and_would_grow_is_short_of_one_pod() -> None:
    cluster = Cluster()
    cluster.node("n", 3)
    cluster.gang("job", [Group("", min_member=2, members=4)])
    cluster.cycle()
    found = refusal(cluster)
    assert found.message.startswith("Resources were not found for pod ns/job.3 due to: ")
    assert len(cluster.bound("job")) == 3


def test_the_resource_that_is_short_is_told_in_numbers_and_by_the_nearest_nodes() -> None:
    cluster = Cluster()
    for number in range(5):
        cluster.node(f"n{number}", number)
    cluster.gang("job", [Group("", min_sub_group=1), Group("w", min_member=2, members=2, gpus=4)])
    found = refusal(cluster)
    assert (found.group, found.resource) == ("w", "nvidia.com/gpu")
    assert found.numbers == {"found": 1, "required": 2, "isProven": True, "requested": 4, "free": 3}
    lacks = "subgroup w: Node didn't have enough resources: GPUs, requested: 4"
    assert found.explanation == (
        "\nUnable to schedule podgroup."
        f"\n<n1>: {lacks}, used: 0, capacity: 1."
        f"\n<n2>: {lacks}, used: 0, capacity: 2."
        f"\n<n3>: {lacks}, used: 0, capacity: 3."
    )


def test_every_node_is_counted_once_for_the_first_cause_that_closes_it() -> None:
    cluster = Cluster()
    for name in "abcde":
        cluster.node(name, 8)
    cluster.mark("a", Taint(key="dedicated", value="infra", effect="NoSchedule"))
    cluster.mark("b", cordoned=True)
    cluster.mark("c", Taint(key="soft", effect="PreferNoSchedule"))
    cluster.gang("job", [Group("", min_member=2, members=2, gpus=9)])
    assert refusal(cluster).message.partition(NO_NODES)[2] == (
        "3 node(s) didn't have enough resources: GPUs, 2 node(s) had untolerated taint(s) "
        "{dedicated: infra} {node.kubernetes.io/unschedulable}"
    )


@pytest.mark.parametrize(
    ("spec", "found", "cause"),
    [
        ({"node_selector": {"disk": "ssd"}}, 0, "2 node(s) didn't match Pod's node affinity/selector"),
        ({"containers": [PORT]}, 2, "2 node(s) didn't have free ports for the requested pod ports"),
        ({"affinity": APART}, 2, "2 node(s) didn't match pod anti-affinity rules"),
        ({"affinity": NEAR}, 0, "2 node(s) didn't match pod affinity rules"),
    ],
)
def test_the_filter_that_closes_the_nodes_is_named(spec: dict[str, object], found: int, cause: str) -> None:
    cluster = Cluster()
    for name in "ab":
        cluster.node(name, 8, rack=name)
    cluster.gang("job", [Group("", min_member=3, members=3)])
    cluster.dress("job", labels={"app": "x"}, **spec)
    told = refusal(cluster)
    assert told.numbers["found"] == found
    assert told.message.partition(NO_NODES)[2] == cause


def test_an_even_spread_is_named_where_it_keeps_pods_off() -> None:
    cluster = Cluster()
    cluster.node("a", 1, rack="a")
    cluster.node("b", 8, rack="b")
    spread = TopologySpreadConstraint(
        max_skew=1, topology_key="rack", when_unsatisfiable="DoNotSchedule", label_selector=APP
    )
    cluster.gang("job", [Group("", min_member=4, members=4)])
    cluster.dress("job", labels={"app": "x"}, topology_spread_constraints=[spread])
    told = refusal(cluster)
    assert told.numbers["found"] == 3
    assert told.message.partition(NO_NODES)[2] == (
        "1 node(s) didn't have enough resources: GPUs, 1 node(s) didn't match pod topology spread constraints"
    )


def test_a_filter_of_another_package_is_told_apart() -> None:
    closed = Policy(filters=(*Policy().filters, lambda snapshot, _: ~snapshot.nodes.schedulable))
    cluster = Cluster(policy=closed)
    cluster.node("n", 8)
    cluster.gang("job", [Group("", min_member=2, members=2)])
    assert refusal(cluster).message.endswith(f"{NO_NODES}1 node(s) were refused by an added filter")


def test_what_keeps_a_pod_from_every_node_is_said_of_that_pod() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    cluster.gang("job", [Group("", min_member=2, members=2)])
    claim = ClaimVolume(claim_name="data")
    cluster.dress("job", volumes=[Volume(name="data", persistent_volume_claim=claim)])
    assert refusal(cluster).message == (
        'Resources were not found for pod ns/job.0 due to: persistentvolumeclaim "data" not found'
    )


def test_a_cluster_without_nodes_is_said_to_have_none() -> None:
    cluster = Cluster()
    cluster.gang("job", [Group("", min_member=2, members=2)])
    assert refusal(cluster).message.endswith("due to: there are no nodes")


def test_the_nearest_domains_tell_what_all_their_nodes_lack() -> None:
    cluster = Cluster()
    for zone, gpus in (("a", 2), ("b", 3)):
        for number in range(2):
            cluster.node(f"{zone}{number}", gpus, zone=zone, rack="r")
    cluster.gang("job", [Group("", min_member=7, members=7, required="zone")])
    found = refusal(cluster)
    assert (found.domain, found.resource) == ("b", "nvidia.com/gpu")
    assert found.numbers == {"found": 6, "required": 7, "isProven": True, "requested": 7, "free": 6}
    assert found.explanation == (
        "\nUnable to schedule podgroup."
        "\n<a>: a didn't have enough resource: GPUs, requested: 7, available: 4."
        "\n<b>: b didn't have enough resource: GPUs, requested: 7, available: 6."
    )


def test_a_domain_that_has_enough_in_pieces_says_how_many_pods_it_holds() -> None:
    cluster = Cluster()
    for name in ("a0", "a1", "b0", "b1"):
        cluster.node(name, 3, zone=name[0], rack="r")
    cluster.gang(
        "job",
        [Group("", min_sub_group=1), Group("w", min_member=3, members=3, gpus=2, required="zone")],
    )
    found = refusal(cluster)
    assert (found.group, found.domain, found.numbers["found"]) == ("w", "a", 2)
    assert "<a>: subgroup w: node-group a can allocate only 2 of 3 required pods." in found.explanation


def test_a_topology_that_no_node_carries_names_its_labels() -> None:
    cluster = Cluster()
    cluster.node("n", 8, zone="a")
    cluster.gang("job", [Group("", min_member=2, members=2, required="zone")])
    assert refusal(cluster).message == (
        "topology places, requirement zone couldn't be satisfied for job <ns/job>: "
        "no node carries the labels of all its levels (zone, rack)"
    )


def test_a_gang_that_finds_its_seat_when_others_are_moved_is_not_refused() -> None:
    cluster = Cluster()
    cluster.node("n0", 4, zone="a", rack="x")
    cluster.node("n1", 6, zone="a", rack="y")
    cluster.gang("grows", [Group("", min_member=2, members=3, gpus=2, required="rack")])
    child = Group("c", required="rack")
    leaves = [
        Group("c-0", parent="c", min_member=0, members=1),
        Group("c-1", parent="c", min_member=1, members=1, gpus=0),
    ]
    cluster.gang("moved", [Group(""), child, *leaves])
    plan = cluster.cycle()
    assert (cluster.bound("grows"), cluster.bound("moved"), plan.refusals) == (["n1"] * 3, ["n0"] * 2, ())


def test_a_gang_that_wants_more_sub_groups_than_can_start_says_how_many_can() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    children = [Group(name, min_member=2, members=2) for name in "ab"]
    cluster.gang("job", [Group("", min_sub_group=3), *children])
    found = refusal(cluster)
    assert found.gate == "NotReady"
    assert found.message == (
        "Job is not ready for scheduling. Waiting for pods: 2 of 3 sub-groups have the pods of their minimums"
    )
    assert found.numbers == {"found": 2, "required": 3}
