"""What admission fills in where an object leaves it open; the answer is a JSON patch (RFC 6902)."""

from typing import Any

from quorate.api.labels import QUEUE
from quorate.api.meta import Json, Kind
from quorate.api.podgroup import POD_GROUP_KINDS
from quorate.api.shipped import DEFAULT_QUEUE


def patch(kind: Kind, new: Json) -> tuple[Json, ...]:
    """A PodGroup that names no queue takes the one of its label, else the default one."""
    if (kind.group, kind.kind) not in {(each.group, each.kind) for each in POD_GROUP_KINDS}:
        return ()
    spec = new.get("spec")
    if isinstance(spec, dict):
        return () if spec.get("queue") else ({"op": "add", "path": "/spec/queue", "value": _queue(new)},)
    return () if spec is not None else ({"op": "add", "path": "/spec", "value": {"queue": _queue(new)}},)


def _queue(new: Json) -> str:
    metadata: Any = new.get("metadata")
    found = (metadata.get("labels") or {}).get(QUEUE) if isinstance(metadata, dict) else None
    return str(found or DEFAULT_QUEUE)
