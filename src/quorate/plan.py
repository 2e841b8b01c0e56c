"""A plan is what a decision asks for: ordered changes, refusals, and the revision they were decided on.

Every pure core returns a `Plan`; `kube/apply.py` is the only reader that acts on one. Changes name objects
(`Ref`), never hold them, so a plan can be printed, saved, compared and replayed.
"""

from enum import StrEnum
from typing import Any

import msgspec

from quorate.api.meta import Json, Kind


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the values in a plan."""


class Ref(Value, frozen=True):
    """One object by name; `uid` and `resource_version` become preconditions of the write where set."""

    kind: Kind
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""

    @property
    def key(self) -> str:
        """`namespace/name`, or the bare name of a cluster-scoped object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class EventType(StrEnum):
    NORMAL = "Normal"
    WARNING = "Warning"


class Bind(Value, frozen=True, tag_field="change", tag=True):
    """Put a pod on a node; refused by the server if the pod changed identity or is bound already."""

    pod: Ref
    node: str
    annotations: dict[str, str] = {}

    def __str__(self) -> str:
        return f"bind {self.pod} to {self.node}"


class Evict(Value, frozen=True, tag_field="change", tag=True):
    """Ask for the removal of a pod through the Eviction API, so that disruption budgets hold."""

    pod: Ref
    reason: str
    message: str
    grace_seconds: int | None = None
    taker: Ref | None = None  # the gang that gets the seat

    def __str__(self) -> str:
        return f"evict {self.pod}"


class Create(Value, frozen=True, tag_field="change", tag=True):
    """Create an object with a name of ours; an existing object of that name is a conflict, not a success."""

    target: Ref
    body: Json

    def __str__(self) -> str:
        return f"create {self.target}"


class Apply(Value, frozen=True, tag_field="change", tag=True):
    """Own the given fields of an object by server-side apply, creating the object if it is missing."""

    target: Ref
    body: Json

    def __str__(self) -> str:
        return f"apply {self.target}"


class Patch(Value, frozen=True, tag_field="change", tag=True):
    """Set or (with `None`) remove the given fields by JSON merge patch."""

    target: Ref
    body: Json
    subresource: str = ""

    def __str__(self) -> str:
        return f"patch {self.target}"


class SetStatus(Value, frozen=True, tag_field="change", tag=True):
    """Set the given fields of `status` by JSON merge patch."""

    target: Ref
    status: Json

    def __str__(self) -> str:
        return f"set the status of {self.target}"


class Delete(Value, frozen=True, tag_field="change", tag=True):
    target: Ref
    propagation: str = "Background"
    grace_seconds: int | None = None

    def __str__(self) -> str:
        return f"delete {self.target}"


class Emit(Value, frozen=True, tag_field="change", tag=True):
    """Record an event about an object; equal events are counted, not repeated."""

    about: Ref
    type: EventType
    reason: str
    message: str

    def __str__(self) -> str:
        return f"say {self.reason} of {self.about}"


Change = Bind | Evict | Create | Apply | Patch | SetStatus | Delete | Emit


class Refusal(Value, frozen=True):
    """Why a gang did not start, as data.

    `gate` is the closed name of what said no, `group` the path in the tree (`""` = the root), `domain` the
    topology domain it was tried in, `numbers` what proves it (requested, free, limit, …, in display units).
    `message` is the text for people, made from the same numbers; `explanation` shows what came nearest.
    """

    gang: Ref
    gate: str
    message: str
    group: str = ""
    domain: str = ""
    resource: str = ""
    numbers: dict[str, Any] = {}
    explanation: str = ""


class Plan(Value, frozen=True):
    """The ordered writes one decision asks for."""

    changes: tuple[Change, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    revision: str = ""

    def __bool__(self) -> bool:
        return bool(self.changes)
