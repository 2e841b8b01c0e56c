"""The objects that grouping reads: by address, as plain JSON, whatever their kind.

The caller fetches them; grouping says which ones it misses. `Owner` is what the rest of grouping sees of an
object: its identity, its labels and annotations, and typed access to the rest of the body.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from quorate.api.core import Pod
from quorate.api.meta import Json, OwnerReference


class Address(NamedTuple):
    """Where an object is; the version is only a hint for fetching it."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def group(self) -> str:
        return group_of(self.api_version)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What identifies the object in every version of its kind."""
        return (self.group, self.kind, self.namespace, self.name)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class Unreadable(StrEnum):
    ABSENT = "absent"  # the object does not exist
    FORBIDDEN = "forbidden"  # we have no right to read it


Objects = Mapping[tuple[str, str, str, str], Json | Unreadable]


def group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Owner:
    """An object a pod belongs to; for a bare pod, the pod itself."""

    api_version: str
    kind: str
    name: str
    namespace: str
    uid: str
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    references: tuple[OwnerReference, ...] = ()
    body: Json = field(default_factory=dict, repr=False)

    @property
    def group(self) -> str:
        return group_of(self.api_version)

    @property
    def group_kind(self) -> tuple[str, str]:
        return (self.group, self.kind)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def at(self, *path: str) -> Any:
        """What stands at the path in the body, or None."""
        return dig(self.body, *path)

    def inheriting(self, labels: Mapping[str, str], annotations: Mapping[str, str]) -> "Owner":
        """The same object with gaps among its labels and annotations filled."""
        return replace(
            self, labels={**labels, **self.labels}, annotations={**annotations, **self.annotations}
        )


def dig(tree: Any, *path: str) -> Any:
    for name in path:
        if not isinstance(tree, dict):  # decoded JSON; a test for any mapping costs ten times as much
            return None
        tree = tree.get(name)
    return tree


def texts(value: Any) -> dict[str, str]:
    """A map of texts as labels and annotations are; anything else in it is left out."""
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(name, str) and isinstance(text, str)}


def owner_from_json(body: Json, namespace: str = "") -> Owner:
    metadata = body.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    references = metadata.get("ownerReferences")
    return Owner(
        api_version=str(body.get("apiVersion", "")),
        kind=str(body.get("kind", "")),
        name=str(metadata.get("name", "")),
        namespace=str(metadata.get("namespace") or namespace),
        uid=str(metadata.get("uid", "")),
        labels=texts(metadata.get("labels")),
        annotations=texts(metadata.get("annotations")),
        references=tuple(_reference(found) for found in references or () if isinstance(found, dict)),
        body=body,
    )


def owner_from_pod(pod: Pod) -> Owner:
    meta = pod.metadata
    return Owner(
        api_version="v1",
        kind="Pod",
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        references=tuple(meta.owner_references or ()),
    )


def _reference(found: Mapping[str, Any]) -> OwnerReference:
    return OwnerReference(
        api_version=str(found.get("apiVersion", "")),
        kind=str(found.get("kind", "")),
        name=str(found.get("name", "")),
        uid=str(found.get("uid", "")),
        controller=found.get("controller") is True,
    )
