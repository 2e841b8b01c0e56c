"""The verbs of the API server without HTTP: what `server.py`, the built-in controllers and the kubelets call.

Each verb is one module's function; this class holds what they share.
"""

import time
from collections import Counter
from collections.abc import Callable

from quorate.api.meta import Json
from quorate.embedded import creation, errors, listing
from quorate.embedded.options import ListOptions, Options, WatchOptions
from quorate.embedded.registry import Registry, Resource
from quorate.embedded.shelf import Entry
from quorate.embedded.store import Key, Store
from quorate.embedded.watch import Watch

_NO_OPTIONS = Options()


class ApiServer:
    def __init__(
        self, registry: Registry, store: Store | None = None, *, now: Callable[[], float] = time.time
    ) -> None:
        self.registry = registry
        self.store = store or Store()
        self.now = now
        # Requests served, by verb and resource.
        self.counts: Counter[tuple[str, str]] = Counter()
        # Discovery and OpenAPI documents by path and media type, each with the registry generation it shows.
        self.documents: dict[tuple[str, str], tuple[int, bytes]] = {}

    def resource(self, group: str, version: str, plural: str) -> Resource:
        """The served resource; raises KeyError for one that is not served."""
        resource = self.registry.find(group, version, plural)
        if resource is None:
            raise KeyError((group, version, plural))
        return resource

    async def create(
        self, resource: Resource, namespace: str, obj: Json, options: Options = _NO_OPTIONS
    ) -> Json:
        return await creation.create(self, resource, namespace, obj, options)

    def entry(self, resource: Resource, namespace: str, name: str) -> Entry:
        entry = self.store.entry(Key(resource.group, resource.plural, namespace, name))
        if entry is None:
            raise errors.not_found(resource, name)
        return entry

    def get(self, resource: Resource, namespace: str, name: str) -> Json:
        return self.entry(resource, namespace, name).object

    def list(
        self, resource: Resource, namespace: str = "", options: ListOptions | None = None
    ) -> listing.Page:
        return listing.page(self.store, resource, namespace, options or ListOptions())

    def watch(self, resource: Resource, namespace: str, options: WatchOptions) -> Watch:
        return Watch(self.store, resource, namespace, options)

    async def durable(self) -> None:
        """Return once everything written so far is on disk; at once when the store is in memory only."""
