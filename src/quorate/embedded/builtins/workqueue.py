"""A de-duplicating work queue: one worker, keys in order of arrival, retries with growing delay.

A key added while it waits is done once; a key added while it is worked on is done again. Each controller of
this package owns one queue; `sync` returns the instant at which the key is due again, or `None`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from quorate.embedded.clock import Clock, Timer
from quorate.embedded.errors import ApiError

K = TypeVar("K", bound=Hashable)
_log = logging.getLogger(__name__)
_FIRST_RETRY, _LONGEST_RETRY = 0.1, 60.0


class WorkQueue(Generic[K]):
    def __init__(self, name: str, clock: Clock, sync: Callable[[K], Awaitable[float | None]]) -> None:
        self.name = name
        self._clock = clock
        self._sync = sync
        self._waiting: dict[K, None] = {}
        self._timers: dict[K, tuple[float, Timer]] = {}
        self._failures: dict[K, int] = {}
        self._arrival = asyncio.Event()
        self._is_working = False

    @property
    def is_idle(self) -> bool:
        """Nothing can be done before time passes or something changes."""
        return not self._waiting and not self._is_working

    def add(self, key: K) -> None:
        self._waiting[key] = None
        self._arrival.set()

    def add_at(self, key: K, due: float) -> None:
        """Add the key at an instant, unless it is due earlier anyway."""
        if due <= self._clock.now():
            self.add(key)
            return
        known = self._timers.get(key)
        if known is not None:
            if known[0] <= due:
                return
            known[1].cancel()
        self._timers[key] = (due, self._clock.call_at(due, lambda: self._ring(key)))

    def _ring(self, key: K) -> None:
        self._timers.pop(key, None)
        self.add(key)

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await self._arrival.wait()
            self._arrival.clear()
            while self._waiting:
                key = next(iter(self._waiting))
                self._is_working = True
                del self._waiting[key]
                await self._work(key)
                self._is_working = False
                # A long queue must not starve the server's other tasks.
                await asyncio.sleep(0)

    async def _work(self, key: K) -> None:
        try:
            due = await self._sync(key)
        except ApiError as error:
            self._retry(key, str(error))
        except Exception as error:  # noqa: BLE001 - this is a controller loop, see below
            # One odd object must not stop a controller for all others.
            _log.exception("%s: %s failed", self.name, key)
            self._retry(key, str(error))
        else:
            self._failures.pop(key, None)
            if due is not None:
                self.add_at(key, due)

    def _retry(self, key: K, why: str) -> None:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay = min(_FIRST_RETRY * 2 ** min(failures - 1, 16), _LONGEST_RETRY)
        _log.debug("%s: %s again in %.1f s: %s", self.name, key, delay, why)
        self.add_at(key, self._clock.now() + delay)
