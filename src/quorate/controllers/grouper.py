"""The grouper as a controller: one key per workload, dirty when one of its pods, gangs or owners changes.

Owners are fetched when the pure grouper asks for them, and only then.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from quorate.api.core import POD, PRIORITY_CLASS, Pod, PriorityClass
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.controllers.kinship import Kinship, nearest
from quorate.controllers.runtime import Step
from quorate.grouping.errors import GroupingError, NotFetchedError
from quorate.grouping.grouper import Grouping, group
from quorate.grouping.objects import Address, Unreadable
from quorate.grouping.owners import walk
from quorate.grouping.subject import Context, Settings
from quorate.grouping.writes import plan
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.keys import Keys
from quorate.kube.owners import Absent, Owners
from quorate.kube.resources import Scope

T = TypeVar("T")
REFUSED_SECONDS = 30.0
# the pods of one workload come in quick succession, and each pass reads all of them
BATCH_SECONDS = 0.03
Fetched = dict[tuple[str, str, str, str], Json | Unreadable]


class Grouper:
    name = "grouper"

    def __init__(self, client: Client, caches: Caches, settings: Settings) -> None:
        self.keys: Keys[str] = Keys(self.name)
        self._settings = settings
        self._pods = caches.of(Scope(kind=POD), Pod)
        self._groups = caches.of(Scope(kind=POD_GROUP), PodGroup)
        self._classes = caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass)
        self._owners = Owners(client, caches, self._owner_changed)
        self._kinship = Kinship()
        self._by_nearest = self._pods.index(lambda pod: [nearest(pod)] if self._is_ours(pod) else [])
        self._made: dict[tuple[str, str], str] = {}  # PodGroup -> key
        self._pods.subscribe(self._pod_changed)
        self._groups.subscribe(self._group_changed)
        self._classes.subscribe(self._class_changed)

    async def reconcile(self, key: str) -> Step:
        """Group the pods of one workload."""
        pods = [pod for found in self._kinship.below(key) for pod in self._by_nearest[found]]
        if not pods:
            self._kinship.forget(key)
            return Step()
        fetched: Fetched = {}
        top = await self._with_objects(fetched, lambda: top_of(pods[0], fetched))
        if self._kinship.learn(nearest(pods[0]), top) or top != key:
            self.keys.add(top)
            return Step()
        classes = frozenset(found.metadata.name for found in self._classes)
        context = Context(fetched, classes, self._settings)
        grouping = await self._with_objects(fetched, lambda: group(pods, context))
        self._kinship.read((uid_of(found) for found in fetched.values() if isinstance(found, dict)), key)
        is_refused = any(warned.is_refusal for warned in grouping.warnings)
        return Step(
            plan(grouping, self._existing(grouping, key), self._settings),
            # what was refused may be mended by an object that nobody watches yet
            again_seconds=REFUSED_SECONDS if is_refused else None,
        )

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

    def _owner_changed(self, _: str, uid: str) -> None:
        for key in self._kinship.readers(uid):
            self.keys.add(key)

    def _class_changed(self, old: PriorityClass | None, new: PriorityClass | None) -> None:
        if old is not None and new is not None:
            return
        for pod in self._pods:
            self._pod_changed(None, pod)


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


def uid_of(body: Json) -> str:
    return str(body["metadata"].get("uid", ""))
