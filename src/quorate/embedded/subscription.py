"""A bounded queue of events between the store and one reader.

A reader that falls too far behind is cut off and told so: it lists again, rather than miss an event.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Generic, TypeVar

EventT = TypeVar("EventT")


class Subscription(Generic[EventT]):
    def __init__(self, past: Iterable[EventT], limit: int, since: int) -> None:
        self.since = since
        # Set when the reader was too slow; the events that waited are still delivered.
        self.overflowed = False
        self.closed = False
        self._events: list[EventT] = list(past)
        self._limit = limit
        self._waiter: asyncio.Future[None] | None = None
        self._on_close: Callable[[], None] | None = None

    def on_close(self, callback: Callable[[], None]) -> None:
        self._on_close = callback

    def offer(self, event: EventT) -> None:
        if len(self._events) >= self._limit:
            self.overflowed = True
            self.close()
            return
        self._events.append(event)
        self._wake()

    def drain(self) -> list[EventT]:
        """What has come since the last call, at once."""
        events, self._events = self._events, []
        return events

    async def batch(self, timeout: float | None = None) -> list[EventT]:  # noqa: ASYNC109 one timer, no task
        """What has come since the last call, waiting for something; empty when closed or timed out."""
        if not self._events and not self.closed:
            loop = asyncio.get_running_loop()
            self._waiter = waiter = loop.create_future()
            timer = loop.call_later(timeout, _resolve, waiter) if timeout is not None else None
            try:
                await waiter
            finally:
                self._waiter = None
                if timer is not None:
                    timer.cancel()
        return self.drain()

    async def __aiter__(self) -> AsyncIterator[EventT]:
        while events := await self.batch():
            for event in events:
                yield event

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        if self._on_close is not None:
            self._on_close()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None:
            _resolve(self._waiter)


def _resolve(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
