"""What a built-in controller's decision returns, and the small constructors every decision shares."""

from typing import NamedTuple

from quorate.api.meta import Json, Kind
from quorate.plan import Change, Create, Delete, Emit, EventType, Patch, Ref


class Outcome(NamedTuple):
    """Ordered changes, the whole new status of the object (`None`: leave it), and when to look again."""

    changes: tuple[Change, ...] = ()
    status: Json | None = None
    wake: float | None = None


def soonest(*instants: float | None) -> float | None:
    return min((instant for instant in instants if instant is not None), default=None)


def ref(kind: Kind, item: Json) -> Ref:
    """The object by name, guarded by its uid."""
    meta = item["metadata"]
    return Ref(kind=kind, name=meta["name"], namespace=meta.get("namespace", ""), uid=meta.get("uid", ""))


def owner_reference(kind: Kind, owner: Json) -> Json:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(item: Json) -> Json | None:
    """The owner reference of the object's controller, if it has one."""
    for owner in item["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found: Json = owner
            return found
    return None


def is_deleting(item: Json) -> bool:
    return "deletionTimestamp" in item["metadata"]


def create(kind: Kind, body: Json) -> Create:
    """Create an object; one with `generateName` is named by the server."""
    meta = body["metadata"]
    target = Ref(kind=kind, name=meta.get("name", ""), namespace=meta.get("namespace", ""))
    return Create(target=target, body={"apiVersion": kind.api_version, "kind": kind.kind, **body})


def delete(kind: Kind, item: Json) -> Delete:
    return Delete(target=ref(kind, item))


def patch(kind: Kind, item: Json, body: Json) -> Patch:
    return Patch(target=ref(kind, item), body=body)


def event(about: Ref, reason: str, message: str) -> Emit:
    return Emit(about=about, type=EventType.NORMAL, reason=reason, message=message)


def warning(about: Ref, reason: str, message: str) -> Emit:
    return Emit(about=about, type=EventType.WARNING, reason=reason, message=message)
