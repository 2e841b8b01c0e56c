"""A scheduling case as API objects: nodes, queues, PodGroups and pods that live through the rounds of a case.

`World` applies what a cycle decided as an API server, controllers and kubelets would, in one step.
"""

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from quorate.api import labels
from quorate.api.core import (
    NODE,
    POD,
    PRIORITY_CLASS,
    Node,
    NodeStatus,
    Pod,
    PodPhase,
    PodStatus,
    PriorityClass,
)
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec, SubGroup, TopologyConstraint
from quorate.api.podspec import (
    Affinity,
    Container,
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    ResourceRequirements,
)
from quorate.api.queue import QUEUE, Queue, QueueResource, QueueResources, QueueSpec
from quorate.api.topology import TOPOLOGY, Topology, TopologyLevel, TopologySpec
from quorate.scheduling.encode import Encoder

Json = dict[str, Any]

NOW = 1_750_000_000.0
MINUTE = 60.0
NODE_TYPE = "kai.scheduler/type"
DEFAULT_LEAF = "default"
AFFINITY_KEYS = ("required_pod_affinity_topology_key", "required_pod_anti_affinity_topology_key")


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


class World:
    """The objects of a case; `states` and `nodes` are what the case calls the state of each task."""

    def __init__(self, case: Json) -> None:
        self.case = case
        self.encoder = Encoder("quorate")
        self.states = {task["name"]: task["state"] for job in case["jobs"] for task in job["tasks"]}
        self.nodes: dict[str, str] = {
            task["name"]: task.get("node", "") for job in case["jobs"] for task in job["tasks"]
        }
        self.nominated: dict[str, str] = {}
        self._pods: dict[str, Pod] = {}
        for node in case["cluster"]["nodes"]:
            self.encoder.update(NODE, None, _node(node))
        for topology in case["cluster"].get("topologies", ()):
            self.encoder.update(TOPOLOGY, None, _topology(topology))
        for queue in case["queues"]:
            self.encoder.update(QUEUE, None, _queue(queue))
        for priority in {job["priority"] for job in case["jobs"]}:
            name = f"p{priority}"
            self.encoder.update(
                PRIORITY_CLASS, None, PriorityClass(metadata=ObjectMeta(name=name), value=priority)
            )
        self._podgroups = {job["name"]: _podgroup(job, rank) for rank, job in enumerate(case["jobs"])}
        for podgroup in self._podgroups.values():
            self.encoder.update(POD_GROUP, None, podgroup)
        self.refresh()

    def annotate(self, name: str, notes: dict[str, str | None]) -> None:
        """Set or remove annotations of a PodGroup."""
        old = self._podgroups[name]
        merged = {**(old.metadata.annotations or {}), **notes}
        kept = {key: value for key, value in merged.items() if value is not None}
        new = self._podgroups[name] = replace(old, metadata=replace(old.metadata, annotations=kept))
        self.encoder.update(POD_GROUP, old, new)

    def refresh(self) -> None:
        """Tell the encoder what every task is now."""
        for job in self.case["jobs"]:
            for index, task in enumerate(job["tasks"]):
                name = task["name"]
                pod = self._pod(job, task, index) if self.states[name] != "Gone" else None
                old = self._pods.pop(name, None)
                if pod is not None:
                    self._pods[name] = pod
                if pod is not None or old is not None:
                    self.encoder.update(POD, old, pod)

    def _pod(self, job: Json, task: Json, index: int) -> Pod:
        name, state = task["name"], self.states[task["name"]]
        pending = state in {"Pending", "Pipelined"}
        marks = {labels.SUB_GROUP_NAME: task.get("subgroup", DEFAULT_LEAF)}
        if "priority" in task:
            marks[labels.TASK_PRIORITY] = str(task["priority"])
        meta = ObjectMeta(
            name=name,
            namespace="default",
            creation_timestamp=moment(NOW - 1000 + index),
            labels=marks | task.get("labels", {}),
            annotations={labels.POD_GROUP_NAME: job["name"]},
        )
        if state == "Releasing":
            meta.deletion_timestamp = moment(NOW)
        if state == "StuckInReleasing":
            meta.deletion_timestamp = moment(NOW - 60 * MINUTE)
        return Pod(
            metadata=meta,
            spec=PodSpec(
                containers=[Container(name="main", resources=_resources(job, task))],
                scheduler_name="quorate",
                node_name="" if pending else self.nodes[name],
                affinity=_affinity(task),
            ),
            status=PodStatus(phase=_phase(state), nominated_node_name=self.nominated.get(name, "")),
        )


def _phase(state: str) -> PodPhase:
    if state == "Failed":
        return "Failed"
    if state == "Succeeded":
        return "Succeeded"
    return "Pending" if state in {"Pending", "Pipelined"} else "Running"


def _node(node: Json) -> Node:
    allocatable: dict[str, str | int | float] = {
        labels.GPU_RESOURCE: node["gpus"],
        "cpu": node["cpu_cores"],
        "memory": node["memory_bytes"],
        "pods": node.get("max_pods") or 110,
        **node.get("mig_instances", {}),
    }
    meta = ObjectMeta(name=node["name"], labels={NODE_TYPE: node["name"], **node.get("labels", {})})
    return Node(metadata=meta, status=NodeStatus(allocatable=allocatable))


def _topology(topology: Json) -> Topology:
    levels = [TopologyLevel(node_label=level) for level in topology["levels"]]
    return Topology(metadata=ObjectMeta(name=topology["name"]), spec=TopologySpec(levels=levels))


def _queue(queue: Json) -> Queue:
    def resource(name: str) -> QueueResource:
        stated = queue[name]
        return QueueResource(
            quota=stated["quota"], limit=stated["limit"], over_quota_weight=stated["over_quota_weight"]
        )

    runtime = queue.get("reclaim_min_runtime_seconds")
    return Queue(
        metadata=ObjectMeta(
            name=queue["name"], creation_timestamp=moment(NOW - 10_000 + queue["created_rank"])
        ),
        spec=QueueSpec(
            parent_queue=queue["parent"] or "",
            priority=queue["priority"],
            resources=QueueResources(
                cpu=resource("cpu_milli"), memory=resource("memory_mb"), gpu=resource("gpu")
            ),
            reclaim_min_runtime=None if runtime is None else f"{runtime}s",
        ),
    )


def _podgroup(job: Json, rank: int) -> PodGroup:
    """Rank breaks ties of age, as the order of the jobs in the case does."""
    tree = job["subgroup_tree"]
    sets = tree.get("pod_sets", [])
    is_flat = not tree.get("groups") and len(sets) == 1 and sets[0]["name"] == DEFAULT_LEAF
    grace = job.get("staleness_grace_seconds")
    delay = job.get("preemption_delay_seconds")
    spec = PodGroupSpec(
        queue=job["queue"],
        priority_class_name=f"p{job['priority']}",
        preemptibility="preemptible" if job["preemptible"] else "non-preemptible",
        min_member=sets[0]["min_available"] if is_flat else None,
        min_sub_group=None if is_flat else tree.get("min_subgroup"),
        sub_groups=None if is_flat else _sub_groups(tree, None),
        topology_constraint=_constraint(tree),
        staleness_grace_period=None if grace is None else f"{grace}s",
        preemption_delay=None if delay is None else f"{delay}s",
    )
    notes = {}
    if any(task["state"] == "Running" for task in job["tasks"]):
        notes[labels.LAST_START] = moment(NOW - MINUTE)
    if "stale_for_seconds" in job:
        notes[labels.STALE_SINCE] = moment(NOW - job["stale_for_seconds"])
    meta = ObjectMeta(
        name=job["name"],
        namespace="default",
        creation_timestamp=moment(NOW - MINUTE * job["age_minutes"] + rank * 0.001),
        annotations=notes,
    )
    return PodGroup(metadata=meta, spec=spec)


def _sub_groups(group: Json, parent: str | None) -> list[SubGroup]:
    found = [
        SubGroup(
            name=one["name"],
            parent=parent,
            min_member=one["min_available"],
            topology_constraint=_constraint(one),
        )
        for one in group.get("pod_sets", [])
    ]
    for one in group.get("groups", []):
        constraint = _constraint(one)
        found.append(
            SubGroup(
                name=one["name"],
                parent=parent,
                min_sub_group=one.get("min_subgroup"),
                topology_constraint=constraint,
            )
        )
        found += _sub_groups(one, one["name"])
    return sorted(found, key=lambda one: one.name)


def _constraint(group: Json) -> TopologyConstraint | None:
    stated = group.get("topology_constraint")
    if not stated:
        return None
    return TopologyConstraint(
        topology=stated.get("topology", ""),
        required_topology_level=stated.get("required") or "",
        preferred_topology_level=stated.get("preferred") or "",
    )


def _resources(job: Json, task: Json) -> ResourceRequirements:
    each = job["requests_per_task"]
    requests: dict[str, str | int | float] = {
        "cpu": each.get("cpu_cores", 0),
        "memory": each.get("memory_bytes", 0),
        labels.GPU_RESOURCE: task.get("gpus", each.get("gpus", 0)),
    }
    return ResourceRequirements(requests={name: value for name, value in requests.items() if value})


def _affinity(task: Json) -> Affinity | None:
    near, apart = (_pod_affinity(task, key) for key in AFFINITY_KEYS)
    nodes = None
    if task.get("node_affinity_in"):
        wanted = LabelSelectorRequirement(key=NODE_TYPE, operator="In", values=task["node_affinity_in"])
        term = NodeSelectorTerm(match_expressions=[wanted])
        nodes = NodeAffinity(required=NodeSelector(node_selector_terms=[term]))
    if not (near or apart or nodes):
        return None
    return Affinity(node_affinity=nodes, pod_affinity=near, pod_anti_affinity=apart)


def _pod_affinity(task: Json, key: str) -> PodAffinity | None:
    """Upstream's fakes select the pods that carry the task's own labels."""
    if key not in task:
        return None
    selector = LabelSelector(match_labels=task.get("labels", {}))
    return PodAffinity(required=[PodAffinityTerm(label_selector=selector, topology_key=task[key])])
