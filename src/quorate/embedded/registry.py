"""What the embedded API server serves: one `Resource` per served group, version and plural.

`discovery.builtin_resources()` makes the built-in ones from the data files; resources of
CustomResourceDefinitions join at run time.
"""

from dataclasses import dataclass, field

from quorate.api.meta import Json


@dataclass(frozen=True, slots=True)
class Subresource:
    """One subresource; its kind (and group and version) may differ from its parent's: Scale, Eviction."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource of one version."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[Subresource, ...] = ()
    storage_version: str = ""
    # The OpenAPI v3 schema of a custom resource's version; None for a built-in kind, whose schema is in data.
    schema: Json | None = field(default=None, hash=False, compare=False)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def subresource(self, name: str) -> Subresource | None:
        return next((sub for sub in self.subresources if sub.name == name), None)
