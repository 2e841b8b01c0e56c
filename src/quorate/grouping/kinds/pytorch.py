"""PyTorchJob: a group of masters and a group of workers, the workers in segments where that is asked for."""

from dataclasses import replace

from quorate.api.podgroup import SubGroup
from quorate.grouping.kinds.kubeflow import (
    REPLICA_INDEX,
    REPLICA_TYPE,
    min_available,
    replicas,
    total_members,
    trained,
)
from quorate.grouping.kinds.segments import Segments, segment_size
from quorate.grouping.numbers import whole
from quorate.grouping.objects import Owner, texts
from quorate.grouping.subject import Shape, Subject
from quorate.grouping.topology import segment_constraint

FIELD = "pytorchReplicaSpecs"
MASTER = "Master"
WORKER = "Worker"


def pytorch(subject: Subject) -> Shape:
    owner = subject.owner
    needed = _minimum(owner)
    counts = replicas(owner, FIELD)
    masters = counts.get(MASTER, 0)
    groups = [SubGroup(name="master", min_member=masters)] if masters else []
    role = subject.label(REPLICA_TYPE).lower()
    own = role if role in {"master", "worker"} else ""
    if WORKER in counts:
        workers = max(0, needed - masters)
        segments = _segments(subject, counts[WORKER], workers)
        if segments is None:
            groups.append(SubGroup(name="worker", min_member=workers))
        else:
            groups.extend(segments.groups("worker"))
            own = _segment(subject, segments) if role == "worker" else own
    known = {group.name for group in groups}
    return replace(
        trained(subject),
        min_member=needed,
        sub_groups=tuple(groups),
        sub_group=own if own in known else "",
    )


def _minimum(owner: Owner) -> int:
    asked = min_available(owner)
    if asked is not None:
        return asked
    total = total_members(owner, FIELD, ())
    elastic = owner.at("spec", "elasticPolicy", "minReplicas")
    return total if elastic is None else whole(elastic, "spec.elasticPolicy.minReplicas")


def _segments(subject: Subject, workers: int, needed: int) -> Segments | None:
    template = texts(subject.owner.at("spec", FIELD, WORKER, "template", "metadata", "annotations"))
    sources = (subject.pod.metadata.annotations or {}, template)
    size = segment_size(sources)
    if size is None or not workers:
        return None
    return Segments(size, workers, needed, segment_constraint(sources, subject.owner.annotations))


def _segment(subject: Subject, segments: Segments) -> str:
    index = whole(subject.label(REPLICA_INDEX), f"label {REPLICA_INDEX}")
    return segments.of(index, "worker")
