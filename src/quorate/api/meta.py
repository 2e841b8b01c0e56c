"""What every Kubernetes object has in common; the other modules of `api` build their kinds from it.

All types are msgspec Structs that decode only the fields read somewhere in the product. They are never
written back whole: a change names the fields it sets, so fields unknown here survive on the server.
"""

from typing import Any, NamedTuple

import msgspec

Json = dict[str, Any]


class Wire(msgspec.Struct, rename="camel", gc=False, omit_defaults=True, kw_only=True):
    """Base of wire types: camelCase on the wire, absent fields take their defaults."""


class Part(msgspec.Struct, rename="camel", gc=False, omit_defaults=True, kw_only=True, frozen=True):
    """Base of immutable pieces of wire types; equal pieces are interchangeable."""


class Kind(NamedTuple):
    """A kind of object and where the API serves it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The full resource name, as `kubectl get` takes it: `podgroups.scheduling.run.ai`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The request path; no namespace on a namespaced kind means all namespaces."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        tail = "".join(f"/{part}" for part in (name, subresource) if part)
        return f"{root}{scope}/{self.plural}{tail}"

    def __str__(self) -> str:
        return self.kind


class OwnerReference(Part, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Wire):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None
    finalizers: list[str] | None = None
    generate_name: str = ""

    @property
    def key(self) -> str:
        """`namespace/name`, or the bare name of a cluster-scoped object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def label(self, name: str, default: str = "") -> str:
        return self.labels.get(name, default) if self.labels else default

    def annotation(self, name: str, default: str = "") -> str:
        return self.annotations.get(name, default) if self.annotations else default

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object, if one says so."""
        return next((owner for owner in self.owner_references or () if owner.controller), None)


class Condition(Wire):
    type: str = ""
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    observed_generation: int | None = None
    last_transition_time: str | None = None


class Object(Wire):
    """Any object of which only the metadata is read."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
