"""When a batch begins: once nothing changed for `idle` seconds, but at most `cap` after the first change."""

import asyncio


class Window:
    def __init__(self, *, idle: float = 0.02, cap: float = 0.25) -> None:
        self._idle = idle
        self._cap = cap
        self._first: float | None = None
        self._last = 0.0

    def note(self) -> None:
        """Something changed."""
        self._last = asyncio.get_running_loop().time()
        if self._first is None:
            self._first = self._last

    async def settle(self) -> None:
        """Wait for the end of the batch; returns at once if nothing changed since the last one."""
        loop = asyncio.get_running_loop()
        while self._first is not None:
            due = min(self._last + self._idle, self._first + self._cap)
            if loop.time() >= due:
                break
            await asyncio.sleep(due - loop.time())
        self._first = None
