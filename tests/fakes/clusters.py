"""A small cluster in memory around the production encoder and `decide`: cycles are applied at once.

Evicted pods come back pending, as a controller would make them, after `linger` further cycles on their node;
nominations and annotations are kept. `judge` says what is wrong with what the cluster holds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from quorate.api import labels
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup, CompositePodGroupSpec
from quorate.api.core import (
    NODE,
    POD,
    PRIORITY_CLASS,
    Node,
    NodeSpec,
    NodeStatus,
    Pod,
    PodStatus,
    PriorityClass,
    Taint,
)
from quorate.api.meta import Condition, Kind, Object, ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec, SubGroup, TopologyConstraint
from quorate.api.podspec import Container, LabelSelector, PodSpec, ResourceRequirements
from quorate.api.policy import (
    POD_DISRUPTION_BUDGET,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from quorate.api.queue import QUEUE, Queue, QueueResource, QueueResources, QueueSpec
from quorate.api.storage import (
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    ClaimReference,
    PersistentVolume,
    PersistentVolumeClaim,
)
from quorate.api.topology import TOPOLOGY, Topology, TopologyLevel, TopologySpec
from quorate.plan import Bind, Change, Evict, Patch, Plan, SetStatus
from quorate.scheduling.decide import decide
from quorate.scheduling.encode import Encoder
from quorate.scheduling.policy import Policy

NOW = 1_750_000_000.0
LEVELS = ("zone", "rack")
RUNNING = PodStatus(phase="Running", conditions=[Condition(type="Ready", status="True")])
FREE = QueueResource(quota=-1, limit=-1, over_quota_weight=1)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Printer(Protocol):
    """What Hypothesis prints counterexamples with."""

    def text(self, text: str) -> None: ...


@dataclass(frozen=True, repr=False)
class Group:
    """A group of a gang; a leaf has members that take `gpus` and `cpus` each."""

    name: str
    parent: str = ""
    min_member: int | None = None
    min_sub_group: int | None = None
    members: int = 0
    gpus: int = 1
    cpus: int = 1
    required: str = ""
    preferred: str = ""
    running: tuple[str, ...] = ()  # nodes of the first members

    def __repr__(self) -> str:
        """Only what was stated: counterexamples are read by people."""
        stated = {one.name: getattr(self, one.name) for one in fields(self)}
        told = (f"{name}={value!r}" for name, value in stated.items() if value not in ("", None, ()))
        return f"Group({', '.join(told)})"

    def _repr_pretty_(self, printer: Printer, _: object) -> None:
        printer.text(repr(self))


@dataclass(frozen=True)
class Line:
    """A queue as it was made, with the amounts of GPUs."""

    parent: str = ""
    quota: int = 0
    limit: int = -1


@dataclass
class Cluster:
    policy: Policy = field(default_factory=Policy)
    now: float = NOW
    linger: int = 0
    nodes: dict[str, int] = field(default_factory=dict)
    cpus: dict[str, int] = field(default_factory=dict)
    queues: dict[str, Line] = field(default_factory=dict)
    places: dict[str, dict[str, str]] = field(default_factory=dict)
    groups: dict[str, dict[str, Group]] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    encoder: Encoder = field(default_factory=lambda: Encoder("quorate"))
    podgroups: dict[str, PodGroup] = field(default_factory=dict)
    composites: dict[str, int | None] = field(default_factory=dict)  # how many of its gangs each needs
    evicted: int = 0
    budgets: dict[str, int] = field(default_factory=dict)  # by gang, how many members must stay
    leaving: dict[str, int] = field(default_factory=dict)  # cycles that evicted pods stay yet
    objects: dict[tuple[Kind, str], Object] = field(default_factory=dict)  # as the encoder saw them last

    def __post_init__(self) -> None:
        levels = [TopologyLevel(node_label=name) for name in LEVELS]
        topology = Topology(metadata=ObjectMeta(name="places"), spec=TopologySpec(levels=levels))
        self.show(TOPOLOGY, topology)

    def node(self, name: str, gpus: int, *, cpus: int = 64, **places: str) -> None:
        self.nodes[name], self.cpus[name], self.places[name] = gpus, cpus, places
        self.show(NODE, self._node(name))

    def mark(
        self, name: str, *taints: Taint, cordoned: bool = False, more: Mapping[str, str] | None = None
    ) -> None:
        """Taint or cordon a node, or give it further resources."""
        node = self._node(name)
        amounts = {**(node.status.allocatable or {}), **(more or {})}
        spec = NodeSpec(unschedulable=cordoned, taints=list(taints))
        self.show(NODE, replace(node, spec=spec, status=replace(node.status, allocatable=amounts)))

    def lose(self, name: str) -> None:
        """A node vanishes; its pods are made anew."""
        self.show(NODE, None, was=self._node(name))
        del self.nodes[name], self.cpus[name]
        for pod in [one for one in self.pods.values() if one.spec.node_name == name]:
            self._anew(pod)

    def queue(  # noqa: PLR0913 - the fields of a queue
        self,
        name: str,
        *,
        parent: str = "",
        quota: int = 0,
        limit: int = -1,
        weight: int = 1,
        priority: int = 100,
        min_runtime: int = 0,
        cpu: QueueResource = FREE,
    ) -> None:
        self.queues[name] = Line(parent, quota, limit)
        gpu = QueueResource(quota=quota, limit=limit, over_quota_weight=weight)
        runtime = f"{min_runtime}s" if min_runtime else None
        spec = QueueSpec(
            parent_queue=parent,
            priority=priority,
            resources=QueueResources(cpu=cpu, memory=FREE, gpu=gpu),
            preempt_min_runtime=runtime,
            reclaim_min_runtime=runtime,
        )
        self.show(QUEUE, Queue(metadata=ObjectMeta(name=name), spec=spec))

    def gang(  # noqa: PLR0913 - the fields of a gang
        self,
        name: str,
        groups: list[Group],
        *,
        queue: str = "",
        priority: int = 50,
        preemptibility: str = "",
        delay: int = 0,
        composite: str = "",
    ) -> None:
        """A gang whose first group is the root; a root with members is a flat gang."""
        root, *others = groups
        self.groups[name] = {group.name: group for group in groups}
        self._class(priority)
        spec = PodGroupSpec(
            min_member=root.min_member,
            min_sub_group=root.min_sub_group,
            queue=queue,
            priority_class_name=f"p{priority}",
            preemptibility=preemptibility,
            preemption_delay=f"{delay}s" if delay else None,
            topology_constraint=_constraint(root),
            sub_groups=[_sub_group(group) for group in others] or None,
        )
        meta = ObjectMeta(
            name=name,
            namespace="ns",
            creation_timestamp=moment(NOW - 1000 + len(self.groups)),
            labels={labels.COMPOSITE_GROUP: composite} if composite else None,
        )
        self.podgroups[name] = PodGroup(metadata=meta, spec=spec)
        self.show(POD_GROUP, self.podgroups[name])
        for group in groups:
            for index in range(group.members):
                self.change(_pod(name, group, index))

    def composite(
        self, name: str, *, needed: int | None = None, parent: str = "", required: str = "", spread: str = ""
    ) -> None:
        """A gang of the gangs that name it; of its composites too."""
        self.composites[name] = needed
        spec = CompositePodGroupSpec(
            min_group_count=needed,
            parent=parent,
            topology_constraint=TopologyConstraint(required_topology_level=required) if required else None,
            spread=spread,
        )
        meta = ObjectMeta(name=name, namespace="ns")
        self.show(COMPOSITE_POD_GROUP, CompositePodGroup(metadata=meta, spec=spec))

    def dress(self, gang: str, *, labels: Mapping[str, str] | None = None, **spec: Any) -> None:
        """Give every member of a gang further labels and other fields of its spec."""
        for pod in [one for one in self.pods.values() if one.metadata.label("gang") == gang]:
            metadata = replace(pod.metadata, labels={**(pod.metadata.labels or {}), **(labels or {})})
            self.change(replace(pod, metadata=metadata, spec=replace(pod.spec, **spec)))

    def nominate(self, name: str, node: str) -> None:
        """A former cycle held a seat for a pod."""
        status = PodStatus(phase="Pending", nominated_node_name=node)
        self.change(replace(self.pods[name], status=status))

    def guard(self, gang: str, least: int) -> None:
        """A disruption budget over the members of a gang."""
        self.budgets[gang] = least

    def cycle(self) -> Plan:
        """One decision, applied."""
        for gang in self.budgets:
            self._count_budget(gang)
        for name in [name for name, cycles in self.leaving.items() if not cycles]:
            self._anew(self.pods[name])
        self.leaving = {name: cycles - 1 for name, cycles in self.leaving.items()}
        plan = decide(self.encoder.snapshot(self.now), self.policy)
        self.now += 1.0
        for change in plan.changes:
            self._apply(change)
        return plan

    def settle(self, rounds: int = 40) -> None:
        """Cycles until one changes nothing."""
        for _ in range(rounds):
            if not self.cycle().changes and not self.leaving:
                return
        raise AssertionError(f"still moving after {rounds} cycles")

    def bound(self, gang: str, group: str = "") -> list[str]:
        """Nodes of the running members of a group and of all groups below it."""
        below = {group, *(name for name in self.groups[gang] if group in self._above(gang, name))}
        return [
            pod.spec.node_name
            for pod in self.pods.values()
            if pod.spec.node_name
            and not pod.is_deleting
            and pod.metadata.label("gang") == gang
            and pod.metadata.label("group") in below
        ]

    def show(self, kind: Kind, new: Object | None, *, was: Object | None = None) -> None:
        """Let the encoder see a change."""
        self.encoder.update(kind, was, new)
        found = new or was
        assert found is not None, "a change has an object before or after"
        if new is None:
            del self.objects[kind, found.metadata.name]
        else:
            self.objects[kind, found.metadata.name] = new

    def _above(self, gang: str, name: str) -> list[str]:
        found = []
        while name:
            name = self.groups[gang][name].parent
            found.append(name)
        return found

    def _class(self, priority: int) -> None:
        meta = ObjectMeta(name=f"p{priority}")
        self.show(PRIORITY_CLASS, PriorityClass(metadata=meta, value=priority))

    def change(self, pod: Pod) -> None:
        """A pod is there, or is now so."""
        self.show(POD, pod, was=self.pods.get(pod.metadata.name))
        self.pods[pod.metadata.name] = pod

    def _apply(self, change: Change) -> None:
        match change:
            case Bind():
                pod = self.pods[change.pod.name]
                self.change(replace(pod, spec=replace(pod.spec, node_name=change.node), status=RUNNING))
            case Evict():
                self.evicted += 1
                self._evict(self.pods[change.pod.name])
            case SetStatus():
                pod = self.pods[change.target.name]
                node = change.status["nominatedNodeName"] or ""
                self.change(replace(pod, status=PodStatus(phase="Pending", nominated_node_name=node)))
            case Patch() if change.target.kind == POD_GROUP:
                self._annotate(change.target.name, change.body["metadata"]["annotations"])
            case Patch() if change.target.kind == PERSISTENT_VOLUME:
                self._hold(change)
            case Patch():
                known = self.objects[change.target.kind, change.target.name]
                metadata = replace(known.metadata, annotations=change.body["metadata"]["annotations"])
                self.show(change.target.kind, replace(known, metadata=metadata), was=known)
            case _:
                raise AssertionError(f"unexpected change {change}")

    def _evict(self, pod: Pod) -> None:
        if not self.linger:
            self._anew(pod)
            return
        self.leaving[pod.metadata.name] = self.linger
        self.change(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=moment(self.now))))

    def _anew(self, pod: Pod) -> None:
        """The pod is gone and its controller makes the next one."""
        self.leaving.pop(pod.metadata.name, None)
        self.change(
            replace(
                pod,
                metadata=replace(pod.metadata, deletion_timestamp=None),
                spec=replace(pod.spec, node_name=""),
                status=PodStatus(phase="Pending"),
            )
        )

    def _node(self, name: str) -> Node:
        amounts: dict[str, str | int | float] = {
            labels.GPU_RESOURCE: self.nodes[name],
            "cpu": self.cpus[name],
            "memory": "256Gi",
            "pods": 110,
        }
        meta = ObjectMeta(name=name, labels=self.places[name])
        return Node(metadata=meta, status=NodeStatus(allocatable=amounts))

    def _hold(self, change: Patch) -> None:
        """A volume names its claim, and its controller binds the two."""
        volume = self.objects[PERSISTENT_VOLUME, change.target.name]
        holder = msgspec.convert(change.body["spec"]["claimRef"], ClaimReference)
        claim = self.objects[PERSISTENT_VOLUME_CLAIM, holder.name]
        assert isinstance(volume, PersistentVolume)
        assert isinstance(claim, PersistentVolumeClaim)
        assert volume.spec.claim_ref is None, "a volume is given once"
        self.show(PERSISTENT_VOLUME, replace(volume, spec=replace(volume.spec, claim_ref=holder)), was=volume)
        bound = replace(claim.spec, volume_name=volume.metadata.name)
        self.show(PERSISTENT_VOLUME_CLAIM, replace(claim, spec=bound), was=claim)

    def _count_budget(self, gang: str) -> None:
        """What the disruption controller writes."""
        mine = [one for one in self.pods.values() if one.metadata.label("gang") == gang]
        healthy = sum(one.status == RUNNING and not one.is_deleting for one in mine)
        least = self.budgets[gang]
        spec = PodDisruptionBudgetSpec(min_available=least, selector=LabelSelector({"gang": gang}))
        status = PodDisruptionBudgetStatus(
            disruptions_allowed=max(healthy - least, 0), current_healthy=healthy, desired_healthy=least
        )
        meta = ObjectMeta(name=gang, namespace="ns")
        self.show(POD_DISRUPTION_BUDGET, PodDisruptionBudget(metadata=meta, spec=spec, status=status))

    def _annotate(self, name: str, notes: Mapping[str, str | None]) -> None:
        old = self.podgroups[name]
        merged = {**(old.metadata.annotations or {}), **notes}
        kept = {key: value for key, value in merged.items() if value is not None}
        self.podgroups[name] = replace(old, metadata=replace(old.metadata, annotations=kept))
        self.show(POD_GROUP, self.podgroups[name], was=old)


def _constraint(group: Group) -> TopologyConstraint | None:
    if not group.required and not group.preferred:
        return None
    return TopologyConstraint(
        required_topology_level=group.required, preferred_topology_level=group.preferred
    )


def _sub_group(group: Group) -> SubGroup:
    return SubGroup(
        name=group.name,
        parent=group.parent or None,
        min_member=group.min_member,
        min_sub_group=group.min_sub_group,
        topology_constraint=_constraint(group),
    )


def _pod(gang: str, group: Group, index: int) -> Pod:
    requests = ResourceRequirements(requests={labels.GPU_RESOURCE: group.gpus, "cpu": group.cpus})
    marks = {"gang": gang, "group": group.name, labels.SUB_GROUP_NAME: group.name}
    node = group.running[index] if index < len(group.running) else ""
    name = f"{gang}.{group.name}.{index}" if group.name else f"{gang}.{index}"
    return Pod(
        metadata=ObjectMeta(
            name=name, namespace="ns", labels=marks, annotations={labels.POD_GROUP_NAME: gang}
        ),
        spec=PodSpec(
            containers=[Container(name="main", resources=requests)], scheduler_name="quorate", node_name=node
        ),
        status=RUNNING if node else PodStatus(phase="Pending"),
    )
