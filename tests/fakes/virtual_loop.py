"""An event loop whose clock jumps to the next timer when nothing is ready: hours pass in milliseconds."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class JumpingSelector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout > 0:
            self.skipped += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.skipped


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """For code that waits only for timers, never for the outside."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
