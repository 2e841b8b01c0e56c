"""The verbs of the API server without HTTP: what `server.py`, the built-in controllers and the kubelets call.

Each verb is one module's function; this class holds what they share. Objects that come in are copied, objects
that go out are the stored ones: never change them in place.
"""

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quorate.api.meta import Json
from quorate.embedded import (
    binding,
    creation,
    deletion,
    errors,
    eviction,
    listing,
    logs,
    patching,
    scale,
    updating,
)
from quorate.embedded.admission import Admission
from quorate.embedded.definitions import Definitions
from quorate.embedded.deletion import Deleted
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import DeleteOptions, ListOptions, Options, Patch, WatchOptions
from quorate.embedded.rbac import Authorizer
from quorate.embedded.registry import Registry, Resource
from quorate.embedded.representation import served
from quorate.embedded.shelf import Entry
from quorate.embedded.store import Store
from quorate.embedded.target import Target
from quorate.embedded.watch import Watch

if TYPE_CHECKING:
    from quorate.embedded.persistence import Journal
    from quorate.embedded.tokens import Authenticator

_NO_OPTIONS = Options()
_NO_LIST_OPTIONS = ListOptions()
_NO_DELETE_OPTIONS = DeleteOptions()


class ApiServer:
    def __init__(
        self, registry: Registry, store: Store | None = None, *, now: Callable[[], float] = time.time
    ) -> None:
        self.registry = registry
        self.store = store or Store()
        self.now = now
        # Set by whoever opens a data directory.
        self.journal: Journal | None = None
        self.definitions = Definitions(self)
        self.authorizer = Authorizer(self.store)
        self.admission = Admission(self.store, registry)
        # Without one, everybody is the administrator.
        self.authenticator: Authenticator | None = None
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

    def entry(self, resource: Resource, namespace: str, name: str) -> Entry:
        entry = self.store.entry(Target(resource, namespace, name).key)
        if entry is None:
            raise errors.not_found(resource, name)
        return entry

    def get(self, resource: Resource, namespace: str, name: str) -> Json:
        return served(resource, self.entry(resource, namespace, name).object)

    def list(
        self, resource: Resource, namespace: str = "", options: ListOptions = _NO_LIST_OPTIONS
    ) -> listing.Page:
        return listing.page(self.store, resource, namespace, options)

    def watch(
        self,
        resource: Resource,
        namespace: str,
        options: WatchOptions,
        shown: Callable[[Json], Json] | None = None,
    ) -> Watch:
        """An open watch; `shown` turns each object into what is sent for it."""
        return Watch(self.store, resource, namespace, options, shown)

    async def create(
        self, resource: Resource, namespace: str, obj: Json, options: Options = _NO_OPTIONS
    ) -> Json:
        return await creation.create(self, resource, namespace, obj, options)

    async def update(self, target: Target, obj: Json, options: Options = _NO_OPTIONS) -> Json:
        return await updating.update(self, target, obj, options)

    async def patch(self, target: Target, patch: Patch, options: Options = _NO_OPTIONS) -> tuple[Json, bool]:
        """The object as it is stored now, and whether the patch created it."""
        return await patching.patch(self, target, patch, options)

    async def delete(self, target: Target, options: DeleteOptions = _NO_DELETE_OPTIONS) -> Deleted:
        return await deletion.delete(self, target, options)

    async def delete_collection(
        self, resource: Resource, namespace: str, selected: ListOptions, options: DeleteOptions
    ) -> listing.Page:
        return await deletion.delete_collection(self, resource, namespace, selected, options)

    def get_scale(self, target: Target) -> Json:
        return scale.seen(target.resource, self.get(target.resource, target.namespace, target.name))

    async def update_scale(self, target: Target, wanted: Any, options: Options = _NO_OPTIONS) -> Json:
        wanted = scale.check(wanted, target.name)
        whole = target._replace(subresource="")
        stored = await updating.change(
            self, whole, lambda obj: scale.scaled(target.resource, obj, wanted), options
        )
        return scale.seen(target.resource, stored)

    async def patch_scale(self, target: Target, patch: Patch, options: Options = _NO_OPTIONS) -> Json:
        return await patching.patch_scale(self, target, patch, options)

    async def bind(self, target: Target, obj: Any, options: Options = _NO_OPTIONS) -> None:
        """Give a pod its node; `target` names the pod, `obj` is a Binding."""
        await binding.bind(self, target, obj, options)

    def request_token(self, target: Target, body: Json) -> Json:
        """A token for a service account; `body` is a TokenRequest."""
        if self.authenticator is None:
            raise errors.method_not_allowed(target.resource, "create")
        account = self.get(target.resource, target.namespace, target.name)
        return self.authenticator.token_request(account, body, timestamp)

    def log(self, target: Target, container: str) -> str:
        return logs.text(self.get(target.resource, target.namespace, target.name), container)

    async def evict(self, target: Target, obj: Any, options: Options = _NO_OPTIONS) -> None:
        """Delete a pod if its disruption budget allows; `obj` is an Eviction."""
        await eviction.evict(self, target, obj, options)

    async def durable(self) -> None:
        """Return once everything written so far is on disk; at once when the store is in memory only."""
        if self.journal is not None:
            await self.journal.durable()

    def check_writable(self) -> None:
        """Refuse writes while the disk refuses them."""
        if self.journal is not None:
            self.journal.check()
