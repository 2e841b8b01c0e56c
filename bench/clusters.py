"""Seeded clusters as API objects: nodes in zones and racks, queues, gangs of identical pods."""

from dataclasses import dataclass

from quorate.api import labels
from quorate.api.core import NODE, POD, Node, NodeStatus, Pod, PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec, TopologyConstraint
from quorate.api.podspec import Container, PodSpec, ResourceList, ResourceRequirements
from quorate.api.queue import QUEUE, Queue, QueueResource, QueueResources, QueueSpec
from quorate.api.topology import TOPOLOGY, Topology, TopologyLevel, TopologySpec
from quorate.scheduling.encode import Encoder

ZONE, RACK = "topology.kubernetes.io/zone", "topology.kubernetes.io/rack"


def cluster(nodes: int, *, gpus: int = 8, per_rack: int = 100, racks_per_zone: int = 10) -> Encoder:
    """An encoder that knows the nodes and one topology of zones and racks."""
    encoder = Encoder("quorate")
    levels = [
        TopologyLevel(node_label=ZONE),
        TopologyLevel(node_label=RACK),
        TopologyLevel(node_label=labels.HOSTNAME),
    ]
    encoder.update(TOPOLOGY, None, Topology(metadata=ObjectMeta(name="t"), spec=TopologySpec(levels=levels)))
    for number in range(nodes):
        name, rack = f"node-{number:06d}", number // per_rack
        where = {ZONE: f"z{rack // racks_per_zone:03d}", RACK: f"r{rack:05d}", labels.HOSTNAME: name}
        capacity: ResourceList = {labels.GPU_RESOURCE: gpus, "cpu": 96, "memory": "768Gi", "pods": 110}
        node = Node(metadata=ObjectMeta(name=name, labels=where), status=NodeStatus(allocatable=capacity))
        encoder.update(NODE, None, node)
    return encoder


@dataclass(frozen=True)
class Job:
    """A flat gang of identical pods; with `nodes` it runs there already."""

    name: str
    size: int
    gpus: int = 1
    queue: str = ""
    required: str = ""
    preferred: str = ""
    nodes: tuple[str, ...] = ()
    minimum: int | None = None  # all, if none is stated


def add_job(encoder: Encoder, job: Job) -> None:
    encoder.update(POD_GROUP, None, group_of(job))
    for pod in pods_of(job):
        encoder.update(POD, None, pod)


def group_of(job: Job) -> PodGroup:
    constraint = TopologyConstraint(
        required_topology_level=job.required, preferred_topology_level=job.preferred
    )
    minimum = job.size if job.minimum is None else job.minimum
    spec = PodGroupSpec(min_member=minimum, queue=job.queue, topology_constraint=constraint)
    return PodGroup(metadata=ObjectMeta(name=job.name, namespace="bench"), spec=spec)


def pods_of(job: Job) -> list[Pod]:
    return [pod_of(job, number) for number in range(job.size)]


def pod_of(job: Job, number: int) -> Pod:
    requests: ResourceList = {labels.GPU_RESOURCE: job.gpus, "cpu": 4, "memory": "16Gi"}
    node = job.nodes[number] if job.nodes else ""
    return Pod(
        metadata=ObjectMeta(
            name=f"{job.name}-{number}",
            namespace="bench",
            annotations={labels.POD_GROUP_NAME: job.name},
        ),
        spec=PodSpec(
            containers=[Container(name="main", resources=ResourceRequirements(requests=requests))],
            scheduler_name="quorate",
            node_name=node,
        ),
        status=PodStatus(phase="Running" if node else "Pending"),
    )


def add_queue(encoder: Encoder, name: str, *, quota: float = 0, parent: str = "", weight: float = 1) -> None:
    free = QueueResource(quota=-1, limit=-1, over_quota_weight=1)
    gpu = QueueResource(quota=quota, limit=-1, over_quota_weight=weight)
    resources = QueueResources(cpu=free, memory=free, gpu=gpu)
    spec = QueueSpec(parent_queue=parent, resources=resources)
    encoder.update(QUEUE, None, Queue(metadata=ObjectMeta(name=name), spec=spec))
