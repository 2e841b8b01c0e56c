"""A world in memory around the pure reconcile: sets make pods, gangs start whole or not at all, time is a number.

Every step shows the plan's changes at once. The world shares no code with the product but the types; what a set
does is the least that a LeaderWorkerSet promises.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from quorate.api import labels, timestamps
from quorate.api.apps import ControllerRevision
from quorate.api.composite import CompositePodGroup
from quorate.api.core import Pod
from quorate.api.lws import LeaderWorkerSet
from quorate.api.meta import Json, Object
from quorate.api.rbg import ROLE_BASED_GROUP, RoleBasedGroup
from quorate.api.rbgpolicy import CoordinatedPolicy, ScalingAdapter
from quorate.plan import Apply, Create, Delete, Emit, Patch, Plan, SetStatus
from quorate.workloads.rbg.instances import REVISION
from quorate.workloads.rbg.reconcile import reconcile
from quorate.workloads.rbg.seen import Seen

TEMPLATE: Json = {"spec": {"containers": [{"name": "main", "image": "example/server:1"}]}}
UID = "g-1"


def role(name: str, replicas: int, *, size: int = 1, image: str = "1", **more: Any) -> Json:
    template = {"spec": {"containers": [{"name": "main", "image": f"example/server:{image}"}]}}
    if size == 1:
        return {"name": name, "replicas": replicas, "template": template, **more}
    pattern = {"size": size, "template": template}
    return {"name": name, "replicas": replicas, "leaderWorkerPattern": pattern, **more}


def placed(*sizes: dict[str, int], **more: Any) -> list[Json]:
    return [{"strategy": {"segmentPlacement": {"segmentSize": size, **more}}} for size in sizes]


@dataclass
class Instance:
    revision: str
    size: int
    bound: bool = False
    ready: bool = False
    ready_since: float | None = None


@dataclass
class World:
    """`room` is in pods; every instance that is bound gets ready in the next step unless `stuck` names it."""

    roles: list[Json]
    coordinations: list[Json] = field(default_factory=list)
    room: int = 10**9
    policy: Json | None = None
    annotations: dict[str, str] = field(default_factory=dict)
    stuck: set[tuple[str, int]] = field(default_factory=set)
    now: float = 1_750_000_000.0
    status: Json = field(default_factory=dict)
    objects: dict[tuple[str, str], Json] = field(default_factory=dict)
    instances: dict[str, dict[int, Instance]] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)

    @property
    def wire(self) -> RoleBasedGroup:
        spec = {"roles": self.roles, "coordinationRequirements": self.coordinations}
        metadata = {
            "name": "g",
            "namespace": "ns",
            "uid": UID,
            "generation": 1,
            "annotations": self.annotations,
        }
        return msgspec.convert({"metadata": metadata, "spec": spec, "status": self.status}, RoleBasedGroup)

    def seen(self) -> Seen:
        return Seen(
            kind=ROLE_BASED_GROUP,
            found=self.wire,
            now=self.now,
            policy=msgspec.convert(self.policy, CoordinatedPolicy) if self.policy else None,
            sets=self._of("LeaderWorkerSet", LeaderWorkerSet),
            pods={name: [*self._pods(name)] for name in self.instances},
            composites=self._of("CompositePodGroup", CompositePodGroup),
            services=self._of("Service", Object),
            files=self._of("ConfigMap", Object),
            adapters=list(self._of("RoleBasedGroupScalingAdapter", ScalingAdapter).values()),
            revisions=self._of("ControllerRevision", ControllerRevision),
        )

    def step(self) -> Plan:
        """One pass, shown at once; then sets, scheduler and kubelets do what they can."""
        plan = reconcile(self.seen())
        self.now += 1
        for change in plan.changes:
            self._show(change)
        for name in self._of("LeaderWorkerSet", LeaderWorkerSet):
            self._work(name)
        self._schedule()
        return plan

    def settle(self, rounds: int = 400) -> None:
        """Until nothing changes any more, and then once again."""
        still = 0
        for _ in range(rounds):
            before = self._picture()
            still = 0 if self.step().changes or self._picture() != before else still + 1
            if still == 2:
                return
        raise AssertionError(f"still moving after {rounds} steps: {self._picture()}")

    def told(self, role_name: str) -> int:
        return int(self.objects["LeaderWorkerSet", f"g-{role_name}"]["spec"]["replicas"])

    def ready(self, role_name: str) -> int:
        return sum(one.ready for one in self.instances.get(f"g-{role_name}", {}).values())

    def bound(self, role_name: str) -> list[int]:
        return sorted(at for at, one in self.instances.get(f"g-{role_name}", {}).items() if one.bound)

    def condition(self, kind: str) -> tuple[str, str, str]:
        found = next(one for one in self.status["conditions"] if one["type"] == kind)
        return found["status"], found["reason"], found["message"]

    def minimum(self, segment: int) -> int:
        return int(self.objects["CompositePodGroup", f"g-segment-{segment}"]["spec"]["minGroupCount"])

    def _picture(self) -> str:
        return repr(self.instances)

    def _of(self, kind: str, shape: type[Any]) -> dict[str, Any]:
        return {name: msgspec.convert(body, shape) for (of, name), body in self.objects.items() if of == kind}

    def _show(self, change: object) -> None:
        match change:
            case Apply() | Create():
                before = self.objects.get((change.target.kind.kind, change.target.name), {})
                made = before.get("metadata", {}).get("creationTimestamp", timestamps.text(self.now))
                named = {"namespace": "ns", "name": change.target.name, "creationTimestamp": made}
                body = {**change.body, "metadata": {**change.body["metadata"], **named}}
                self.objects[change.target.kind.kind, change.target.name] = {
                    **body,
                    "status": before.get("status", {}),
                }
            case Delete():
                del self.objects[change.target.kind.kind, change.target.name]
                self.instances.pop(change.target.name, None)
            case SetStatus() if change.target.kind.kind == "RoleBasedGroup":
                self.status = merged(self.status, change.status)
            case SetStatus() | Patch():
                key = change.target.kind.kind, change.target.name
                patch = {"status": change.status} if isinstance(change, SetStatus) else change.body
                self.objects[key] = merged(self.objects[key], patch)
            case Emit():
                self.events.append(f"{change.reason}: {change.message}")
            case _:
                raise AssertionError(change)

    def _work(self, name: str) -> None:
        """Make what is missing, remove what is too much, replace one old instance above the partition."""
        body = self.objects["LeaderWorkerSet", name]
        spec, found = body["spec"], self.instances.setdefault(name, {})
        revision = body["metadata"]["annotations"][REVISION]
        fresh = Instance(revision, spec["leaderWorkerTemplate"]["size"])
        for index in [index for index in found if index >= spec["replicas"]]:
            del found[index]
        for index in range(spec["replicas"]):
            found.setdefault(index, msgspec.convert(msgspec.to_builtins(fresh), Instance))
        rolling = spec["rolloutStrategy"]["rollingUpdateConfiguration"]
        above = [index for index in found if index >= rolling["partition"]]
        failing = sum(not found[index].ready for index in above if found[index].revision == revision)
        old = sorted((index for index in above if found[index].revision != revision), reverse=True)
        for index in old[: max(rolling["maxUnavailable"] - failing, 0)]:
            found[index] = msgspec.convert(msgspec.to_builtins(fresh), Instance)

    def _schedule(self) -> None:
        """Bound instances get ready; a composite that has none on a node starts whole, one that has, alone.

        The last segment finds its seats first, which is the order that serves the others worst.
        """
        for name, found in self.instances.items():
            for index, one in found.items():
                one.ready = one.bound and (name.removeprefix("g-"), index) not in self.stuck
                one.ready_since = (one.ready_since or self.now) if one.ready else None
        composites: dict[str, list[Instance]] = {}
        for name, found in sorted(self.instances.items()):
            notes = self.objects["LeaderWorkerSet", name]["metadata"]["annotations"]
            for index, one in sorted(found.items()):
                size = int(notes.get(labels.SEGMENT_INSTANCES, 1))
                alone = f"{name}-{index}"
                of = (
                    f"{notes[labels.SEGMENTS_OF]}-segment-{index // size + 1}"
                    if labels.SEGMENTS_OF in notes
                    else alone
                )
                composites.setdefault(of, []).append(one)
        for of, members in reversed(composites.items()):
            self._start(of, members)

    def _start(self, of: str, members: list[Instance]) -> None:
        waiting = [one for one in members if not one.bound]
        body = self.objects.get(("CompositePodGroup", of))
        if body is not None and len(waiting) == len(members):
            needed = body["spec"]["minGroupCount"]
            if len(members) < needed or sum(one.size for one in members) > self.free:
                refused = {"type": "Satisfied", "status": "False", "reason": "Unschedulable"}
                body["status"] = {"conditions": [refused]}
                return
        for one in waiting:
            if one.size <= self.free:
                one.bound = True

    @property
    def free(self) -> int:
        used = sum(one.size for found in self.instances.values() for one in found.values() if one.bound)
        return self.room - used

    def _pods(self, name: str) -> Iterator[Pod]:
        for index, one in self.instances[name].items():
            for worker in range(one.size):
                metadata = {
                    "name": f"{name}-{index}-{worker}",
                    "labels": {labels.LWS_GROUP_INDEX: str(index)},
                    "annotations": {REVISION: one.revision, labels.LWS_SIZE: str(one.size)},
                }
                condition = {"type": "Ready", "status": "True" if one.ready else "False"}
                condition["lastTransitionTime"] = timestamps.text(one.ready_since or self.now)
                spec = {"nodeName": "n"} if one.bound else {}
                yield msgspec.convert(
                    {"metadata": metadata, "spec": spec, "status": {"conditions": [condition]}}, Pod
                )


def merged(before: Any, patch: Any) -> Any:
    """JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    found = dict(before) if isinstance(before, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found
