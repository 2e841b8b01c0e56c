"""Seeded clusters as API objects: nodes in zones and racks, queues, gangs of identical pods."""

from collections.abc import Iterator

from quorate.api import labels
from quorate.api.core import NODE, POD, Node, NodeStatus, Pod, PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec, TopologyConstraint
from quorate.api.podspec import Container, PodSpec, ResourceList, ResourceRequirements
from quorate.api.topology import TOPOLOGY, Topology, TopologyLevel, TopologySpec
from quorate.scheduling.encode import Encoder

ZONE, RACK = "topology.kubernetes.io/zone", "topology.kubernetes.io/rack"


def cluster(nodes: int, *, gpus: int = 8, per_rack: int = 100, racks_per_zone: int = 10) -> Encoder:
    """An encoder that knows the nodes and one topology of zones and racks."""
    encoder = Encoder("quorate")
    levels = [TopologyLevel(node_label=ZONE), TopologyLevel(node_label=RACK), TopologyLevel(node_label=labels.HOSTNAME)]
    encoder.update(TOPOLOGY, None, Topology(metadata=ObjectMeta(name="t"), spec=TopologySpec(levels=levels)))
    for number in range(nodes):
        name, rack = f"node-{number:06d}", number // per_rack
        where = {ZONE: f"z{rack // racks_per_zone:03d}", RACK: f"r{rack:05d}", labels.HOSTNAME: name}
        capacity: ResourceList = {labels.GPU_RESOURCE: gpus, "cpu": 96, "memory": "768Gi", "pods": 110}
        node = Node(metadata=ObjectMeta(name=name, labels=where), status=NodeStatus(allocatable=capacity))
        encoder.update(NODE, None, node)
    return encoder


def add_gang(
    encoder: Encoder, name: str, size: int, *, gpus: int = 1, required: str = "", preferred: str = "", nodes: list[str] | None = None
) -> None:
    """A flat gang of identical pods; with `nodes` it runs there already."""
    constraint = TopologyConstraint(required_topology_level=required, preferred_topology_level=preferred)
    spec = PodGroupSpec(min_member=size, topology_constraint=constraint if constraint else None)
    encoder.update(POD_GROUP, None, PodGroup(metadata=ObjectMeta(name=name, namespace="bench"), spec=spec))
    for pod in pods(name, size, gpus, nodes):
        encoder.update(POD, None, pod)


def pods(gang: str, size: int, gpus: int, nodes: list[str] | None) -> Iterator[Pod]:
    requests: ResourceList = {labels.GPU_RESOURCE: gpus, "cpu": 4, "memory": "16Gi"}
    container = Container(name="main", resources=ResourceRequirements(requests=requests))
    for number in range(size):
        meta = ObjectMeta(name=f"{gang}-{number}", namespace="bench", annotations={labels.POD_GROUP_NAME: gang})
        spec = PodSpec(containers=[container], scheduler_name="quorate", node_name=nodes[number] if nodes else "")
        yield Pod(metadata=meta, spec=spec, status=PodStatus(phase="Running" if nodes else "Pending"))
