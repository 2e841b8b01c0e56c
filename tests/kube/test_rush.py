"""Binds go first, and nobody waits for them for long."""

import asyncio

from quorate.kube.rush import Rush
from tests.fakes.virtual_loop import run_virtually


def test_others_wait_until_the_last_writer_of_binds_is_done() -> None:
    async def check() -> None:
        rush = Rush(patience=60.0)
        await rush.over()
        with rush.going():
            with rush.going():
                waiting = asyncio.create_task(rush.over())
                await asyncio.sleep(1)
            await asyncio.sleep(1)
            assert not waiting.done()
        await asyncio.sleep(0)
        await waiting

    run_virtually(check())


def test_nobody_waits_beyond_patience() -> None:
    async def check() -> None:
        rush, loop = Rush(patience=1.0), asyncio.get_running_loop()
        began = loop.time()
        with rush.going():
            await rush.over()
        assert 0.9 < loop.time() - began < 1.5

    run_virtually(check())
