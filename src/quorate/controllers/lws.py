"""LeaderWorkerSets as a controller: a set is dirty when it or one of its children changes."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from quorate.api import labels
from quorate.api.apps import CONTROLLER_REVISION, ControllerRevision
from quorate.api.core import NODE, POD, SERVICE, Node, Pod
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Kind, Object, ObjectMeta
from quorate.api.policy import POD_DISRUPTION_BUDGET, PodDisruptionBudget
from quorate.api.storage import PERSISTENT_VOLUME_CLAIM, PersistentVolumeClaim
from quorate.controllers.awaited import Awaited
from quorate.controllers.runtime import Step
from quorate.kube.apply import target_of
from quorate.kube.cache import Cache, HasMetadata
from quorate.kube.caches import Caches
from quorate.kube.keys import Keys
from quorate.kube.outcome import Outcome, Result, Written
from quorate.kube.resources import Scope
from quorate.plan import Create, Ref
from quorate.workloads.lws.groups import NOTHING, Group
from quorate.workloads.lws.reconcile import reconcile
from quorate.workloads.lws.view import Children

# children come in quick succession, and each pass reads all of them: a set whose passes are long has fewer
BATCH_SECONDS = 0.05
REST = 5
LOOK_SECONDS = 0.05
Name = tuple[str, str]


class LeaderWorkerSets:
    name = "lws"

    def __init__(self, caches: Caches, *, scheduler_name: str) -> None:
        self.keys: Keys[Name] = Keys(self.name)
        self._scheduler_name = scheduler_name
        self._nodes = caches.of(Scope(kind=NODE), Node)
        self._sets = caches.of(Scope(kind=LEADER_WORKER_SET), LeaderWorkerSet)
        self._caches: dict[Kind, Cache[Any]] = {
            LEADER_WORKER_SET: self._sets,
            POD: caches.of(Scope(kind=POD), Pod),
            CONTROLLER_REVISION: caches.of(
                Scope(kind=CONTROLLER_REVISION, labels=labels.LWS_NAME), ControllerRevision
            ),
            SERVICE: caches.of(Scope(kind=SERVICE, metadata_only=True), Object),
            PERSISTENT_VOLUME_CLAIM: caches.of(Scope(kind=PERSISTENT_VOLUME_CLAIM), PersistentVolumeClaim),
            POD_DISRUPTION_BUDGET: caches.of(
                Scope(kind=POD_DISRUPTION_BUDGET, labels=labels.LWS_NAME), PodDisruptionBudget
            ),
        }
        children = {kind: cache for kind, cache in self._caches.items() if kind is not LEADER_WORKER_SET}
        self._by_set = {kind: cache.index(set_of) for kind, cache in children.items()}
        self._by_set[SERVICE] = self._caches[SERVICE].index(
            lambda service: {*set_of(service), service.metadata.key}
        )
        self._awaited: Awaited[Name] = Awaited(self._look)
        self._refused: dict[Name, str] = {}  # what the server would not make
        self._batch: dict[Name, float] = {}
        self._groups: dict[Name, Mapping[int, Group]] = {}  # as the last pass saw them
        self._sets.subscribe(self._set_changed)
        for cache in children.values():
            cache.subscribe(self._child_changed)

    async def reconcile(self, key: Name) -> Step:
        item = self._sets.get(*key)
        if item is None:
            self._refused.pop(key, None)
            self._groups.pop(key, None)
            self._batch.pop(key, None)
            self._awaited.forget(key)
            return Step()
        if self._awaited.is_open(key, time.monotonic()):
            return Step(again_seconds=LOOK_SECONDS, only_waits=True)
        began = time.monotonic()
        done = reconcile(item, self._children(key), time.time(), scheduler_name=self._scheduler_name)
        self._batch[key] = max(BATCH_SECONDS, REST * (time.monotonic() - began))
        self._groups[key] = done.groups
        after = partial(self._written, key, self._awaited.versions(done.plan.changes), done.again_seconds)
        return Step(done.plan, after=after)

    def _children(self, key: Name) -> Children:
        found = {kind: index["/".join(key)] for kind, index in self._by_set.items()}
        return Children(
            pods=found[POD],
            revisions=found[CONTROLLER_REVISION],
            services=found[SERVICE],
            claims=found[PERSISTENT_VOLUME_CLAIM],
            budgets=found[POD_DISRUPTION_BUDGET],
            refusal=self._refused.get(key, ""),
            before=self._groups.get(key, NOTHING),
            node_labels=self._node_labels,
        )

    def _node_labels(self, name: str) -> Mapping[str, str]:
        node = self._nodes.get("", name)
        return (node.metadata.labels or {}) if node is not None else {}

    def _written(self, key: Name, versions: Any, again: float | None, result: Result) -> float | None:
        self._awaited.written(key, result, versions, time.monotonic())
        refused = next((one for one in result.unmet if is_refused_creation(one)), None)
        if refused is not None:
            self._refused[key] = f"{target_of(refused.change)} cannot be made: {refused.message}"
        else:
            self._refused.pop(key, None)
        return again

    def _look(self, ref: Ref) -> ObjectMeta | None:
        found: HasMetadata | None = self._caches[ref.kind].get(ref.namespace, ref.name)
        return found.metadata if found is not None else None

    def _set_changed(self, old: LeaderWorkerSet | None, new: LeaderWorkerSet | None) -> None:
        if new is not None:
            self.keys.add((new.metadata.namespace, new.metadata.name))
        elif old is not None:  # its name may be taken again before the next pass
            self._refused.pop((old.metadata.namespace, old.metadata.name), None)

    def _child_changed(self, old: HasMetadata | None, new: HasMetadata | None) -> None:
        for child in (old, new):
            for name in set_of(child) if child is not None else ():
                namespace, _, own = name.partition("/")
                key = namespace, own
                self.keys.add_after(key, self._batch.get(key, BATCH_SECONDS))


def is_refused_creation(one: Written) -> bool:
    """The name is taken by an object of somebody else, or the server does not want the object."""
    return isinstance(one.change, Create) and one.outcome in {Outcome.CONFLICT, Outcome.REFUSED}


def set_of(child: HasMetadata) -> list[str]:
    """Namespace and name of the set that the child belongs to by its owner, its label, or a Service's name."""
    meta = child.metadata
    owner = meta.controller
    if owner is not None and owner.kind == LEADER_WORKER_SET.kind:
        return [f"{meta.namespace}/{owner.name}"]
    name = meta.label(labels.LWS_NAME)
    return [f"{meta.namespace}/{name}"] if name else []
