"""The grouper as a controller: one key per workload, dirty when one of its pods, gangs or owners changes.

Owners are fetched when the pure grouper asks for them, and only then.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import msgspec

from quorate.api import labels
from quorate.api.core import POD, Pod
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.controllers.contexts import Contexts, Fetched, Place
from quorate.controllers.empty import PATIENCE_SECONDS, Empties, EmptyGroups, owner_uids
from quorate.controllers.kinship import Kinship, nearest
from quorate.controllers.runtime import Step
from quorate.grouping.errors import GroupingError, NotFetchedError
from quorate.grouping.grouper import Grouping, Warned, group
from quorate.grouping.objects import Unreadable
from quorate.grouping.owners import walk
from quorate.grouping.writes import plan, removal
from quorate.kube.apply import target_of
from quorate.kube.caches import Caches
from quorate.kube.keys import Keys
from quorate.kube.outcome import Outcome, Result
from quorate.kube.owners import address
from quorate.kube.resources import Scope
from quorate.plan import Plan

REFUSED_SECONDS = 30.0
# the pods of one workload come in quick succession, and each pass looks at all of them: long passes are fewer
BATCH_SECONDS = 0.03
REST = 5


class Grouper:
    name = "grouper"

    def __init__(self, caches: Caches, contexts: Contexts) -> None:
        self.keys: Keys[str] = Keys(self.name)
        self._contexts = contexts
        self._pods = caches.of(Scope(kind=POD), Pod)
        self._groups = caches.of(Scope(kind=POD_GROUP), PodGroup)
        self._kinship = Kinship()
        self._by_nearest = self._pods.index(lambda pod: [nearest(pod)] if self._is_ours(pod) else [])
        self._made: dict[tuple[str, str], str] = {}  # PodGroup -> key
        self._refused: dict[str, dict[str, str]] = {}  # key -> PodGroup -> what the API server said
        self._grouped: dict[str, Grouping] = {}  # as the last pass did
        self._batch: dict[str, float] = {}
        self._empty = EmptyGroups(self._pods, self._groups)
        self._pods.subscribe(self._pod_changed)
        self._groups.subscribe(self._group_changed)
        contexts.subscribe(self._owner_changed, self._all_changed)

    async def reconcile(self, key: str) -> Step:
        """Group the pods of one workload."""
        pods = [pod for found in self._kinship.below(key) for pod in self._by_nearest[found]]
        if not pods:
            self._forget(key)
            return step(Plan(), self._empty.below({key}, time.monotonic()))
        began, fetched = time.monotonic(), Fetched()
        top = await self._contexts.with_fetched(fetched, lambda: top_of(pods[0], fetched))
        if self._kinship.learn(nearest(pods[0]), top) or top != key:
            self.keys.add(top)
            self._grouped.pop(key, None)
            return Step()
        context = self._contexts.context(fetched)
        before = self._grouped.get(key)
        grouped = await self._contexts.with_fetched(fetched, lambda: group(pods, context, before=before))
        self._grouped[key] = grouped
        grouping = self._with_refusals(key, grouped)
        read = {identity(place, found) for place, found in fetched.items()}
        self._kinship.read(read, key)
        # what was refused may be mended by an object that nobody watches yet
        is_refused = any(warned.is_refusal for warned in grouping.warnings)
        written = plan(grouping, self._existing(grouping, key), context.settings)
        empties = self._empty.below(
            read, time.monotonic(), {f"{gang.namespace}/{gang.name}" for gang in grouping.gangs}
        )
        again = REFUSED_SECONDS if is_refused else None
        self._batch[key] = REST * (time.monotonic() - began)
        return step(written, empties, again_seconds=again, after=partial(self._note_refusals, key))

    def _forget(self, key: str) -> None:
        self._kinship.forget(key)
        for held in (self._refused, self._grouped, self._batch):
            held.pop(key, None)

    def _with_refusals(self, key: str, grouping: Grouping) -> Grouping:
        """What the API server would not take is said where the owner of the pods looks."""
        said = self._refused.get(key, {})
        warned = [
            Warned(gang.members[0][0], f"PodGroup {gang.name} is refused: {said[gang.name]}", is_refusal=True)
            for gang in grouping.gangs
            if gang.name in said and gang.members
        ]
        return replace(grouping, warnings=(*grouping.warnings, *warned))

    def _note_refusals(self, key: str, result: Result) -> None:
        for one in result.written:
            target = target_of(one.change)
            if target.kind is POD_GROUP and one.outcome is Outcome.REFUSED:
                self._refused.setdefault(key, {})[target.name] = one.message
            elif target.kind is POD_GROUP:
                self._refused.get(key, {}).pop(target.name, None)

    def _existing(self, grouping: Grouping, key: str) -> Mapping[str, PodGroup]:
        existing = {}
        for gang in grouping.gangs:
            self._made[gang.namespace, gang.name] = key
            found = self._groups.get(gang.namespace, gang.name)
            if found is not None:
                existing[f"{gang.namespace}/{gang.name}"] = found
        return existing

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is not None and grouping_view(old) == grouping_view(new):
            return
        for pod in (old, new):
            if pod is not None and self._is_ours(pod):
                self._add(self._kinship.key(pod))

    def _add(self, key: str) -> None:
        self.keys.add_after(key, max(BATCH_SECONDS, self._batch.get(key, 0)))

    def _is_ours(self, pod: Pod) -> bool:
        """Owners of other pods are none of our business: not even their kinds are watched."""
        return pod.spec.scheduler_name in self._contexts.settings.scheduler_names

    def _group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """Somebody changed or deleted what was made here, perhaps we ourselves: compare again."""
        if old is not None and new is not None and made_view(old) == made_view(new):
            return
        meta = (new or old or PodGroup()).metadata
        key = self._made.get((meta.namespace, meta.name))
        if key is not None:
            self._add(key)
            if new is None:
                del self._made[meta.namespace, meta.name]
        elif new is not None:
            # made by a process before this one: perhaps nobody is in it any more
            for uid in owner_uids(new):
                self.keys.add_after(uid, PATIENCE_SECONDS)

    def _owner_changed(self, uid: str) -> None:
        for key in self._kinship.readers(uid):
            self.keys.add(key)

    def _all_changed(self) -> None:
        for pod in self._pods:
            self._pod_changed(None, pod)


def step(
    written: Plan,
    empties: Empties,
    *,
    again_seconds: float | None = None,
    after: Callable[[Result], None] | None = None,
) -> Step:
    """The plan, and the removal of PodGroups in which nobody is left."""
    removals = tuple(removal(group) for group in empties.due)
    waits = [seconds for seconds in (again_seconds, empties.wait_seconds) if seconds is not None]
    return Step(
        msgspec.structs.replace(written, changes=(*written.changes, *removals)),
        again_seconds=min(waits, default=None),
        after=after,
    )


def grouping_view(pod: Pod) -> tuple[object, ...]:
    """What grouping reads of a pod that can change: running is no news to it, and binding only of leaders."""
    meta = pod.metadata
    has_led = meta.label(labels.LWS_WORKER_INDEX) == "0" and bool(pod.spec.node_name)
    state = pod.is_finished, pod.is_deleting, has_led
    return meta.uid, meta.labels, meta.annotations, meta.owner_references, *state


def made_view(group: PodGroup) -> tuple[object, ...]:
    """What the grouper writes of a PodGroup: its status is news to others."""
    meta = group.metadata
    return meta.uid, meta.labels, meta.annotations, meta.owner_references, meta.deletion_timestamp, group.spec


def top_of(pod: Pod, fetched: Fetched) -> str:
    """The UID of the top owner; a chain that cannot be walked leaves the pod with its nearest owner."""
    try:
        top = walk(pod, fetched).top
    except NotFetchedError:
        raise
    except GroupingError:
        return nearest(pod)
    return top.uid if top else nearest(pod)


def identity(place: Place, found: Json | Unreadable) -> str:
    """What `Owners` calls it: the uid, or the address of what could not be had."""
    return address(*place) if isinstance(found, Unreadable) else str(found["metadata"].get("uid", ""))
