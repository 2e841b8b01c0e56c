"""The record of what queues used, kept in one ConfigMap: for shares that look back, where a policy asks for it.

1. What the last cycle saw is taken to have lasted until the next, also across a restart.
2. The scheduler reads a new record at most once in `READ_SECONDS`, and it is written once in `WRITE_SECONDS`:
   shares change slowly, and a cycle without a change must stay free.
"""

import logging
from collections.abc import Mapping

import msgspec
import numpy as np

from quorate.api.core import CONFIG_MAP, ConfigMap
from quorate.api.shipped import NAMESPACE
from quorate.kube.cache import Cache
from quorate.plan import Apply, Ref
from quorate.scheduling.snapshot import Floats, Snapshot
from quorate.scheduling.usage import NOTHING, Holding, Usage, holding

STORE = Ref(kind=CONFIG_MAP, namespace=NAMESPACE, name="quorate-usage")
FIELD = "usage.json"
READ_SECONDS = 60.0
WRITE_SECONDS = 300.0

log = logging.getLogger(__name__)


class Record(msgspec.Struct, frozen=True):
    """The sums as they are stored: CPU, memory, GPUs times seconds, in the units of a snapshot."""

    at: float
    capacity: tuple[float, float, float]
    queues: dict[str, tuple[float, float, float]]


class UsageStore:
    def __init__(self, stored: Cache[ConfigMap], half_life: float) -> None:
        self._stored = stored
        self._half_life = half_life
        self._usage: Usage | None = None  # None: nothing was read yet
        self._holding: Holding | None = None  # None: no cycle of this process has seen the cluster
        self._read_at = self._written_at = 0.0

    def due(self, now: float) -> Mapping[str, Floats] | None:
        """What queues have used, if it is time to look again."""
        if now - self._read_at < READ_SECONDS:
            return None
        self._read_at = now
        return self._until(now).fractions()

    def seen(self, snapshot: Snapshot) -> list[Apply]:
        """Take note of what a cycle saw; the write that is due, if one is."""
        now = snapshot.now
        self._usage, is_first = self._until(now), self._holding is None
        self._holding = holding(snapshot)
        if is_first:
            self._written_at = now
        if now - self._written_at < WRITE_SECONDS:
            return []
        self._written_at = now
        return [Apply(target=STORE, body={"data": {FIELD: _text(self._usage)}})]

    def _until(self, now: float) -> Usage:
        if self._usage is None:
            self._usage = self._restored() or Usage(now, NOTHING, {})
        return self._usage.advanced(self._holding, now, self._half_life) if self._holding else self._usage

    def _restored(self) -> Usage | None:
        stored = self._stored.get(STORE.namespace, STORE.name)
        text = (stored.data or {}).get(FIELD) if stored is not None else None
        return _read(text) if text else None


def _text(usage: Usage) -> str:
    queues = {name: tuple(total.tolist()) for name, total in sorted(usage.queues.items())}
    record = Record(usage.at, tuple(usage.capacity.tolist()), queues)
    return msgspec.json.encode(record).decode()


def _read(text: str) -> Usage | None:
    try:
        record = msgspec.json.decode(text, type=Record)
    except msgspec.DecodeError as error:
        log.warning("ConfigMap %s/%s: %s: %s; starting anew", STORE.namespace, STORE.name, FIELD, error)
        return None
    queues = {name: np.array(total) for name, total in record.queues.items()}
    return Usage(record.at, np.array(record.capacity), queues)
