"""The grouper as a controller: one key per workload, dirty when one of its pods, gangs or owners changes.

Owners are fetched when the pure grouper asks for them, and only then.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import msgspec

from quorate.api.core import CONFIG_MAP, POD, PRIORITY_CLASS, ConfigMap, Pod, PriorityClass
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.controllers.empty import PATIENCE_SECONDS, Empties, EmptyGroups, owner_uids
from quorate.controllers.kinship import Kinship, nearest
from quorate.controllers.runtime import Step
from quorate.grouping.defaults import KEY as DEFAULTS_KEY
from quorate.grouping.defaults import KindDefaults, parse_defaults
from quorate.grouping.errors import GroupingError, NotFetchedError
from quorate.grouping.grouper import Grouping, Warned, group
from quorate.grouping.objects import Address, Unreadable
from quorate.grouping.owners import walk
from quorate.grouping.registry import READ_WITH_STATUS
from quorate.grouping.subject import Context, Settings
from quorate.grouping.writes import plan, removal
from quorate.kube.apply import target_of
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.keys import Keys
from quorate.kube.outcome import Outcome, Result
from quorate.kube.owners import Absent, Owners, address
from quorate.kube.resources import Scope
from quorate.plan import Plan, Ref

log = logging.getLogger(__name__)

T = TypeVar("T")
REFUSED_SECONDS = 30.0
# the pods of one workload come in quick succession, and each pass reads all of them
BATCH_SECONDS = 0.03
Place = tuple[str, str, str, str]
Fetched = dict[Place, Json | Unreadable]


class Grouper:
    name = "grouper"

    def __init__(
        self, client: Client, caches: Caches, settings: Settings, defaults: Ref | None = None
    ) -> None:
        """`defaults` is the ConfigMap with the defaults of kinds."""
        self.keys: Keys[str] = Keys(self.name)
        self._settings = settings
        self._defaults = KindDefaults()
        self._pods = caches.of(Scope(kind=POD), Pod)
        self._groups = caches.of(Scope(kind=POD_GROUP), PodGroup)
        self._classes = caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass)
        reads_status = READ_WITH_STATUS | settings.extensions.kinds.keys()
        self._owners = Owners(client, caches, self._owner_changed, reads_status)
        self._kinship = Kinship()
        self._by_nearest = self._pods.index(lambda pod: [nearest(pod)] if self._is_ours(pod) else [])
        self._made: dict[tuple[str, str], str] = {}  # PodGroup -> key
        self._refused: dict[str, dict[str, str]] = {}  # key -> PodGroup -> what the API server said
        self._empty = EmptyGroups(self._pods, self._groups)
        self._pods.subscribe(self._pod_changed)
        self._groups.subscribe(self._group_changed)
        self._classes.subscribe(self._class_changed)
        if defaults is not None:
            scope = Scope(
                kind=CONFIG_MAP, namespace=defaults.namespace, fields=f"metadata.name={defaults.name}"
            )
            caches.of(scope, ConfigMap).subscribe(self._defaults_changed)

    async def reconcile(self, key: str) -> Step:
        """Group the pods of one workload."""
        pods = [pod for found in self._kinship.below(key) for pod in self._by_nearest[found]]
        if not pods:
            self._kinship.forget(key)
            self._refused.pop(key, None)
            return step(Plan(), self._empty.below({key}, time.monotonic()))
        fetched: Fetched = {}
        top = await self._with_objects(fetched, lambda: top_of(pods[0], fetched))
        if self._kinship.learn(nearest(pods[0]), top) or top != key:
            self.keys.add(top)
            return Step()
        classes = frozenset(found.metadata.name for found in self._classes)
        context = Context(fetched, classes, self._settings, self._defaults)
        grouping = self._with_refusals(key, await self._with_objects(fetched, lambda: group(pods, context)))
        read = {identity(place, found) for place, found in fetched.items()}
        self._kinship.read(read, key)
        # what was refused may be mended by an object that nobody watches yet
        is_refused = any(warned.is_refusal for warned in grouping.warnings)
        written = plan(grouping, self._existing(grouping, key), self._settings)
        empties = self._empty.below(
            read, time.monotonic(), {f"{gang.namespace}/{gang.name}" for gang in grouping.gangs}
        )
        again = REFUSED_SECONDS if is_refused else None
        return step(written, empties, again_seconds=again, after=partial(self._note_refusals, key))

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

    async def _with_objects(self, fetched: Fetched, compute: Callable[[], T]) -> T:
        """Compute, fetching what is asked for until nothing is missing."""
        while True:
            try:
                return compute()
            except NotFetchedError as missing:
                fetched[missing.address.key] = await self._fetch(missing.address)

    async def _fetch(self, address: Address) -> Json | Unreadable:
        found = await self._owners.find(address.api_version, address.kind, address.namespace, address.name)
        if isinstance(found, Absent):
            return Unreadable.FORBIDDEN if found.forbidden else Unreadable.ABSENT
        return found

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
                self.keys.add_after(self._kinship.key(pod), BATCH_SECONDS)

    def _is_ours(self, pod: Pod) -> bool:
        """Owners of other pods are none of our business: not even their kinds are watched."""
        return pod.spec.scheduler_name in self._settings.scheduler_names

    def _group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """Somebody changed or deleted what was made here, perhaps we ourselves: compare again."""
        meta = (new or old or PodGroup()).metadata
        key = self._made.get((meta.namespace, meta.name))
        if key is not None:
            self.keys.add(key)
            if new is None:
                del self._made[meta.namespace, meta.name]
        elif new is not None:
            # made by a process before this one: perhaps nobody is in it any more
            for uid in owner_uids(new):
                self.keys.add_after(uid, PATIENCE_SECONDS)

    def _owner_changed(self, _: str, uid: str) -> None:
        for key in self._kinship.readers(uid):
            self.keys.add(key)

    def _class_changed(self, old: PriorityClass | None, new: PriorityClass | None) -> None:
        if old is None or new is None:
            self._all_changed()

    def _defaults_changed(self, _: ConfigMap | None, new: ConfigMap | None) -> None:
        text = ((new.data if new else None) or {}).get(DEFAULTS_KEY)
        self._defaults = parse_defaults(text) if text else KindDefaults()
        if self._defaults.problem:
            log.warning("%s; defaults that cannot be read do not count", self._defaults.problem)
        self._all_changed()

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
    """What grouping reads of a pod that can change: binding and running are no news to it."""
    meta = pod.metadata
    return meta.uid, meta.labels, meta.annotations, meta.owner_references, pod.is_finished, pod.is_deleting


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
