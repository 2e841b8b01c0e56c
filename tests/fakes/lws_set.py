"""A LeaderWorkerSet and its children in memory around the production `reconcile`: plans are carried out at once.

Pods start as pending; a test makes them ready, lets them fail, or deletes them. What is deleted is being
deleted until `settle` or `gone` takes it away, as on a cluster.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from quorate.api import labels
from quorate.api.apps import CONTROLLER_REVISION, ControllerRevision
from quorate.api.core import POD, SERVICE, ContainerStatus, Pod, PodStatus
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Condition, Json, Kind, Object
from quorate.api.policy import POD_DISRUPTION_BUDGET, PodDisruptionBudget
from quorate.api.storage import PERSISTENT_VOLUME_CLAIM, PersistentVolumeClaim
from quorate.plan import Change, Create, Delete, Emit, Patch, Plan, SetStatus
from quorate.workloads.lws.reconcile import Pass, reconcile
from quorate.workloads.lws.view import Children

NOW = 1_750_000_000.0
SHAPES: dict[Kind, type[Any]] = {
    POD: Pod,
    CONTROLLER_REVISION: ControllerRevision,
    SERVICE: Object,
    PERSISTENT_VOLUME_CLAIM: PersistentVolumeClaim,
    POD_DISRUPTION_BUDGET: PodDisruptionBudget,
}
DELETED = "2026-11-19T02:00:00Z"


def manifest(replicas: int = 2, size: int = 2, **spec: Any) -> Json:
    """A set as an API server completes it; `spec` are further fields of its spec."""
    template = {"spec": {"containers": [{"name": "app", "image": "example/app:1"}]}}
    return {
        "metadata": {"name": "web", "namespace": "ns", "uid": "web-uid", "generation": 1},
        "spec": {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "workerTemplate": template},
            **spec,
        },
    }


@dataclass
class World:
    body: Json
    now: float = NOW
    held: dict[tuple[Kind, str], Any] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    numbered: int = 0

    @property
    def item(self) -> LeaderWorkerSet:
        return msgspec.convert(self.body, LeaderWorkerSet)

    @property
    def status(self) -> Json:
        found: Json = self.body.get("status", {})
        return found

    def all(self, kind: Kind) -> list[Any]:
        return [thing for (held, _), thing in sorted(self.held.items()) if held is kind]

    def pod(self, name: str) -> Pod:
        found: Pod = self.held[POD, name]
        return found

    @property
    def names(self) -> list[str]:
        return [pod.metadata.name for pod in self.all(POD)]

    def children(self) -> Children:
        return Children(
            pods=self.all(POD),
            revisions=self.all(CONTROLLER_REVISION),
            services=self.all(SERVICE),
            claims=self.all(PERSISTENT_VOLUME_CLAIM),
            budgets=self.all(POD_DISRUPTION_BUDGET),
            node_labels=lambda name: self.nodes.get(name, {}),
        )

    def plan(self) -> Plan:
        return self._pass().plan

    @property
    def look_again(self) -> float | None:
        return self._pass().again_seconds

    def _pass(self) -> Pass:
        return reconcile(self.item, self.children(), self.now, scheduler_name="quorate")

    def step(self) -> Plan:
        """One pass, carried out."""
        plan = self.plan()
        for change in plan.changes:
            self.carry_out(change)
        return plan

    def settle(self, *, ready: bool = True) -> None:
        """Passes, with pods that get ready and go, until nothing changes any more."""
        for _ in range(100):
            self.gone()
            if ready:
                self.get_ready(self.names)
            if not self.step().changes:
                return
        raise AssertionError("still moving after 100 passes")

    def edit(self, patch: Json) -> None:
        """A change of the set by its user: a merge patch, and a new generation where the spec changes."""
        self.body = merged(self.body, patch)
        if "spec" in patch:
            self.body["metadata"]["generation"] += 1

    def annotate(self, **notes: str | None) -> None:
        self.edit({"metadata": {"annotations": notes}})

    def get_ready(self, names: Iterable[str]) -> None:
        for name in names:
            pod = self.pod(name)
            if not pod.is_deleting and not pod.is_finished:
                self.set_status(name, phase="Running", conditions=[Condition(type="Ready", status="True")])

    def set_status(self, name: str, **status: Any) -> None:
        pod = self.pod(name)
        self.held[POD, name] = replace(pod, status=replace(pod.status, **status))

    def restart(self, name: str) -> None:
        self.set_status(name, container_statuses=[ContainerStatus(name="app", restart_count=1)])

    def delete(self, name: str, kind: Kind = POD) -> None:
        thing = self.held[kind, name]
        self.held[kind, name] = replace(thing, metadata=replace(thing.metadata, deletion_timestamp=DELETED))

    def gone(self) -> None:
        """What was being deleted is gone."""
        self.held = {
            key: thing for key, thing in self.held.items() if thing.metadata.deletion_timestamp is None
        }

    def revisions(self) -> dict[str, str]:
        """The revision of each pod's template by its name."""
        return {pod.metadata.name: pod.metadata.label(labels.LWS_REVISION) for pod in self.all(POD)}

    def condition(self, kind: str) -> str:
        found = {one["type"]: one["status"] for one in self.status.get("conditions", ())}
        return str(found.get(kind, ""))

    def carry_out(self, change: Change) -> None:
        match change:
            case Create():
                self._create(change)
            case Delete():
                self.delete(change.target.name, change.target.kind)
            case SetStatus():
                self.body = merged(self.body, {"status": change.status})
            case Patch() if change.target.kind is LEADER_WORKER_SET:
                self.body = merged(self.body, change.body)
            case Patch():
                self._patch(change)
            case Emit():
                self.events.append(change.reason)
            case _:
                raise AssertionError(f"unexpected change {change}")

    def _create(self, change: Create) -> None:
        key = change.target.kind, change.target.name
        assert key not in self.held, f"{change.target} exists"
        self.numbered += 1
        body = merged(change.body, {"metadata": {"uid": f"uid-{self.numbered}"}})
        self.hold(change.target.kind, msgspec.convert(body, SHAPES[change.target.kind]))

    def hold(self, kind: Kind, thing: Any) -> None:
        if kind is POD:
            thing = replace(thing, status=PodStatus(phase="Pending"))
        self.held[kind, thing.metadata.name] = thing

    def _patch(self, change: Patch) -> None:
        key = change.target.kind, change.target.name
        body = merged(msgspec.to_builtins(self.held[key]), change.body)
        self.held[key] = msgspec.convert(body, SHAPES[change.target.kind])


def merged(target: Json, patch: Json) -> Json:
    """JSON merge patch."""
    found = dict(target)
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        elif isinstance(value, dict):
            before = found.get(name)
            found[name] = merged(before if isinstance(before, dict) else {}, value)
        else:
            found[name] = value
    return found
