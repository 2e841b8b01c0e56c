"""The status of PodGroups and queues as a controller: what the caches show, written where it differs.

A changed pod makes its gang dirty, a changed gang its queues; both wait a moment, so that a gang which
starts with a thousand pods is written a few times, not a thousand. All of it waits while binds are written.
"""

import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from quorate.api import labels
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.core import POD, PRIORITY_CLASS, Pod, PriorityClass
from quorate.api.meta import Kind
from quorate.api.podgroup import POD_GROUP, POD_GROUP_KINDS, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.api.timestamps import epoch
from quorate.controllers.granted import Granted
from quorate.controllers.kinship import gang_of
from quorate.controllers.runtime import Step
from quorate.kube.caches import Caches
from quorate.kube.keys import Keys
from quorate.kube.resources import Scope
from quorate.kube.rush import Rush
from quorate.plan import Plan, SetStatus
from quorate.status import composite
from quorate.status.phase import stale_at
from quorate.status.podgroup import change
from quorate.status.podmarks import lost, marks
from quorate.status.queue import changes

GANG_SECONDS = 0.1
QUEUES_SECONDS = 0.5
COMPOSITE_SECONDS = 0.2
# a PodGroup that pods name and that is not there by then will not come by itself
MISSING_SECONDS = 10.0
# a refusal that is over by then is no news for pods; what they were told is reworded at most so often
PATIENCE_SECONDS = 2.0
REWORD_SECONDS = 30.0


class Subject(NamedTuple):
    """One gang, or (by the kind Queue) all queues together."""

    kind: Kind
    namespace: str = ""
    name: str = ""


class Status:
    name = "status"

    def __init__(
        self,
        caches: Caches,
        granted: Granted | None = None,
        rush: Rush | None = None,
        *,
        scheduler_name: str = "quorate",
    ) -> None:
        self.keys: Keys[Subject] = Keys(self.name)
        self._scheduler = scheduler_name
        self._rush = rush or Rush()
        self._reworded: dict[Subject, float] = {}
        self._granted = granted or Granted()
        self._granted.on_change(lambda: self.keys.add_after(Subject(QUEUE), QUEUES_SECONDS))
        self._pods = caches.of(Scope(kind=POD), Pod)
        self._by_gang = self._pods.index(gang_of)
        self._queues = caches.of(Scope(kind=QUEUE), Queue)
        self._classes = caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass)
        self._groups = {
            kind: caches.of(Scope(kind=kind), PodGroup, optional=kind is not POD_GROUP)
            for kind in POD_GROUP_KINDS
        }
        self._composites = caches.of(Scope(kind=COMPOSITE_POD_GROUP), CompositePodGroup, optional=True)
        self._below = self._groups[POD_GROUP].index(composite_of)
        self._inside = self._composites.index(parent_of)
        self._composites.subscribe(self._composite_changed)
        self._pods.subscribe(self._pod_changed)
        self._classes.subscribe(self._class_changed)
        self._queues.subscribe(lambda _, __: self.keys.add_after(Subject(QUEUE), QUEUES_SECONDS))
        for kind, groups in self._groups.items():
            groups.subscribe(partial(self._group_changed, kind))

    async def reconcile(self, key: Subject) -> Step:
        await self._rush.over()
        if key.kind is QUEUE:
            gangs = [group for groups in self._groups.values() for group in groups]
            wanted = changes(list(self._queues), gangs, time.time(), shares=self._granted.shares)
            return Step(Plan(changes=tuple(wanted)))
        if key.kind is COMPOSITE_POD_GROUP:
            return self._composite(key)
        podgroup = self._groups[key.kind].get(key.namespace, key.name)
        if podgroup is None:
            return Step(self._lost(key))
        classes = {found.metadata.name: found for found in self._classes}
        pods = self._by_gang[f"{key.namespace}/{key.name}"]
        now = time.time()
        shown = change(key.kind, podgroup, pods, classes, now)
        told, wait = self._marks(key, podgroup, pods, now)
        due = stale_at(podgroup)  # by then only time has passed
        waits = [seconds for seconds in (wait, due - now if due is not None else 0) if seconds > 0]
        wanted = [*([shown] if shown else []), *told]
        return Step(Plan(changes=tuple(wanted)), again_seconds=min(waits, default=None))

    def _marks(
        self, key: Subject, podgroup: PodGroup, pods: Sequence[Pod], now: float
    ) -> tuple[list[SetStatus], float]:
        """What pods that wait are told now, and in how many seconds there may be more to tell; 0 is never."""
        found = list(
            marks(podgroup, [pod for pod in pods if pod.spec.scheduler_name == self._scheduler], now)
        )
        if not found:
            return [], 0
        if (patience := refused_at(podgroup) + PATIENCE_SECONDS - now) > 0:
            return [], patience
        rest = self._reworded.get(key, 0) + REWORD_SECONDS - now
        if rest > 0:
            return [mark.change for mark in found if mark.is_first], rest
        self._reworded[key] = now
        return [mark.change for mark in found], 0

    def _composite(self, key: Subject) -> Step:
        found = self._composites.get(key.namespace, key.name)
        if found is None:
            return Step()
        name = found.metadata.key
        wanted = composite.change(found, list(self._inside[name]), list(self._below[name]), time.time())
        return Step(Plan(changes=(wanted,) if wanted else ()))

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        before = gang_of(old) if old else []
        after = gang_of(new) if new else []
        for gang in before if before == after else [*before, *after]:
            namespace, _, name = gang.partition("/")
            there = self._kinds_of(namespace, name)
            for kind in there:
                self.keys.add_after(Subject(kind, namespace, name), GANG_SECONDS)
            if not there and new is not None and not new.spec.node_name:
                self.keys.add_after(Subject(POD_GROUP, namespace, name), MISSING_SECONDS)

    def _kinds_of(self, namespace: str, name: str) -> list[Kind]:
        """The API groups in which there is a PodGroup of that name."""
        return [kind for kind, groups in self._groups.items() if groups.get(namespace, name) is not None]

    def _lost(self, key: Subject) -> Plan:
        """What pods are told that wait for a PodGroup which is not there."""
        if self._kinds_of(key.namespace, key.name):
            return Plan()
        pods = self._by_gang[f"{key.namespace}/{key.name}"]
        ours = [pod for pod in pods if pod.spec.scheduler_name == self._scheduler]
        return Plan(changes=tuple(mark.change for mark in lost(ours, time.time())))

    def _composite_changed(self, old: CompositePodGroup | None, new: CompositePodGroup | None) -> None:
        for one in (old, new):
            for name in (one.metadata.key, *parent_of(one)) if one is not None else ():
                self._look_at_composite(name)

    def _look_at_composite(self, name: str) -> None:
        namespace, _, own = name.partition("/")
        self.keys.add_after(Subject(COMPOSITE_POD_GROUP, namespace, own), COMPOSITE_SECONDS)

    def _class_changed(self, old: PriorityClass | None, new: PriorityClass | None) -> None:
        """The class may decide whether its gangs may be preempted."""
        if old is not None and new is not None and old.value == new.value:
            return
        for kind, groups in self._groups.items():
            for group in groups:
                self._group_changed(kind, None, group)

    def _group_changed(self, kind: Kind, old: PodGroup | None, new: PodGroup | None) -> None:
        self.keys.add_after(Subject(QUEUE), QUEUES_SECONDS)
        for one in (old, new):
            for name in composite_of(one) if one is not None else ():
                self._look_at_composite(name)
        meta = (new or old or PodGroup()).metadata
        key = Subject(kind, meta.namespace, meta.name)
        if new is not None:
            self.keys.add_after(key, GANG_SECONDS)
        else:
            self._reworded.pop(key, None)
            self.keys.add_after(key, MISSING_SECONDS)


def refused_at(podgroup: PodGroup) -> float:
    """Since when the gang shows why it waits; 0 where it shows nothing."""
    shown = podgroup.status.scheduling_conditions or ()
    return max((epoch(one.last_transition_time) for one in shown if one.last_transition_time), default=0.0)


def composite_of(podgroup: PodGroup) -> list[str]:
    """Namespace and name of the CompositePodGroup that the gang is a member of, if any."""
    name = podgroup.metadata.label(labels.COMPOSITE_GROUP)
    return [f"{podgroup.metadata.namespace}/{name}"] if name else []


def parent_of(found: CompositePodGroup) -> list[str]:
    parent = found.spec.parent
    return [f"{found.metadata.namespace}/{parent}"] if parent else []
