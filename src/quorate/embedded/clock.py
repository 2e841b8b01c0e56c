"""Time of the embedded cluster: the machine's, or a virtual one that a test advances.

Everything in `embedded` that waits asks a `Clock`; nothing sleeps. With a `VirtualClock` a day passes in
milliseconds and the same calls give the same run.
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from typing import Protocol

_MOST_ROUNDS = 2_000_000  # turns of the event loop after which a cluster that never rests is reported


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def now(self) -> float:
        """Epoch seconds."""

    def call_at(self, due: float, callback: Callable[[], None]) -> Timer: ...

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer: ...


class RealClock:
    """The machine's time, with timers on the running event loop."""

    def now(self) -> float:
        return time.time()

    def call_at(self, due: float, callback: Callable[[], None]) -> Timer:
        return self.call_later(due - self.now(), callback)

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(max(delay, 0.0), callback)


class RestlessError(Exception):
    """Something keeps asking for work without time passing."""


class _VirtualTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class VirtualClock:
    """Time stands still but for `advance`; `watch` names what must be idle before it moves on."""

    def __init__(self, start: float = 1_767_225_600.0) -> None:
        self._now = start
        self._due: list[tuple[float, int, _VirtualTimer]] = []
        self._order = itertools.count()
        self._idle: list[Callable[[], bool]] = []

    def now(self) -> float:
        return self._now

    def call_at(self, due: float, callback: Callable[[], None]) -> Timer:
        timer = _VirtualTimer(callback)
        heapq.heappush(self._due, (max(due, self._now), next(self._order), timer))
        return timer

    def call_later(self, delay: float, callback: Callable[[], None]) -> Timer:
        return self.call_at(self._now + delay, callback)

    def watch(self, is_idle: Callable[[], bool]) -> None:
        self._idle.append(is_idle)

    async def settle(self) -> None:
        """Let everything that can run at this instant run."""
        for _ in range(_MOST_ROUNDS):
            await asyncio.sleep(0)
            if all(is_idle() for is_idle in self._idle):
                return
        raise RestlessError(f"work goes on for ever at {self._now}: a controller writes on every pass")

    async def advance(self, seconds: float) -> None:
        """Let that much time pass, stopping at each timer for its work to be done."""
        end = self._now + seconds
        await self.settle()
        while self._due and self._due[0][0] <= end:
            self._now = self._due[0][0]
            while self._due and self._due[0][0] <= self._now:
                _, _, timer = heapq.heappop(self._due)
                if timer.callback is not None:
                    timer.callback()
            await self.settle()
        self._now = end
