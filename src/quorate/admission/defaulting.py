"""What admission fills in where an object leaves it open; the answer is a JSON patch (RFC 6902)."""

from collections.abc import Callable
from typing import Any

from quorate.admission import lws
from quorate.api.labels import QUEUE
from quorate.api.lws import LEADER_WORKER_SET
from quorate.api.meta import Json, Kind
from quorate.api.podgroup import POD_GROUP_KINDS
from quorate.api.shipped import DEFAULT_QUEUE


def patch(kind: Kind, new: Json) -> tuple[Json, ...]:
    complete = COMPLETED.get((kind.group, kind.kind))
    return complete(new) if complete else ()


def _of_pod_group(new: Json) -> tuple[Json, ...]:
    """A PodGroup that names no queue takes the one of its label, else the default one."""
    spec = new.get("spec")
    if isinstance(spec, dict):
        return () if spec.get("queue") else ({"op": "add", "path": "/spec/queue", "value": _queue(new)},)
    return () if spec is not None else ({"op": "add", "path": "/spec", "value": {"queue": _queue(new)}},)


def _of_leader_worker_set(new: Json) -> tuple[Json, ...]:
    """What the schema cannot fill in: a policy that has two names, and a block that may miss as a whole."""
    spec = new.get("spec")
    if not isinstance(spec, dict) or "leaderWorkerTemplate" not in spec:
        return ()  # the schema says so
    return tuple(
        {"op": "add", "path": f"/spec/{name}", "value": value}
        for name, value in lws.defaulted(spec).items()
        if value != spec.get(name)
    )


def _queue(new: Json) -> str:
    metadata: Any = new.get("metadata")
    found = (metadata.get("labels") or {}).get(QUEUE) if isinstance(metadata, dict) else None
    return str(found or DEFAULT_QUEUE)


COMPLETED: dict[tuple[str, str], Callable[[Json], tuple[Json, ...]]] = {
    **{(kind.group, kind.kind): _of_pod_group for kind in POD_GROUP_KINDS},
    (LEADER_WORKER_SET.group, LEADER_WORKER_SET.kind): _of_leader_worker_set,
}
