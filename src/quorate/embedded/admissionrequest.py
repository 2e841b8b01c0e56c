"""One request as admission sees it: the operation, the object before and after, and who asks.

The API server makes one per write; `admission.py` decides on it, `webhookreview.py` shows it to webhooks.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import errors
from quorate.embedded.errors import ApiError
from quorate.embedded.options import SYSTEM, User
from quorate.embedded.registry import Resource

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


class Gvk(NamedTuple):
    group: str
    version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Request:
    operation: Operation
    resource: Resource
    namespace: str
    # Empty on a create by generateName.
    name: str
    # The object as it is to be stored (None on a delete) and as it is stored (None on a create).
    obj: Json | None
    old: Json | None = None
    subresource: str = ""
    user: User = SYSTEM
    dry_run: bool = False
    field_manager: str = ""
    # Where webhooks' warnings go; usually the list of the request's options.
    warnings: list[str] = field(default_factory=list)
    # Reads and completes an object that a webhook has patched, as the body of the request was.
    complete: Callable[[Json], Json] = lambda obj: obj

    @property
    def kind(self) -> Gvk:
        """The kind of `obj`, which for some subresources is not the kind of the resource."""
        below = self.resource.subresource(self.subresource) if self.subresource else None
        if below is not None and below.kind:
            return Gvk(below.group, below.version, below.kind)
        return Gvk(self.resource.group, self.resource.version, self.resource.kind)

    def forbidden(self, why: str) -> ApiError:
        """The 403 of a plug-in that refuses the request."""
        metadata = (self.obj or {}).get("metadata") or {}
        name = self.name or metadata.get("name") or metadata.get("generateName") or "Unknown"
        return errors.forbidden(self.resource, name, why)
