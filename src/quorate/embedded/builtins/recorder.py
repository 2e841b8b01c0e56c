"""Events about objects, as client-go limits them: 25 at once about one object, then one in five minutes."""

import itertools
from typing import NamedTuple

from quorate.api.meta import Json
from quorate.embedded.clock import Clock
from quorate.plan import Emit
from quorate.workloads.builtin.instants import rfc3339

_BURST = 25.0
_REFILL_SECONDS = 300.0
_FORGET_AFTER = _BURST * _REFILL_SECONDS


class _Bucket(NamedTuple):
    tokens: float
    at: float


class Recorder:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._serial = itertools.count(int(clock.now() * 1000))
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def event(self, component: str, note: Emit) -> Json | None:
        """The Event to create, or `None` when the object has had enough of them."""
        if not self._may(component, note.about.uid or str(note.about)):
            return None
        at, about = rfc3339(self._clock.now()), note.about
        return {
            "metadata": {
                "name": f"{about.name}.{next(self._serial):x}",
                "namespace": about.namespace or "default",
            },
            "involvedObject": {
                "kind": about.kind.kind,
                "apiVersion": about.kind.api_version,
                "name": about.name,
                **({"namespace": about.namespace} if about.namespace else {}),
                **({"uid": about.uid} if about.uid else {}),
            },
            "reason": note.reason,
            "message": note.message,
            "source": {"component": component},
            "reportingComponent": component,
            "reportingInstance": "",
            "type": note.type.value,
            "count": 1,
            "firstTimestamp": at,
            "lastTimestamp": at,
            "eventTime": None,
        }

    def _may(self, component: str, subject: str) -> bool:
        key, now = (component, subject), self._clock.now()
        bucket = self._buckets.get(key, _Bucket(_BURST, now))
        tokens = min(_BURST, bucket.tokens + (now - bucket.at) / _REFILL_SECONDS)
        self._buckets.pop(key, None)
        self._buckets[key] = _Bucket(tokens - 1 if tokens >= 1 else tokens, now)
        self._forget(now)
        return tokens >= 1

    def _forget(self, now: float) -> None:
        """Buckets stand in order of use, so the ones that are full again come first."""
        while self._buckets:
            oldest = next(iter(self._buckets))
            if now - self._buckets[oldest].at < _FORGET_AFTER:
                return
            del self._buckets[oldest]
