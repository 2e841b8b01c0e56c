"""Gangs that are trees: inference services with prefill and decode replicas, and a frontend without GPUs."""

from quorate.api import labels
from quorate.api.core import POD, Pod, PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec, SubGroup, TopologyConstraint
from quorate.api.podspec import Container, PodSpec, ResourceList, ResourceRequirements
from quorate.scheduling.encode import Encoder

PREFILL, DECODE = 4, 2  # replicas
MEMBERS = {"prefill": 8, "decode": 4, "frontend": 2}
PODS = PREFILL * MEMBERS["prefill"] + DECODE * MEMBERS["decode"] + MEMBERS["frontend"]


def add_service(encoder: Encoder, name: str, *, rack: str) -> None:
    """Three of four prefill replicas of a leader and 7 workers, one of two decode replicas, one frontend."""
    near = TopologyConstraint(required_topology_level=rack)
    groups = [
        SubGroup(name="prefill", min_sub_group=3),
        SubGroup(name="decode", min_sub_group=1),
        SubGroup(name="frontend", min_member=1),
    ]
    groups += [
        SubGroup(name=f"{role}-{at}", parent=role, min_member=MEMBERS[role], topology_constraint=near)
        for role, replicas in (("prefill", PREFILL), ("decode", DECODE))
        for at in range(replicas)
    ]
    meta = ObjectMeta(name=name, namespace="bench")
    encoder.update(POD_GROUP, None, PodGroup(metadata=meta, spec=PodGroupSpec(sub_groups=groups)))
    for group in groups:
        role = group.parent or group.name
        if group.name in {"prefill", "decode"}:
            continue
        for number in range(MEMBERS[role]):
            is_leader = role == "prefill" and number == 0
            encoder.update(POD, None, _pod(name, group.name, number, role=role, is_leader=is_leader))


def _pod(service: str, group: str, number: int, *, role: str, is_leader: bool) -> Pod:
    requests: ResourceList = {"cpu": 8 if is_leader else 4, "memory": "16Gi"}
    if role != "frontend":
        requests[labels.GPU_RESOURCE] = 1
    meta = ObjectMeta(
        name=f"{service}-{group}-{number}",
        namespace="bench",
        labels={labels.SUB_GROUP_NAME: group},
        annotations={labels.POD_GROUP_NAME: service},
    )
    containers = [Container(name="main", resources=ResourceRequirements(requests=requests))]
    spec = PodSpec(containers=containers, scheduler_name="quorate")
    return Pod(metadata=meta, spec=spec, status=PodStatus(phase="Pending"))
