"""LeaderWorkerSet: a gang per group of the set, of the leader and its workers, the workers in segments."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from msgspec import structs

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.podgroup import MAX_SUB_GROUPS, SubGroup, TopologyConstraint
from quorate.api.topology import NODE_LABELS
from quorate.grouping.errors import MalformedError
from quorate.grouping.kinds import roles
from quorate.grouping.kinds.segments import segment_size
from quorate.grouping.numbers import whole, whole_or
from quorate.grouping.objects import texts
from quorate.grouping.subject import Shape, Subject, plain
from quorate.grouping.topology import segment_constraint

LEADER = "leader"
WORKERS = "workers"
LEADER_EXCLUDED = "LeaderExcluded"
TEMPLATE = ("spec", "leaderWorkerTemplate")
STARTUP_POLICIES = (None, "LeaderCreated", "LeaderReady")


@dataclass(frozen=True, slots=True)
class Segmenting:
    """How the pods of one group divide: `size` pods in segments of `segment`."""

    size: int
    segment: int
    is_leader_excluded: bool
    constraint: TopologyConstraint | None


def leader_worker_set(subject: Subject) -> Shape:
    index = subject.label(labels.LWS_GROUP_INDEX)
    size, warnings = _size(subject)
    domain = _exclusive(subject, labels.LWS_EXCLUSIVE_TOPOLOGY)
    needed = subject.owner.annotations.get(labels.MIN_GROUPS)
    if needed:
        count = whole(needed, f"annotation {labels.MIN_GROUPS}")
        return _whole_set(subject, index, size, count, domain)
    if labels.GANG_OF_ROLES in subject.owner.annotations:
        return roles.one_gang(subject, index, size)
    base = plain(subject)
    shape = replace(
        base,
        name=f"{base.name}-group-{int(index)}" if index.isdecimal() else base.name,
        constraint=domain,
        composite=roles.segment_of(subject.owner, index),
        warnings=warnings,
    )
    if _waits_for_leader(subject, index):
        _segmenting(subject, size)
        alone = SubGroup(name=LEADER, min_member=1)
        return replace(shape, min_member=1, sub_groups=(alone,), sub_group=LEADER)
    groups, own = _groups(subject, size)
    return replace(shape, min_member=size, sub_groups=tuple(groups), sub_group=own)


def _exclusive(subject: Subject, key: str) -> TopologyConstraint | None:
    """What an annotation keeps to one domain of a node label; the pods say it as their revision had it."""
    label = subject.annotation(key) or subject.owner.annotations.get(key, "")
    return TopologyConstraint(topology=NODE_LABELS, required_topology_level=label) if label else None


def _groups(subject: Subject, size: int) -> tuple[list[SubGroup], str]:
    """The groups of one group of the set, and which of them the pod is in."""
    worker = _worker_index(subject)
    segmenting = _segmenting(subject, size)
    if segmenting is not None:
        return _segmented(segmenting, worker)
    groups = [SubGroup(name=LEADER, min_member=1)]
    if size > 1:
        groups.append(SubGroup(name=WORKERS, min_member=size - 1))
    return groups, LEADER if worker == 0 or size == 1 else WORKERS


def _whole_set(
    subject: Subject,
    index: str,
    size: int,
    needed: int,
    domain: TopologyConstraint | None,
) -> Shape:
    """The set as one gang with a group for each of its groups, of which so many are needed."""
    count = whole_or(subject.owner.at("spec", "replicas"), 1, "spec.replicas")
    own = whole(index, f"label {labels.LWS_GROUP_INDEX}")
    count = max(count, _seen(_Shared(subject.peers.pods)).highest + 1)
    below, leaf = _groups(subject, size)
    if count * (1 + len(below)) > MAX_SUB_GROUPS:
        raise MalformedError(
            f"spec.replicas: {count} are more groups than one gang can have; leave {labels.MIN_GROUPS} out"
        )
    groups = [group for place in range(count) for group in _one_of_set(f"group-{place}", size, below, domain)]
    return replace(
        plain(subject),
        min_member=needed * size,
        min_sub_group=needed,
        sub_groups=tuple(groups),
        sub_group=f"group-{own}-{leaf}",
    )


def _one_of_set(
    name: str, size: int, below: list[SubGroup], domain: TopologyConstraint | None
) -> Iterator[SubGroup]:
    top = sum(group.parent is None for group in below)
    yield SubGroup(name=name, min_member=size, min_sub_group=top, topology_constraint=domain)
    for group in below:
        parent = f"{name}-{group.parent}" if group.parent else name
        yield structs.replace(group, name=f"{name}-{group.name}", parent=parent)


def _size(subject: Subject) -> tuple[int, tuple[str, ...]]:
    """The size this group was made with, which its pods carry while the set is changed; else the set's."""
    value = subject.owner.at(*TEMPLATE, "size")
    if value is None:
        raise MalformedError(f"spec.leaderWorkerTemplate.size of {subject.owner} is missing")
    size = whole(value, "spec.leaderWorkerTemplate.size", least=1)
    text = subject.annotation(labels.LWS_SIZE)
    if not text:
        return size, ()
    try:
        return whole(text, f"annotation {labels.LWS_SIZE}", least=1), ()
    except MalformedError as error:
        return size, (f"{error}; the size of the set, {size}, is used",)


def _worker_index(subject: Subject) -> int | None:
    text = subject.label(labels.LWS_WORKER_INDEX)
    return whole(text, f"label {labels.LWS_WORKER_INDEX}") if text else None


def _waits_for_leader(subject: Subject, index: str) -> bool:
    """Whether only the leader can exist: workers are created once it is ready, so nobody waits for them."""
    policy = subject.owner.at("spec", "startupPolicy")
    if policy not in STARTUP_POLICIES:
        raise MalformedError(f"spec.startupPolicy: {policy!r} is neither LeaderCreated nor LeaderReady")
    if policy != "LeaderReady":
        return False
    return index not in _seen(_Shared(subject.peers.pods)).started


class _Shared:
    """The pods of one pass, told apart by identity: every one of them asks the same of all of them."""

    def __init__(self, pods: tuple[Pod, ...]) -> None:
        self.pods = pods

    def __hash__(self) -> int:
        return id(self.pods)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shared) and other.pods is self.pods


class _Seen(NamedTuple):
    """The highest group, and those of which there is a worker or a leader that has its node."""

    highest: int
    started: frozenset[str]


@lru_cache(maxsize=1)
def _seen(shared: _Shared) -> _Seen:
    indices = {pod.metadata.label(labels.LWS_GROUP_INDEX) for pod in shared.pods}
    started = (
        pod.metadata.label(labels.LWS_GROUP_INDEX)
        for pod in shared.pods
        if pod.metadata.label(labels.LWS_WORKER_INDEX) != "0" or pod.spec.node_name
    )
    return _Seen(max((int(text) for text in indices if text.isdecimal()), default=-1), frozenset(started))


def _segmenting(subject: Subject, size: int) -> Segmenting | None:
    owner = subject.owner
    policy = owner.at(*TEMPLATE, "subGroupPolicy")
    template = texts(owner.at(*TEMPLATE, "workerTemplate", "metadata", "annotations"))
    asked = owner.at(*TEMPLATE, "subGroupPolicy", "subGroupSize")
    if asked is not None:
        segment = whole(asked, "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize", least=1)
    else:
        found = segment_size((owner.annotations, template))
        if found is None:
            return None
        segment = found
    kind = policy.get("subGroupPolicyType") if isinstance(policy, dict) else None
    if kind not in (None, "", "LeaderWorker", LEADER_EXCLUDED):
        raise MalformedError(
            f"spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType: {kind!r} is unknown"
        )
    if segment > size:
        raise MalformedError(f"segments of {segment} pods do not fit a group of {size}")
    if size > segment * MAX_SUB_GROUPS // 2:
        raise MalformedError(
            f"{size} pods in segments of {segment} make more than {MAX_SUB_GROUPS // 2} groups"
        )
    is_excluded = kind == LEADER_EXCLUDED
    if is_excluded and (size - 1) % segment:
        raise MalformedError(f"{size - 1} workers cannot be divided into segments of {segment}")
    sources = (subject.pod.metadata.annotations or {}, template)
    domain = _exclusive(subject, labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY) if asked is not None else None
    return Segmenting(size, segment, is_excluded, domain or segment_constraint(sources, owner.annotations))


def _segmented(by: Segmenting, worker: int | None) -> tuple[list[SubGroup], str]:
    """Workers in segments; the leader alone if it is excluded, else in the first segment with its workers."""
    if worker is None:
        raise MalformedError(f"label {labels.LWS_WORKER_INDEX} is missing: the pod does not say its segment")
    if worker >= by.size:
        raise MalformedError(f"label {labels.LWS_WORKER_INDEX}: {worker} is beyond the size {by.size}")
    sizes = _segment_sizes(by)
    segments = [
        SubGroup(name=f"segment-{index}", min_member=count, topology_constraint=by.constraint)
        for index, count in enumerate(sizes)
    ]
    leader = SubGroup(name=LEADER, min_member=1)
    if by.is_leader_excluded:
        own = LEADER if worker == 0 else f"segment-{_segment_of(by, worker)}"
        return [leader, *segments], own
    index = _segment_of(by, worker)
    own = f"segment-{index}" if index else (WORKERS if worker else LEADER)
    below = [structs.replace(leader, parent="segment-0")]
    if sizes[0] > 1:
        below.append(SubGroup(name=WORKERS, parent="segment-0", min_member=sizes[0] - 1))
    first = SubGroup(name="segment-0", min_sub_group=len(below), topology_constraint=by.constraint)
    return [first, *segments[1:], *below], own


def _segment_of(by: Segmenting, worker: int) -> int:
    """As LeaderWorkerSet itself counts: a leader beyond whole segments is an extra of the first one."""
    if by.is_leader_excluded or _is_leader_extra(by):
        return (worker - 1) // by.segment if worker else 0
    return worker // by.segment


def _is_leader_extra(by: Segmenting) -> bool:
    return (by.size - 1) % by.segment == 0 and by.size % by.segment != 0


def _segment_sizes(by: Segmenting) -> list[int]:
    """How many pods each segment has."""
    workers = by.size - 1
    if by.is_leader_excluded:
        return [by.segment] * (workers // by.segment)
    if _is_leader_extra(by):
        return [by.segment + 1, *[by.segment] * (workers // by.segment - 1)]
    return [min(by.segment, by.size - begin) for begin in range(0, by.size, by.segment)]
