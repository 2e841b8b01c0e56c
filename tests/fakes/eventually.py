"""Wait for a condition with a deadline, instead of sleeping for a guess."""

import asyncio
from collections.abc import Callable


async def eventually(condition: Callable[[], bool], *, seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the condition is any state; it signals nothing
            await asyncio.sleep(0.005)
