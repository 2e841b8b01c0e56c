"""Objects of any kind by owner reference, for cores that walk from a pod to what made it.

The whole object is read once and kept until a metadata-only watch of its kind shows a newer version, so
kinds nobody declared cost little memory. What cannot be read is an answer too, with its cause.
"""

from collections.abc import Callable

import msgspec

from quorate.api.meta import Json, Kind, Object, OwnerReference, Wire
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


class Absent(msgspec.Struct, frozen=True):
    """Why an owner cannot be had; `forbidden` distinguishes a missing permission from a missing object."""

    reference: OwnerReference
    reason: str
    forbidden: bool = False


Place = tuple[Kind, str, str]
READ_RESOURCES = Reader(ServedResources)
READ_ANY: Reader[Json] = Reader(Json)


class Owners:
    """`changed(uid)` is told when an owner that was handed out is not the newest any more."""

    def __init__(self, client: Client, caches: Caches, changed: Callable[[str], None]) -> None:
        self._client = client
        self._caches = caches
        self._changed = changed
        self._kinds: dict[tuple[str, str], Kind | None] = {}
        self._held: dict[Place, Json] = {}
        self._watched: dict[Kind, Cache[Object]] = {}

    async def find(self, reference: OwnerReference, namespace: str) -> Json | Absent:
        """The owner as the server has it, or why not; other failures are raised and retried by the loop."""
        kind = await self._kind(reference)
        if kind is None:
            return Absent(reference, f"no kind {reference.kind} is served in {reference.api_version}")
        place = (kind, namespace if kind.namespaced else "", reference.name)
        # without a working watch nobody would tell that the copy is old
        found = None if self._watch(kind).problem else self._held.get(place)
        if found is None:
            try:
                found = await get(self._client, Ref(kind=kind, name=place[2], namespace=place[1]), READ_ANY)
            except NotFound as error:
                return Absent(reference, str(error))
            except Forbidden as error:
                return Absent(reference, str(error), forbidden=True)
            found["metadata"].pop("managedFields", None)
            self._held[place] = found
        if found["metadata"].get("uid") != reference.uid:
            return Absent(reference, f"{reference.kind} {reference.name} is another object of the same name")
        return found

    async def _kind(self, reference: OwnerReference) -> Kind | None:
        """Discovery, once per kind; an unknown one is asked for again, since a CRD may come later."""
        group, _, version = reference.api_version.rpartition("/")
        known = self._kinds.get((reference.api_version, reference.kind))
        if known is not None:
            return known
        root = Kind(group, version, "", "").path().rstrip("/")
        request = Request(verb="get", method="GET", path=root, resource="discovery")
        try:
            served = READ_RESOURCES(await self._client.send(request), f"discovery of {reference.api_version}")
        except NotFound:
            return None
        for one in served.resources or ():
            if "/" not in one.name:
                kind = Kind(group, version, one.kind, one.name, one.namespaced)
                self._kinds[reference.api_version, one.kind] = kind
        return self._kinds.get((reference.api_version, reference.kind))

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
        place = (kind, meta.namespace, meta.name)
        held = self._held.get(place)
        if held is None:
            return
        if new is None or held["metadata"].get("resourceVersion") != meta.resource_version:
            del self._held[place]
            self._changed(held["metadata"].get("uid", ""))
