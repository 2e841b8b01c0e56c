"""How a request is to be carried out, apart from the object it is about.

`query.py` reads these from a request's query; controllers inside the process make them directly.
"""

from dataclasses import dataclass, field
from typing import Literal

from quorate.embedded.selectors import Selection

Propagation = Literal["Foreground", "Background", "Orphan"]


@dataclass(frozen=True, slots=True)
class User:
    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: dict[str, list[str]] = field(default_factory=dict)


# The server itself and the parts that live with it in this process.
SYSTEM = User("system:apiserver", ("system:masters", "system:authenticated"))


@dataclass(frozen=True, slots=True)
class Options:
    """Of create, update and patch."""

    user: User = SYSTEM
    dry_run: bool = False
    field_manager: str = ""
    field_validation: Literal["Ignore", "Warn", "Strict"] = "Ignore"
    # Server-side apply only: take fields over from other managers.
    force: bool = False
    # Server-side apply has noted already who owns which field.
    ownership_settled: bool = False
    # Filled while the request is served; the HTTP layer sends each as a Warning header.
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    user: User = SYSTEM
    dry_run: bool = False
    grace_period_seconds: int | None = None
    propagation: Propagation | None = None
    # Preconditions: the object must carry this UID, be at this resourceVersion.
    uid: str = ""
    resource_version: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ListOptions:
    selection: Selection = field(default_factory=Selection)
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    match: Literal["", "Exact", "NotOlderThan"] = ""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    selection: Selection = field(default_factory=Selection)
    resource_version: str = ""
    bookmarks: bool = False
    send_initial_events: bool = False
    timeout_seconds: float = 0
    # Events that may wait to be read before the reader counts as too slow; None: as many as are kept.
    buffer: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch document and the media type that says how to read it."""

    media_type: str
    body: object
