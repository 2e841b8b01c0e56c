"""LeaderWorkerSets without an API server: the production pods, grouper, encoder and `decide`, applied at once.

Tests play the controller: they say when leaders and workers are made, and when pods are gone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from quorate.admission.lws import defaulted
from quorate.api.core import NODE, POD, PRIORITY_CLASS, Node, NodeStatus, Pod, PriorityClass
from quorate.api.labels import GPU_RESOURCE
from quorate.api.labels import PRIORITY_CLASS as PRIORITY_CLASS_LABEL
from quorate.api.lws import LeaderWorkerSet
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.api.queue import QUEUE, Queue, QueueResources, QueueSpec
from quorate.api.topology import TOPOLOGY, Topology, TopologyLevel, TopologySpec
from quorate.grouping.grouper import group
from quorate.grouping.subject import Context, Settings
from quorate.grouping.writes import plan as grouping_plan
from quorate.plan import Apply, Bind, Evict, Patch, Plan, SetStatus
from quorate.scheduling.decide import decide
from quorate.scheduling.encode import Encoder
from quorate.workloads.lws import revisions
from quorate.workloads.lws.blueprint import Blueprint, blueprint_of
from quorate.workloads.lws.pods import leader_pod, worker_pod
from tests.fakes.clusters import FREE

Json = dict[str, Any]
NOW = 1_750_000_000.0
PRIORITIES = {"train": 50, "inference": 125}


def containers(gpus: int) -> Json:
    limits = {"limits": {GPU_RESOURCE: gpus}} if gpus else {}
    return {"spec": {"containers": [{"name": "main", "resources": limits}]}}


def lws(name: str, *, size: int, gpus: int = 1, annotations: Json | None = None, **template: Any) -> Json:
    """A set as a user writes it.

    A leader that asks for other than its workers is given as `leader_gpus`, a priority class as `priority`.
    """
    labels = {PRIORITY_CLASS_LABEL: template.pop("priority")} if "priority" in template else {}
    spec: Json = {key: template.pop(key) for key in ("startupPolicy", "replicas") if key in template}
    if "leader_gpus" in template:
        template["leaderTemplate"] = containers(template.pop("leader_gpus"))
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "annotations": annotations or {},
            "labels": labels,
        },
        "spec": defaulted(
            {
                **spec,
                "leaderWorkerTemplate": {"size": size, "workerTemplate": containers(gpus), **template},
            }
        ),
    }


@dataclass
class LwsWorld:
    encoder: Encoder = field(default_factory=lambda: Encoder("quorate"))
    sets: dict[str, Json] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    groups: dict[str, PodGroup] = field(default_factory=dict)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    gpus: dict[str, int] = field(default_factory=dict)
    evicted: list[str] = field(default_factory=list)
    now: float = NOW

    def __post_init__(self) -> None:
        spec = QueueSpec(resources=QueueResources(cpu=FREE, memory=FREE, gpu=FREE))
        self.encoder.update(QUEUE, None, Queue(metadata=ObjectMeta(name="default-queue"), spec=spec))
        for name, value in PRIORITIES.items():
            meta = ObjectMeta(name=name)
            self.encoder.update(PRIORITY_CLASS, None, PriorityClass(metadata=meta, value=value))

    def topology(self, *levels: str) -> None:
        spec = TopologySpec(levels=[TopologyLevel(node_label=level) for level in levels])
        self.encoder.update(TOPOLOGY, None, Topology(metadata=ObjectMeta(name="places"), spec=spec))

    def node(self, name: str, gpus: int, **places: str) -> None:
        self.nodes[name], self.gpus[name] = places, gpus
        status = NodeStatus(allocatable={GPU_RESOURCE: gpus, "cpu": 64, "memory": "256Gi", "pods": 110})
        self.encoder.update(NODE, None, Node(metadata=ObjectMeta(name=name, labels=places), status=status))

    def lose(self, name: str) -> None:
        del self.nodes[name]
        self.encoder.update(NODE, Node(metadata=ObjectMeta(name=name)), None)

    def add(self, item: Json) -> None:
        self.sets[item["metadata"]["name"]] = item

    def leader(self, name: str, index: int = 0) -> None:
        self._create(leader_pod(self.blueprint(name), index))

    def workers(self, name: str, index: int = 0, *, only: Iterable[int] = ()) -> None:
        blueprint = self.blueprint(name)
        for worker in only or range(1, blueprint.size):
            self._create(worker_pod(blueprint, index, worker))

    def blueprint(self, name: str) -> Blueprint:
        item = msgspec.convert(self.sets[name], LeaderWorkerSet)
        content = revisions.content(item)
        return blueprint_of(item, revisions.key(content), content, scheduler_name="quorate")

    def gone(self, *names: str) -> None:
        for name in names:
            self.encoder.update(POD, self.pods.pop(name), None)

    def grouped(self) -> None:
        """What the grouper writes, written."""
        owners = {
            ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "ns", name): item
            for name, item in self.sets.items()
        }
        context = Context(owners, frozenset(PRIORITIES), Settings())
        for name in self.sets:
            mine = [pod for pod in self.pods.values() if pod.metadata.controller.name == name]  # type: ignore[union-attr]  # every pod here has one
            existing = {f"ns/{key}": found for key, found in self.groups.items()}
            for change in grouping_plan(group(mine, context), existing, context.settings).changes:
                match change:
                    case Apply():
                        made = msgspec.convert(change.body, PodGroup)
                        self.encoder.update(POD_GROUP, self.groups.get(made.metadata.name), made)
                        self.groups[made.metadata.name] = made
                    case Patch():
                        self._patch(change)

    def cycle(self) -> Plan:
        """One pass of the grouper and one decision, applied."""
        self.grouped()
        plan = decide(self.encoder.snapshot(self.now))
        self.now += 1
        for change in plan.changes:
            match change:
                case Bind():
                    pod = self.pods[change.pod.name]
                    notes = {**(pod.metadata.annotations or {}), **change.annotations}
                    metadata = replace(pod.metadata, annotations=notes)
                    self._put(replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=change.node)))
                case Evict():
                    self.evicted.append(change.pod.name)
                    self.gone(change.pod.name)
                case Patch() if change.target.kind == POD:
                    self._patch(change)
                case SetStatus() if change.target.kind == POD:
                    pod, node = self.pods[change.target.name], change.status["nominatedNodeName"] or ""
                    self._put(replace(pod, status=replace(pod.status, nominated_node_name=node)))
                case _:
                    pass
        return plan

    def restart(self) -> None:
        """A new scheduler that reads what there is."""
        self.encoder = Encoder("quorate")
        self.__post_init__()
        for node, places in self.nodes.items():
            self.node(node, self.gpus[node], **places)
        for podgroup in self.groups.values():
            self.encoder.update(POD_GROUP, None, podgroup)
        for pod in self.pods.values():
            self.encoder.update(POD, None, pod)

    def place(self, name: str, level: str) -> str:
        """The domain a pod runs in; nothing while it waits."""
        return self.nodes[self.pods[name].spec.node_name][level] if self.pods[name].spec.node_name else ""

    @property
    def bound(self) -> dict[str, str]:
        return {name: pod.spec.node_name for name, pod in self.pods.items() if pod.spec.node_name}

    def _create(self, body: Json) -> None:
        pod = msgspec.convert(body, Pod)
        pod.metadata.uid = f"uid-{pod.metadata.name}-{self.now}"
        pod.metadata.creation_timestamp = f"2026-01-01T00:00:{int(self.now - NOW):02d}Z"
        self._put(pod)

    def _put(self, pod: Pod) -> None:
        self.encoder.update(POD, self.pods.get(pod.metadata.name), pod)
        self.pods[pod.metadata.name] = pod

    def _patch(self, change: Patch) -> None:
        pod, wanted = self.pods[change.target.name], change.body["metadata"]
        merged = {
            part: {**(getattr(pod.metadata, part) or {}), **wanted.get(part, {})}
            for part in ("labels", "annotations")
        }
        self._put(replace(pod, metadata=replace(pod.metadata, **merged)))
