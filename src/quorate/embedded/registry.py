"""Which resources the server knows: built-in ones from data, custom ones as their definitions come and go.

Requests look paths up here, discovery lists it, and the verbs read what they must know of a `Resource`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from quorate.api.meta import Json

ALL_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


@dataclass(frozen=True, slots=True)
class Subresource:
    """One subresource; its kind (and group and version) may differ from its parent's: Scale, Eviction."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


# Equality is identity: a changed definition makes another resource.
@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """One served version of one resource."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...] = ALL_VERBS
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    # The version objects are stored in; all versions share one shelf of the store.
    storage_version: str = ""
    # The OpenAPI v3 schema of a custom kind's version; None for a built-in kind, whose schema is in data.
    schema: Json | None = field(default=None, repr=False)
    # A custom kind's entry of spec.versions: subresources, additionalPrinterColumns, selectableFields.
    definition: Json | None = field(default=None, repr=False)
    # The schema of the storage version, whose defaults every stored object has.
    storage_schema: Json | None = field(default=None, repr=False)
    list_kind: str = ""
    # What every answer warns of, such as that the version is deprecated.
    warning: str = ""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def stored_api_version(self) -> str:
        version = self.storage_version or self.version
        return f"{self.group}/{version}" if self.group else version

    @property
    def collection_kind(self) -> str:
        return self.list_kind or f"{self.kind}List"

    def subresource(self, name: str) -> Subresource | None:
        return next((sub for sub in self.subresources if sub.name == name), None)

    def path(self, namespace: str = "") -> str:
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return f"{root}{scope}/{self.plural}"


class Registry:
    """Resources by path and by kind; listeners hear of every change."""

    def __init__(self, builtin: Iterable[Resource] = ()) -> None:
        self._by_path: dict[tuple[str, str, str], Resource] = {}
        self._by_kind: dict[tuple[str, str, str], Resource] = {}
        self._listeners: list[Callable[[], None]] = []
        # Counts changes, so that whoever caches what is derived from here knows when to derive it again.
        self.generation = 0
        self.put(builtin)

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        return self._by_path.get((group, version, plural))

    def find_kind(self, group: str, version: str, kind: str) -> Resource | None:
        return self._by_kind.get((group, version, kind))

    def any_version(self, group: str, plural: str) -> Resource | None:
        """Some served version of a resource, the first one registered."""
        return next((r for r in self._by_path.values() if (r.group, r.plural) == (group, plural)), None)

    def resources(self) -> Iterator[Resource]:
        return iter(tuple(self._by_path.values()))

    def put(self, resources: Iterable[Resource]) -> None:
        for resource in resources:
            self._by_path[resource.group, resource.version, resource.plural] = resource
            self._by_kind[resource.group, resource.version, resource.kind] = resource
        self._changed()

    def replace(self, group: str, plural: str, resources: Iterable[Resource]) -> None:
        """Serve exactly these versions of one resource; none of them stops serving it."""
        gone = [r for r in self._by_path.values() if (r.group, r.plural) == (group, plural)]
        for resource in gone:
            del self._by_path[resource.group, resource.version, resource.plural]
            self._by_kind.pop((resource.group, resource.version, resource.kind), None)
        self.put(resources)

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def _changed(self) -> None:
        self.generation += 1
        for listener in self._listeners:
            listener()
