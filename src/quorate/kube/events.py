"""Events as people see them in `kubectl describe`: equal ones are counted, floods are bounded.

`Journal.request` turns an `Emit` into the one request that records it, or into nothing; only `apply.py`
sends it.

1. Equal (object, type, reason, message) within `WINDOW_SECONDS`: one Event whose count grows.
2. A repeat within `QUIET_SECONDS` of the last write only counts; the next write carries the sum.
3. Each object has a bucket of `BURST` events that refills slowly, as client-go's spam filter does.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime

from quorate.api.core import EVENT
from quorate.api.meta import Json
from quorate.kube import metrics
from quorate.kube.client import Request
from quorate.kube.resources import create_request, patch_request
from quorate.plan import Create, Emit, Patch, Ref

WINDOW_SECONDS = 600.0
QUIET_SECONDS = 10.0
BURST = 25.0
REFILL_SECONDS = 30.0
REMEMBERED = 4096
LONGEST_MESSAGE = 1024


Same = tuple[str, str, str, str, str]


@dataclass(slots=True)
class Told:
    """An event that was recorded: how often it happened, and when that was last written."""

    name: str
    first: float
    written: float
    count: int


@dataclass(slots=True)
class Bucket:
    tokens: float
    at: float


class Journal:
    def __init__(self, component: str) -> None:
        self._component = component
        self._told: OrderedDict[Same, Told] = OrderedDict()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def request(self, emit: Emit, now: float) -> Request | None:
        """The request that records this event, or None if counting it is enough."""
        same = same_of(emit)
        known = self._told.get(same)
        if known is not None and now - known.written < WINDOW_SECONDS:
            known.count += 1
            if now - known.written < QUIET_SECONDS:
                return None
            known.written = now
            return patch_request(
                Patch(event_ref(emit, known.name), {"count": known.count, "lastTimestamp": stamp(now)})
            )
        if not self._allow(str(emit.about), now):
            metrics.EVENTS_DROPPED.inc()
            return None
        told = Told(event_name(emit, now), now, now, 1)
        self._told[same] = told
        self._told.move_to_end(same)
        if len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
        return create_request(Create(event_ref(emit, told.name), self._body(emit, told)))

    def forget(self, emit: Emit) -> None:
        """The server no longer has it (events expire): the next one starts anew."""
        self._told.pop(same_of(emit), None)

    def _allow(self, about: str, now: float) -> bool:
        bucket = self._buckets.setdefault(about, Bucket(BURST, now))
        self._buckets.move_to_end(about)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.at) / REFILL_SECONDS)
        bucket.at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def _body(self, emit: Emit, told: Told) -> Json:
        about = emit.about
        involved = {
            "apiVersion": about.kind.api_version,
            "kind": about.kind.kind,
            "name": about.name,
            "namespace": about.namespace,
            "uid": about.uid,
        }
        return {
            "involvedObject": {key: value for key, value in involved.items() if value},
            "type": str(emit.type),
            "reason": emit.reason,
            "message": emit.message[:LONGEST_MESSAGE],
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "count": told.count,
            "firstTimestamp": stamp(told.first),
            "lastTimestamp": stamp(told.first),
        }


def same_of(emit: Emit) -> Same:
    """What makes two events equal; the revision of the object does not."""
    return str(emit.about), emit.about.uid, emit.type, emit.reason, emit.message


def event_ref(emit: Emit, name: str) -> Ref:
    # events of cluster-scoped objects live in "default", where kubectl looks for them
    return Ref(kind=EVENT, name=name, namespace=emit.about.namespace or "default")


def event_name(emit: Emit, now: float) -> str:
    """The object's name and a digest, so that the name is valid and two equal events differ by time."""
    digest = hashlib.sha256(f"{emit.type}/{emit.reason}/{emit.message}/{now}".encode()).hexdigest()[:16]
    return f"{emit.about.name[:200]}.{digest}"


def stamp(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
