"""A gang case as API objects through the production encoder and `decide`, run until nothing moves."""

from typing import Any

import msgspec

from quorate.api import labels
from quorate.api.core import NODE, POD, Node, NodeStatus, Pod, PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, SubGroup, TopologyConstraint
from quorate.api.podspec import Container, PodSpec, ResourceRequirements
from quorate.api.topology import TOPOLOGY, Topology, TopologyLevel, TopologySpec
from quorate.plan import Bind
from quorate.scheduling.decide import decide
from quorate.scheduling.encode import Encoder
from tests.cases.gang_rules import spec_of

Json = dict[str, Any]

GPU = labels.GPU_RESOURCE
LEVELS = ("zone", "rack")
ROUNDS = 30


def placement_of(case: Json) -> dict[str, list[str]]:
    """Nodes of the bound members by path of their leaf, once nothing moves any more."""
    encoder = Encoder("quorate")
    for node in case["nodes"]:
        encoder.update(NODE, None, _node(node))
    levels = [TopologyLevel(node_label=name) for name in LEVELS]
    topology = Topology(metadata=ObjectMeta(name="cluster"), spec=TopologySpec(levels=levels))
    encoder.update(TOPOLOGY, None, topology)
    encoder.update(POD_GROUP, None, _podgroup(case["gang"]))
    pods = {pod.metadata.name: pod for pod in _pods(case["gang"])}
    for pod in pods.values():
        encoder.update(POD, None, pod)
    leaves = {name: pod.metadata.annotation("path") for name, pod in pods.items()}
    placed: dict[str, list[str]] = {}
    for _ in range(ROUNDS):
        binds = [one for one in decide(encoder.snapshot(0.0)).changes if isinstance(one, Bind)]
        if not binds:
            return placed
        for bind in binds:
            name = bind.pod.name
            placed.setdefault(leaves[name], []).append(bind.node)
            bound = msgspec.structs.replace(pods[name], spec=_spec(pods[name], bind.node))
            encoder.update(POD, pods[name], bound)
    raise AssertionError(f"still moving after {ROUNDS} rounds")


def _spec(pod: Pod, node: str) -> PodSpec:
    return msgspec.structs.replace(pod.spec, node_name=node)


def _node(node: Json) -> Node:
    return Node(
        metadata=ObjectMeta(name=node["name"], labels={level: node[level] for level in LEVELS}),
        status=NodeStatus(allocatable={GPU: node["gpus"], "pods": 110}),
    )


def _podgroup(gang: Json) -> PodGroup:
    spec = spec_of(gang, {})
    at = {node["name"]: node.get("level") for node in _groups(gang)}
    spec.topology_constraint = _constraint(gang.get("level"))
    spec.sub_groups = [
        SubGroup(
            name=one.name,
            parent=one.parent,
            min_member=one.min_member,
            min_sub_group=one.min_sub_group,
            topology_constraint=_constraint(at[one.name]),
        )
        for one in spec.sub_groups or ()
    ]
    return PodGroup(metadata=ObjectMeta(name=gang["name"], namespace="default"), spec=spec)


def _constraint(level: str | None) -> TopologyConstraint | None:
    return TopologyConstraint(required_topology_level=level) if level else None


def _groups(gang: Json) -> list[Json]:
    return [gang, *(found for child in gang.get("children", ()) for found in _groups(child))]


def _pods(gang: Json) -> list[Pod]:
    found: list[Pod] = []

    def descend(node: Json, path: str) -> None:
        found.extend(_pod(gang["name"], node, path, index) for index in range(node.get("members", 0)))
        for child in node.get("children", ()):
            descend(child, f"{path}/{child['name']}")

    descend(gang, gang["name"])
    return found


def _pod(gang: str, leaf: Json, path: str, index: int) -> Pod:
    container = Container(name="main", resources=ResourceRequirements(requests={GPU: leaf["gpus"]}))
    return Pod(
        metadata=ObjectMeta(
            name=f"{path.replace('/', '.')}.{index}",
            namespace="default",
            labels={labels.SUB_GROUP_NAME: leaf["name"]},
            annotations={labels.POD_GROUP_NAME: gang, "path": path},
        ),
        spec=PodSpec(containers=[container], scheduler_name="quorate"),
        status=PodStatus(phase="Pending"),
    )
