"""The queue of dirty keys between a cache and the loop that reconciles.

1. A key waits at most once, however often it is added.
2. A key being worked on is never handed out a second time; if it is added meanwhile, it comes again after.
3. A failed key comes back after its back-off; success forgets the failures.
4. Of several delayed adds of one key the earliest counts.
"""

import asyncio
from typing import Generic

from quorate.kube import metrics
from quorate.kube.backoff import Backoff, K


class Closed(Exception):  # noqa: N818 - not an error: the signal to stop working
    """The queue hands out no more keys."""


class Keys(Generic[K]):
    """`name` labels the metrics."""

    def __init__(self, name: str, backoff: Backoff[K] | None = None) -> None:
        self._backoff = backoff or Backoff()
        self._waiting: dict[K, None] = {}  # a dict keeps the order of arrival
        self._working: set[K] = set()
        self._again: set[K] = set()
        self._delayed: dict[K, asyncio.TimerHandle] = {}
        self._arrival = asyncio.Event()
        self._closed = False
        self._depth = metrics.QUEUE_DEPTH.labels(name)
        self._retries = metrics.QUEUE_RETRIES.labels(name)

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, key: K) -> None:
        if key in self._working:
            self._again.add(key)
            return
        self._waiting.setdefault(key)
        self._depth.set(len(self._waiting))
        self._arrival.set()

    def add_after(self, key: K, seconds: float) -> None:
        if self._closed:
            return
        if seconds <= 0:
            self.add(key)
            return
        loop = asyncio.get_running_loop()
        due = loop.time() + seconds
        known = self._delayed.get(key)
        if known is not None:
            if known.when() <= due:
                return
            known.cancel()
        self._delayed[key] = loop.call_at(due, self._due, key)

    async def take(self) -> K:
        """The next key, for one worker; `done`, `failed` or `rest` must follow. Raises `Closed` after `close`."""
        while not self._waiting and not self._closed:
            self._arrival.clear()
            await self._arrival.wait()
        if self._closed:
            raise Closed
        key = next(iter(self._waiting))
        del self._waiting[key]
        self._depth.set(len(self._waiting))
        self._working.add(key)
        return key

    def done(self, key: K) -> None:
        self._backoff.forget(key)
        self._release(key)

    def rest(self, key: K) -> None:
        """Nothing was tried: it is neither a success nor a failure."""
        self._release(key)

    def failed(self, key: K) -> float:
        """Back after the back-off, whose length is returned."""
        seconds = self._backoff.fail(key)
        self._retries.inc()
        self._release(key)
        self.add_after(key, seconds)
        return seconds

    def close(self) -> None:
        for timer in self._delayed.values():
            timer.cancel()
        self._delayed.clear()
        self._closed = True
        self._arrival.set()

    def _due(self, key: K) -> None:
        del self._delayed[key]
        self.add(key)

    def _release(self, key: K) -> None:
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)
