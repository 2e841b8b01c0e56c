"""RoleBasedGroups of both API groups as a controller: dirty when they or anything of theirs changes."""

import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from quorate.api import labels
from quorate.api.apps import CONTROLLER_REVISION, ControllerRevision
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.core import CONFIG_MAP, POD, SERVICE, Pod
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Kind, Object, ObjectMeta
from quorate.api.rbg import COORDINATED_POLICY, ROLE_BASED_GROUP_KINDS, SCALING_ADAPTER, RoleBasedGroup
from quorate.api.rbgpolicy import CoordinatedPolicy, ScalingAdapter
from quorate.controllers import rbgmetrics
from quorate.controllers.awaited import Awaited
from quorate.controllers.runtime import Step
from quorate.kube.cache import Cache, HasMetadata
from quorate.kube.caches import Caches
from quorate.kube.keys import Keys
from quorate.kube.outcome import Result
from quorate.kube.resources import Scope
from quorate.plan import Change, Plan, Ref
from quorate.rules.conditions import is_true
from quorate.workloads.rbg.composites import PATIENCE_SECONDS
from quorate.workloads.rbg.names import workload_name
from quorate.workloads.rbg.policies import statuses
from quorate.workloads.rbg.reconcile import reconcile
from quorate.workloads.rbg.seen import Seen
from quorate.workloads.readiness import READY

# pods of one group come in quick succession, and each pass reads all of them
BATCH_SECONDS = 0.05
LOOK_SECONDS = 0.05
AGING_SECONDS = 1.0


class Name(NamedTuple):
    kind: Kind
    namespace: str
    name: str


class RoleBasedGroups:
    name = "rbg"

    def __init__(self, caches: Caches) -> None:
        self.keys: Keys[Name] = Keys(self.name)
        self._groups = {
            kind: caches.of(Scope(kind=kind), RoleBasedGroup, optional=True)
            for kind in ROLE_BASED_GROUP_KINDS
        }
        self._pods = caches.of(Scope(kind=POD), Pod)
        self._policies = caches.of(Scope(kind=COORDINATED_POLICY), CoordinatedPolicy, optional=True)
        self._adapters = caches.of(Scope(kind=SCALING_ADAPTER), ScalingAdapter, optional=True)
        self._owned: dict[Kind, Cache[Any]] = {
            LEADER_WORKER_SET: caches.of(Scope(kind=LEADER_WORKER_SET), LeaderWorkerSet),
            COMPOSITE_POD_GROUP: caches.of(Scope(kind=COMPOSITE_POD_GROUP), CompositePodGroup, optional=True),
            SERVICE: caches.of(Scope(kind=SERVICE, metadata_only=True), Object),
            CONFIG_MAP: caches.of(Scope(kind=CONFIG_MAP, metadata_only=True), Object),
            CONTROLLER_REVISION: caches.of(
                Scope(kind=CONTROLLER_REVISION, labels=labels.RBG_GROUP_NAME), ControllerRevision
            ),
        }
        self._by_group = {kind: cache.index(group_of) for kind, cache in self._owned.items()}
        self._adapters_by_group = self._adapters.index(target_of)
        self._pods_by_set = self._pods.index(set_of)
        self._awaited: Awaited[Name] = Awaited(self._look)
        self._subscribe()

    async def reconcile(self, key: Name) -> Step:
        found = self._groups[key.kind].get(key.namespace, key.name)
        told = tuple(self._policy_told(key))
        if found is None:
            rbgmetrics.forget(key)
            return Step(Plan(changes=told))
        if self._awaited.is_open(key, time.monotonic()):
            return Step(again_seconds=LOOK_SECONDS)
        plan = Plan(changes=(*told, *reconcile(self._seen(key, found)).changes))
        rbgmetrics.show(key, found)
        after = partial(self._written, key, self._awaited.versions(plan.changes))
        return Step(plan, after=after, again_seconds=again_seconds(found))

    def _seen(self, key: Name, found: RoleBasedGroup) -> Seen:
        owned = {
            kind: {one.metadata.name: one for one in index[f"{key.namespace}/{key.name}"]}
            for kind, index in self._by_group.items()
        }
        names = [workload_name(key.name, role.name) for role in found.spec.roles or ()]
        return Seen(
            kind=key.kind,
            found=found,
            now=time.time(),
            policy=self._policies.get(key.namespace, key.name),
            sets=owned[LEADER_WORKER_SET] | self._named(LEADER_WORKER_SET, key, names),
            pods={name: list(self._pods_by_set[f"{key.namespace}/{name}"]) for name in names},
            composites=owned[COMPOSITE_POD_GROUP],
            services=owned[SERVICE],
            files=owned[CONFIG_MAP] | self._named(CONFIG_MAP, key, [key.name]),
            adapters=list(self._adapters_by_group[f"{key.namespace}/{key.name}"]),
            revisions={
                name: one
                for name, one in owned[CONTROLLER_REVISION].items()
                if one.metadata.controller is not None and one.metadata.controller.uid == found.metadata.uid
            },
        )

    def _policy_told(self, key: Name) -> Iterator[Change]:
        policy = self._policies.get(key.namespace, key.name)
        if policy is not None:
            groups = [kind for kind, cache in self._groups.items() if cache.get(key.namespace, key.name)]
            yield from statuses(policy, groups, time.time())

    def _named(self, kind: Kind, key: Name, names: Iterable[str]) -> dict[str, Any]:
        """Objects that have a name of ours, whoever they belong to."""
        found = {name: self._owned[kind].get(key.namespace, name) for name in names}
        return {name: one for name, one in found.items() if one is not None}

    def _written(self, key: Name, versions: Any, result: Result) -> float | None:
        self._awaited.written(key, result, versions, time.monotonic())
        return None

    def _look(self, ref: Ref) -> ObjectMeta | None:
        caches: dict[Kind, Cache[Any]] = {
            **self._owned,
            **self._groups,
            POD: self._pods,
            SCALING_ADAPTER: self._adapters,
            COORDINATED_POLICY: self._policies,
        }
        found: HasMetadata | None = caches[ref.kind].get(ref.namespace, ref.name)
        return found.metadata if found is not None else None

    def _subscribe(self) -> None:
        for kind, groups in self._groups.items():
            groups.subscribe(partial(self._group_changed, kind))
        for cache in (self._pods, *self._owned.values()):
            cache.subscribe(partial(self._changed, group_of))
        self._adapters.subscribe(partial(self._changed, target_of))
        self._policies.subscribe(partial(self._changed, lambda policy: [policy.metadata.key]))

    def _group_changed(self, kind: Kind, old: RoleBasedGroup | None, new: RoleBasedGroup | None) -> None:
        found = new or old
        assert found is not None, "a change is of something"
        self.keys.add(Name(kind, found.metadata.namespace, found.metadata.name))

    def _changed(self, groups: Any, old: Any, new: Any) -> None:
        for one in (old, new):
            for key in groups(one) if one is not None else ():
                namespace, _, name = key.partition("/")
                for kind in self._groups:
                    self.keys.add_after(Name(kind, namespace, name), BATCH_SECONDS)


def again_seconds(found: RoleBasedGroup) -> float | None:
    """Instances may count as ready, and segments as without room, by nothing but time."""
    if is_true(found.status.conditions, READY):
        return None
    return (
        AGING_SECONDS if any(role.min_ready_seconds for role in found.spec.roles or ()) else PATIENCE_SECONDS
    )


def group_of(found: HasMetadata) -> list[str]:
    name = found.metadata.label(labels.RBG_GROUP_NAME)
    return [f"{found.metadata.namespace}/{name}"] if name else []


def target_of(adapter: ScalingAdapter) -> list[str]:
    return [f"{adapter.metadata.namespace}/{adapter.spec.scale_target_ref.name}"]


def set_of(pod: Pod) -> list[str]:
    name = pod.metadata.label(labels.LWS_NAME)
    return [f"{pod.metadata.namespace}/{name}"] if name else []
