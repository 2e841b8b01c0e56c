"""Which nodes pods may go to, and which they prefer, as Kubernetes means their specs."""

from typing import Any

import pytest
from msgspec.structs import replace

from quorate.api.core import NAMESPACE, POD, Namespace, Pod, Taint
from quorate.api.labels import GPU_RESOURCE
from quorate.api.meta import ObjectMeta
from quorate.api.podspec import (
    Affinity,
    Container,
    ContainerPort,
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    PreferredNodeTerm,
    ResourceRequirements,
    SchedulingGate,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from tests.fakes.clusters import Cluster, Group


def nodes(*names: str, gpus: int = 8, cpus: int = 64) -> Cluster:
    """Nodes in zone z, each in a rack of its own."""
    cluster = Cluster()
    for name in names:
        cluster.node(name, gpus, cpus=cpus, zone="z", rack=name)
    return cluster


def one(
    cluster: Cluster,
    name: str = "job",
    *,
    members: int = 1,
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> None:
    cluster.gang(name, [Group("", min_member=members, members=members)])
    cluster.dress(name, labels=labels, **spec)


def asking(**amounts: str) -> Container:
    named = {key.replace("_", "-"): value for key, value in amounts.items()}
    return Container(name="main", resources=ResourceRequirements(requests={**named}))


def term(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=[LabelSelectorRequirement(key, operator, list(values))])


APP = LabelSelector(match_labels={"app": "x"})
BESIDE = PodAffinityTerm(label_selector=APP, topology_key="rack")
TOGETHER = Affinity(pod_affinity=PodAffinity(required=[BESIDE]))
APART = Affinity(pod_anti_affinity=PodAffinity(required=[BESIDE]))
PORT = [Container(ports=[ContainerPort(host_port=80)])]


def test_a_resource_of_any_name_is_counted() -> None:
    cluster = nodes("a", "b")
    cluster.mark("b", more={"example.com/fpga": "2"})
    for name in ("one", "two", "three"):
        one(
            cluster,
            name,
            containers=[Container(resources=ResourceRequirements(requests={"example.com/fpga": 1}))],
        )
    cluster.settle()
    assert sorted(map(cluster.bound, ("one", "two", "three"))) == [[], ["b"], ["b"]]


@pytest.mark.parametrize(
    ("spec", "cores"),
    [
        ({"containers": [asking(cpu="2"), asking(cpu="1")]}, 3),
        ({"containers": [asking(cpu="2")], "init_containers": [asking(cpu="5"), asking(cpu="4")]}, 5),
        (
            {
                "containers": [asking(cpu="2")],
                "init_containers": [
                    Container(name="s", restart_policy="Always", resources=asking(cpu="1").resources)
                ],
            },
            3,
        ),
        (
            {
                "containers": [asking(cpu="2")],
                "init_containers": [
                    Container(name="s", restart_policy="Always", resources=asking(cpu="1").resources),
                    asking(cpu="4"),
                ],
            },
            5,
        ),
        ({"containers": [asking(cpu="2")], "overhead": {"cpu": "500m"}}, 2.5),
    ],
    ids=["containers", "init containers", "a sidecar", "init containers beside a sidecar", "overhead"],
)
def test_a_pod_takes_what_its_containers_need_at_once(spec: dict[str, Any], cores: float) -> None:
    fits, short = nodes("n"), nodes("n")
    fits.mark("n", more={"cpu": str(cores)})
    short.mark("n", more={"cpu": f"{round(cores * 1000) - 1}m"})
    for cluster in (fits, short):
        one(cluster, **spec)
        cluster.settle()
    assert (fits.bound("job"), short.bound("job")) == (["n"], [])


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"node_selector": {"rack": "b"}}, "b"),
        ({"node_selector": {"rack": "q"}}, None),
        ({"affinity": (term("rack", "In", "c", "d"),)}, "c"),
        ({"affinity": (term("rack", "NotIn", "a", "b"),)}, "c"),
        ({"affinity": (term("size", "Gt", "3"),)}, "b"),
        ({"affinity": (term("size", "Lt", "3"),)}, "a"),
        ({"affinity": (term("size", "DoesNotExist"),)}, "c"),
        ({"affinity": (term("size", "Exists"),)}, "a"),
        ({"affinity": (term("rack", "In", "q"), term("rack", "In", "c"))}, "c"),
        (
            {
                "affinity": (
                    NodeSelectorTerm(match_fields=[LabelSelectorRequirement("metadata.name", "In", ["b"])]),
                )
            },
            "b",
        ),
        ({"affinity": (NodeSelectorTerm(),)}, None),
    ],
)
def test_a_selector_and_required_affinity_say_where_a_pod_may_go(
    spec: dict[str, Any], expected: str | None
) -> None:
    cluster = Cluster()
    for name, size in ("a", {"size": "1"}), ("b", {"size": "5"}), ("c", dict[str, Any]()):
        cluster.node(name, 8, rack=name, **size)
    terms = spec.pop("affinity", None)
    if terms:
        spec["affinity"] = Affinity(node_affinity=NodeAffinity(required=NodeSelector(list(terms))))
    one(cluster, **spec)
    cluster.settle()
    assert cluster.bound("job") == ([expected] if expected else [])


def test_the_preferred_node_is_taken_and_another_one_where_it_is_full() -> None:
    cluster = nodes("a", "b", gpus=1)
    prefers = NodeAffinity(
        preferred=[
            PreferredNodeTerm(1, term("rack", "In", "b")),
            PreferredNodeTerm(1, term("zone", "In", "z")),
        ]
    )
    for name in ("one", "two"):
        one(cluster, name, affinity=Affinity(node_affinity=prefers))
    cluster.settle()
    assert (cluster.bound("one"), cluster.bound("two")) == (["b"], ["a"])


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute", "PreferNoSchedule"])
def test_a_taint_keeps_off_who_does_not_tolerate_it(effect: str) -> None:
    for tolerations, expected in ([], "b"), ([Toleration(key="k", value="v", effect=effect)], "a"):
        cluster = nodes("a", "b")
        cluster.mark("a", Taint(key="k", value="v", effect=effect))
        one(cluster, tolerations=tolerations)
        cluster.settle()
        assert cluster.bound("job") == [expected]


def test_a_node_that_only_prefers_others_is_taken_where_there_is_no_other() -> None:
    cluster = nodes("a")
    cluster.mark("a", Taint(key="k", effect="PreferNoSchedule"))
    one(cluster)
    cluster.settle()
    assert cluster.bound("job") == ["a"]


def test_a_cordoned_node_takes_nobody_new_and_keeps_whom_it_has() -> None:
    cluster = nodes("a")
    one(cluster, "old")
    cluster.settle()
    cluster.mark("a", cordoned=True)
    one(cluster, "new")
    cluster.settle()
    assert (cluster.bound("old"), cluster.bound("new")) == (["a"], [])


def test_members_with_one_host_port_go_to_a_node_each() -> None:
    cluster = nodes("a", "b")
    cluster.gang("job", [Group("", min_member=1, members=3)])
    cluster.dress("job", containers=PORT)
    cluster.settle()
    assert sorted(cluster.bound("job")) == ["a", "b"]


def test_a_host_port_is_taken_on_one_address_only() -> None:
    cluster = nodes("a")
    for name, address in (("one", "10.0.0.1"), ("two", "10.0.0.2"), ("every", "")):
        port = ContainerPort(host_port=80, host_ip=address)
        one(cluster, name, containers=[Container(ports=[port])])
    cluster.settle()
    assert [bool(cluster.bound(name)) for name in ("one", "two", "every")] == [True, True, False]


@pytest.mark.parametrize(
    "spec", [{"affinity": APART}, {"containers": PORT}], ids=["anti-affinity", "host port"]
)
def test_a_lower_priority_makes_way_for_whom_it_keeps_off(spec: dict[str, Any]) -> None:
    cluster = nodes("a")
    cluster.linger = 2
    cluster.queue("q", quota=8)
    for name, priority in (("low", 50), ("high", 90)):
        cluster.gang(name, [Group("", min_member=1, members=1)], queue="q", priority=priority)
        cluster.dress(name, labels={"app": "x"}, **spec)
        cluster.settle()
    assert (cluster.bound("low"), cluster.bound("high")) == ([], ["a"])


def test_members_that_want_to_be_together_are_and_those_who_do_not_are_not() -> None:
    cluster = nodes("a", "b", "c", gpus=4)
    one(cluster, "seed", members=1, labels={"app": "x"}, node_selector={"rack": "b"})
    one(cluster, "near", members=3, affinity=TOGETHER)
    one(cluster, "far", members=2, labels={"app": "y"}, affinity=APART)
    cluster.settle()
    assert set(cluster.bound("near")) == {"b"}
    assert "b" not in cluster.bound("far")


def test_the_anti_affinity_of_those_who_run_keeps_others_off() -> None:
    cluster = nodes("a")
    one(cluster, "lonely", affinity=APART)
    cluster.settle()
    one(cluster, "other", labels={"app": "x"})
    cluster.settle()
    assert (cluster.bound("lonely"), cluster.bound("other")) == (["a"], [])


def test_the_first_of_those_who_want_to_be_together_may_go_anywhere() -> None:
    cluster = nodes("a", "b", gpus=2)
    one(cluster, members=2, labels={"app": "x"}, affinity=TOGETHER)
    cluster.settle()
    assert cluster.bound("job") in (["a", "a"], ["b", "b"])


@pytest.mark.parametrize(
    ("namespaces", "selector", "expected"),
    [
        (None, None, []),
        (["theirs"], None, ["b"]),
        (None, LabelSelector(match_labels={"team": "x"}), ["b"]),
        (None, LabelSelector(match_labels={"team": "y"}), []),
        (["theirs"], LabelSelector(match_labels={"team": "y"}), ["b"]),
        (None, LabelSelector(), ["b"]),
    ],
    ids=["its own", "by name", "by label", "by another label", "by name or label", "every"],
)
def test_neighbours_are_looked_for_in_the_namespaces_that_the_term_names(
    namespaces: list[str] | None, selector: LabelSelector | None, expected: list[str]
) -> None:
    cluster = nodes("a", "b")
    for name, team in ("ns", "z"), ("theirs", "x"):
        cluster.show(NAMESPACE, Namespace(metadata=ObjectMeta(name=name, labels={"team": team})))
    meta = ObjectMeta(name="neighbour", namespace="theirs", labels={"app": "x"})
    cluster.encoder.update(POD, None, Pod(metadata=meta, spec=PodSpec(node_name="b")))
    near = replace(BESIDE, namespaces=namespaces, namespace_selector=selector)
    one(cluster, affinity=Affinity(pod_affinity=PodAffinity(required=[near])))
    cluster.settle()
    assert cluster.bound("job") == expected


def test_a_pod_is_put_where_it_leaves_the_least_over_and_a_nominated_one_where_it_was_meant_to_be() -> None:
    cluster = nodes("a", "b", "c")
    one(cluster, "first", members=2, node_selector={"rack": "c"})
    cluster.settle()
    one(cluster, "packed")
    cluster.gang("meant", [Group("", min_member=1, members=1)])
    cluster.nominate("meant.0", "b")
    cluster.settle()
    assert (cluster.bound("packed"), cluster.bound("meant")) == (["c"], ["b"])


def test_preferred_neighbours_draw_a_pod_and_push_it() -> None:
    weighted = [WeightedPodAffinityTerm(10, BESIDE)]
    for affinity, expected in (
        (Affinity(pod_affinity=PodAffinity(preferred=weighted)), "b"),
        (Affinity(pod_anti_affinity=PodAffinity(preferred=weighted)), "a"),
    ):
        cluster = nodes("a", "b")
        one(cluster, "seed", labels={"app": "x"}, node_selector={"rack": "b"})
        cluster.settle()
        one(cluster, affinity=affinity)
        cluster.settle()
        assert cluster.bound("job") == [expected]


def test_members_are_spread_over_racks_by_no_more_than_the_skew() -> None:
    cluster = nodes("a", "b", "c")
    spread = TopologySpreadConstraint(topology_key="rack", label_selector=APP)
    one(cluster, members=6, labels={"app": "x"}, topology_spread_constraints=[spread])
    cluster.settle()
    assert sorted(cluster.bound("job")) == ["a", "a", "b", "b", "c", "c"]


def test_a_spread_that_cannot_hold_refuses_and_one_that_is_only_wished_does_not() -> None:
    for wish, count in (("DoNotSchedule", 0), ("ScheduleAnyway", 6)):
        cluster = nodes("a", "b")
        cluster.mark("b", cordoned=True)
        spread = TopologySpreadConstraint(topology_key="rack", label_selector=APP, when_unsatisfiable=wish)
        one(cluster, members=6, labels={"app": "x"}, topology_spread_constraints=[spread])
        cluster.settle()
        assert len(cluster.bound("job")) == count


@pytest.mark.parametrize(
    ("policies", "count"),
    [({}, 4), ({"node_affinity_policy": "Ignore"}, 1), ({"node_taints_policy": "Honor"}, 4)],
    ids=["by default", "affinity ignored", "taints honoured"],
)
def test_a_spread_counts_the_domains_that_its_policies_name(policies: dict[str, Any], count: int) -> None:
    """Rack b is closed to the pods by their selector, in the last case by a taint."""
    cluster = nodes("a", "b")
    spec: dict[str, Any] = {"node_selector": {"rack": "a"}}
    if "node_taints_policy" in policies:
        cluster.mark("b", cordoned=True)
        spec = {}
    spread = TopologySpreadConstraint(topology_key="rack", label_selector=APP, **policies)
    cluster.gang("job", [Group("", min_member=1, members=4)])
    cluster.dress("job", labels={"app": "x"}, topology_spread_constraints=[spread], **spec)
    cluster.settle()
    assert len(cluster.bound("job")) == count


def test_a_node_takes_no_more_pods_than_it_says() -> None:
    cluster = nodes("a")
    cluster.mark("a", more={"pods": "2"})
    cluster.gang("job", [Group("", min_member=1, members=4, gpus=0)])
    cluster.settle()
    assert len(cluster.bound("job")) == 2


def test_a_member_behind_a_gate_is_no_member_yet() -> None:
    cluster = nodes("a")
    one(cluster, members=2, scheduling_gates=[SchedulingGate("wait")])
    cluster.settle()
    assert cluster.bound("job") == []
    cluster.dress("job", scheduling_gates=None)
    cluster.settle()
    assert len(cluster.bound("job")) == 2


def test_pods_of_other_schedulers_hold_their_devices_and_ports() -> None:
    cluster = nodes("a", "b", gpus=1)
    device = Container(resources=ResourceRequirements(requests={GPU_RESOURCE: 1}))
    for node, container in (("a", PORT[0]), ("b", device)):
        spec = PodSpec(containers=[container], node_name=node, scheduler_name="default-scheduler")
        theirs = Pod(metadata=ObjectMeta(name=f"on-{node}", namespace="ns"), spec=spec)
        cluster.encoder.update(POD, None, theirs)
    one(cluster, "port", containers=PORT)
    one(cluster, "device")
    cluster.settle()
    assert (cluster.bound("port"), cluster.bound("device")) == (["b"], ["a"])


def test_members_on_a_node_that_vanishes_start_again_elsewhere() -> None:
    cluster = nodes("a", "b", gpus=2)
    one(cluster, members=2)
    cluster.settle()
    (was,) = set(cluster.bound("job"))
    cluster.lose(was)
    cluster.settle()
    assert set(cluster.bound("job")) == {"a", "b"} - {was}
