"""Binds go first: while they are being written, what can wait does, but never for long."""

import asyncio
import contextlib
from collections.abc import Iterator

PATIENCE_SECONDS = 1.0


class Rush:
    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._writers = 0
        self._calm = asyncio.Event()
        self._calm.set()

    @contextlib.contextmanager
    def going(self) -> Iterator[None]:
        """Somebody writes binds."""
        self._writers += 1
        self._calm.clear()
        try:
            yield
        finally:
            self._writers -= 1
            if not self._writers:
                self._calm.set()

    async def over(self) -> None:
        """Wait until nobody writes binds, or as long as patience lasts."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                await self._calm.wait()
