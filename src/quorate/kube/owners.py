"""Objects of any kind by address, for cores that walk from a pod to what made it.

The whole object is read once and kept until a metadata-only watch of its kind shows a newer version, so
kinds nobody declared cost little memory. What cannot be read is an answer too, with its cause.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

import msgspec

from quorate.api.meta import Json, Kind, Object, ObjectMeta, Wire
from quorate.kube.cache import Cache
from quorate.kube.caches import Caches
from quorate.kube.client import Client, Request
from quorate.kube.errors import Forbidden, NotFound
from quorate.kube.resources import Reader, Scope, get
from quorate.plan import Ref


class ServedResource(Wire):
    name: str
    kind: str = ""
    namespaced: bool = True


class ServedResources(Wire):
    resources: list[ServedResource] | None = None


class ServedVersion(Wire):
    group_version: str


class ServedGroup(Wire):
    preferred_version: ServedVersion


class Absent(msgspec.Struct, frozen=True):
    """Why an object cannot be had; `forbidden` distinguishes a missing permission from a missing object."""

    reason: str
    forbidden: bool = False


class Place(NamedTuple):
    kind: Kind
    namespace: str
    name: str


READ_RESOURCES = Reader(ServedResources)
READ_GROUP = Reader(ServedGroup)
READ_ANY: Reader[Json] = Reader(Json)


class Owners:
    """`changed(namespace, identity)` is told when an answer is not the newest any more.

    The identity of an object is its uid, of one that could not be had its `address`. A status counts as news
    for the kinds in `with_status` (group, kind) only.
    """

    def __init__(
        self,
        client: Client,
        caches: Caches,
        changed: Callable[[str, str], None],
        with_status: Collection[tuple[str, str]] = (),
    ) -> None:
        self._client = client
        self._caches = caches
        self._changed = changed
        self._with_status = with_status
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._held: dict[Place, Json] = {}
        self._missed: dict[Place, str] = {}
        self._watched: dict[Kind, Cache[Object]] = {}

    async def find(self, api_version: str, kind_name: str, namespace: str, name: str) -> Json | Absent:
        """The object as the server has it, or why not; other failures are raised, and retried by the loop."""
        kind = await self._kind(api_version, kind_name)
        if kind is None:
            return Absent(f"no kind {kind_name} is served in {api_version}")
        place = Place(kind, namespace if kind.namespaced else "", name)
        # without a working watch nobody would tell that the copy is old
        found = None if self._watch(kind).problem else self._held.get(place)
        if found is not None:
            return found
        try:
            found = await get(self._client, Ref(kind=kind, name=name, namespace=place.namespace), READ_ANY)
        except (NotFound, Forbidden) as error:
            self._missed[place] = address(kind.group, kind_name, namespace, name)
            return Absent(str(error), forbidden=isinstance(error, Forbidden))
        self._missed.pop(place, None)
        found["metadata"].pop("managedFields", None)
        self._held[place] = found
        return found

    def known(self, api_version: str, kind_name: str, namespace: str, name: str) -> Json | ObjectMeta | None:
        """What is here now, from any thread: the object as it was read, else its metadata as the watch shows it."""
        kind = self._kinds.get((api_version, kind_name))
        seen = self._watched.get(kind) if kind is not None else None
        if kind is None or seen is None or seen.problem:
            return None
        place = Place(kind, namespace if kind.namespaced else "", name)
        if (held := self._held.get(place)) is not None:
            return held
        found = seen.get(place.namespace, name)
        return None if found is None else found.metadata

    async def _kind(self, api_version: str, name: str) -> Kind | None:
        """Discovery, once per kind; an unknown one is asked for again, since a CRD may come later."""
        if (api_version, name) not in self._kinds:
            try:
                await self._discover(api_version, api_version)
            except NotFound:
                await self._discover_preferred(api_version)
        return self._kinds.get((api_version, name))

    async def _discover_preferred(self, api_version: str) -> None:
        """A reference may name a version that is served no more: read the group in the version it prefers."""
        group = api_version.rpartition("/")[0]
        try:
            served = READ_GROUP(await self._client.send(discovery(f"/apis/{group}")), f"discovery of {group}")
            await self._discover(api_version, served.preferred_version.group_version)
        except NotFound:
            return

    async def _discover(self, asked: str, api_version: str) -> None:
        group, _, version = api_version.rpartition("/")
        path = f"/apis/{api_version}" if group else f"/api/{version}"
        served = READ_RESOURCES(await self._client.send(discovery(path)), f"discovery of {api_version}")
        for one in served.resources or ():
            if "/" not in one.name:
                self._kinds[asked, one.kind] = Kind(group, version, one.kind, one.name, one.namespaced)

    def _watch(self, kind: Kind) -> Cache[Object]:
        known = self._watched.get(kind)
        if known is not None:
            return known
        cache = self._caches.of(Scope(kind=kind, metadata_only=True), Object, optional=True)
        cache.subscribe(lambda old, new: self._compare(kind, old, new))
        self._watched[kind] = cache
        return cache

    def _compare(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        meta = (new or old or Object()).metadata
        place = Place(kind, meta.namespace, meta.name)
        if new is not None and place in self._missed:
            self._changed(meta.namespace, self._missed.pop(place))
        held = self._held.get(place)
        if held is None:
            return
        counts_status = (kind.group, kind.kind) in self._with_status
        if new is None or not is_same(held["metadata"], meta, counts_status=counts_status):
            del self._held[place]
            self._changed(meta.namespace, held["metadata"].get("uid", ""))


def address(group: str, kind: str, namespace: str, name: str) -> str:
    return f"{group}/{kind}/{namespace}/{name}"


def is_same(held: Json, meta: ObjectMeta, *, counts_status: bool = False) -> bool:
    """Whether only the status changed, which for most kinds says nothing about how pods belong together.

    Kinds without a generation change it never: for them every version is another.
    """
    if held.get("uid") != meta.uid:
        return False
    if counts_status or not meta.generation:
        return bool(held.get("resourceVersion") == meta.resource_version)
    owners = [owner.get("uid") for owner in held.get("ownerReferences") or ()]
    return (held.get("generation"), held.get("labels") or {}, held.get("annotations") or {}, owners) == (
        meta.generation,
        meta.labels or {},
        meta.annotations or {},
        [owner.uid for owner in meta.owner_references or ()],
    )


def discovery(path: str) -> Request:
    return Request(verb="get", method="GET", path=path, resource="discovery")
