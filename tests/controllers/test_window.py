import asyncio

from quorate.controllers.window import Window
from tests.fakes.virtual_loop import run_virtually


async def settled(*changes: float) -> float:
    """When a batch ends whose changes come at these times."""
    loop = asyncio.get_running_loop()
    window = Window(idle=1.0, cap=5.0)
    window.note()
    for at in changes:
        loop.call_at(at, window.note)
    await window.settle()
    return loop.time()


def test_a_batch_ends_when_nothing_changed_for_the_idle_time() -> None:
    assert run_virtually(settled(0.5, 1.2)) == 2.2


def test_a_batch_ends_at_the_cap_however_much_changes() -> None:
    assert run_virtually(settled(*(0.5 * number for number in range(1, 40)))) == 5.0


def test_without_a_change_there_is_nothing_to_wait_for() -> None:
    async def check() -> float:
        await Window(idle=1.0, cap=5.0).settle()
        return asyncio.get_running_loop().time()

    assert run_virtually(check()) == 0.0
