"""Ray: the head and each group of workers of a cluster are groups of one gang, named after the workload on top."""

from dataclasses import dataclass, replace
from typing import Any

from quorate.api import labels
from quorate.api.podgroup import SubGroup, TopologyConstraint
from quorate.grouping.errors import MalformedError, UnresolvedError
from quorate.grouping.names import group_name
from quorate.grouping.numbers import whole, whole_or
from quorate.grouping.objects import Address, Owner, dig, texts
from quorate.grouping.subject import Shape, Subject, plain

GROUP_LABEL = "ray.io/group"
PRIORITY_LABEL = "ray.io/priority-class-name"
HEAD = "headgroup"


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    label: str
    name: str
    needed: int
    constraint: TopologyConstraint | None


def cluster(subject: Subject) -> Shape:
    return _shape(subject, subject.owner)


def job(subject: Subject) -> Shape:
    nearest = subject.chain[0]
    if nearest.group_kind == ("batch", "Job"):
        return _submitter(subject, nearest)
    return _shape(subject, _cluster(subject, ("status", "rayClusterName")))


def service(subject: Subject) -> Shape:
    """During an upgrade there are two clusters: the one that does not serve yet, or no more, has its own gang."""
    status = ("activeServiceStatus", "pendingServiceStatus")
    serving = _cluster(subject, *(("status", field, "rayClusterName") for field in status))
    own = next((owner for owner in subject.chain if owner.kind == "RayCluster"), serving)
    shape = _shape(subject, own)
    return shape if own.uid == serving.uid else replace(shape, name=f"{shape.name}-{own.name}")


def _submitter(subject: Subject, below: Owner) -> Shape:
    """The pod that submits comes when the cluster is ready: a gang of its own, in the queue of the RayJob."""
    return replace(
        plain(subject),
        name=f"pg-{below.name}-{below.uid}",
        owner=below,
        source=below.inheriting(subject.owner.labels, {}),
    )


def _cluster(subject: Subject, *paths: tuple[str, ...]) -> Owner:
    names = [name for path in paths if (name := subject.owner.at(*path))]
    if not names:
        raise UnresolvedError(f"{subject.owner} has no cluster in its status yet")
    address = Address(subject.owner.api_version, "RayCluster", subject.owner.namespace, str(names[0]))
    found = subject.context.find(address)
    if found is None:
        raise UnresolvedError(f"{address} of {subject.owner} does not exist")
    return found


def _shape(subject: Subject, ray_cluster: Owner) -> Shape:
    workers = _worker_groups(ray_cluster)
    head = SubGroup(
        name=HEAD, min_member=1, topology_constraint=_constraint(ray_cluster.at("spec", "headGroupSpec"))
    )
    groups = [SubGroup(name=g.name, min_member=g.needed, topology_constraint=g.constraint) for g in workers]
    label = subject.label(GROUP_LABEL)
    own = HEAD if label == HEAD else next((group.name for group in workers if group.label == label), "")
    return replace(
        plain(subject),
        min_member=1 + sum(group.needed for group in workers),
        sub_groups=(head, *groups),
        sub_group=own,
        priority=subject.owner.labels.get(PRIORITY_LABEL, "") or ray_cluster.labels.get(PRIORITY_LABEL, ""),
    )


def _worker_groups(ray_cluster: Owner) -> list[WorkerGroup]:
    specs: Any = ray_cluster.at("spec", "workerGroupSpecs")
    groups = []
    for place, spec in enumerate(specs if isinstance(specs, list) else ()):
        needed = _needed(spec, f"spec.workerGroupSpecs[{place}]")
        if needed is None:
            continue
        label = str(dig(spec, "groupName") or f"worker-group-{place}")
        name = group_name(label) if label != HEAD else f"{HEAD}-workers"
        groups.append(WorkerGroup(label, name, needed, _constraint(spec)))
    return groups


def _needed(spec: Any, field: str) -> int | None:
    """How many pods of a group must start; None where it has none, now or at all."""
    if dig(spec, "suspend") is True or dig(spec, "suspended") is True:
        return None
    replicas = whole_or(dig(spec, "replicas"), 0, f"{field}.replicas")
    least = dig(spec, "minReplicas")
    hosts = whole_or(dig(spec, "numOfHosts"), 1, f"{field}.numOfHosts", least=1)
    needed = replicas if least is None else whole(least, f"{field}.minReplicas")
    if needed > replicas:
        raise MalformedError(f"{field}.minReplicas {needed} is more than its replicas {replicas}")
    return needed * hosts if replicas else None


def _constraint(spec: Any) -> TopologyConstraint | None:
    found = texts(dig(spec, "template", "metadata", "annotations"))
    topology = found.get(labels.TOPOLOGY, "")
    required, preferred = found.get(labels.TOPOLOGY_REQUIRED, ""), found.get(labels.TOPOLOGY_PREFERRED, "")
    if not required and not preferred:
        return None
    if not topology:
        raise MalformedError(f"annotation {labels.TOPOLOGY} is missing on a group of pods that names a level")
    return TopologyConstraint(
        topology=topology, required_topology_level=required, preferred_topology_level=preferred
    )
