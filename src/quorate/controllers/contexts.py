"""What grouping looks at besides the pods, as this process knows it: for the grouper and for admission.

The grouper fetches the objects that the pure function asks for; admission looks only at what `owners` knows already.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TypeVar

from quorate.api.core import CONFIG_MAP, PRIORITY_CLASS, ConfigMap, PriorityClass
from quorate.api.meta import Json
from quorate.grouping.defaults import KEY as DEFAULTS_KEY
from quorate.grouping.defaults import KindDefaults, parse_defaults
from quorate.grouping.errors import NotFetchedError
from quorate.grouping.objects import Address, Unreadable
from quorate.grouping.registry import READ_WITH_STATUS
from quorate.grouping.subject import Context, Settings
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.owners import Absent, Owners
from quorate.kube.resources import Scope
from quorate.plan import Ref

log = logging.getLogger(__name__)

T = TypeVar("T")
Place = tuple[str, str, str, str]
Fetched = dict[Place, Json | Unreadable]


class Contexts:
    """`defaults` is the ConfigMap with the defaults of kinds."""

    def __init__(
        self, client: Client, caches: Caches, settings: Settings, defaults: Ref | None = None
    ) -> None:
        self.settings = settings
        self._defaults = KindDefaults()
        self._classes = caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass)
        reads_status = READ_WITH_STATUS | settings.extensions.kinds.keys()
        self.owners = Owners(client, caches, self._owner_changed, reads_status)
        self._on_owner: list[Callable[[str], None]] = []
        self._on_all: list[Callable[[], None]] = []
        self._classes.subscribe(self._class_changed)
        if defaults is not None:
            scope = Scope(
                kind=CONFIG_MAP, namespace=defaults.namespace, fields=f"metadata.name={defaults.name}"
            )
            caches.of(scope, ConfigMap).subscribe(self._defaults_changed)

    def subscribe(self, owner_changed: Callable[[str], None], all_changed: Callable[[], None]) -> None:
        """Call `owner_changed(uid)` when an object that was read is another, `all_changed` when any pod may be."""
        self._on_owner.append(owner_changed)
        self._on_all.append(all_changed)

    def context(self, objects: Mapping[Place, Json | Unreadable]) -> Context:
        classes = frozenset(found.metadata.name for found in list(self._classes))
        return Context(objects, classes, self.settings, self._defaults)

    async def with_fetched(self, fetched: Fetched, compute: Callable[[], T]) -> T:
        """Compute, fetching what is asked for until nothing is missing."""
        while True:
            try:
                return compute()
            except NotFetchedError as missing:
                fetched[missing.address.key] = await self._fetch(missing.address)

    async def _fetch(self, address: Address) -> Json | Unreadable:
        found = await self.owners.find(address.api_version, address.kind, address.namespace, address.name)
        if isinstance(found, Absent):
            return Unreadable.FORBIDDEN if found.forbidden else Unreadable.ABSENT
        return found

    def _owner_changed(self, _: str, uid: str) -> None:
        for tell in self._on_owner:
            tell(uid)

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
        for tell in self._on_all:
            tell()
