import asyncio

import pytest

from quorate.kube.backoff import Backoff
from quorate.kube.keys import Closed, Keys
from tests.fakes.virtual_loop import run_virtually


def test_a_key_waits_once_however_often_it_is_added() -> None:
    async def check() -> None:
        keys: Keys[str] = Keys("test")
        keys.add("a")
        keys.add("b")
        keys.add("a")
        assert [await keys.take(), await keys.take()] == ["a", "b"]
        assert len(keys) == 0

    run_virtually(check())


def test_a_key_in_work_is_not_handed_out_again_until_it_is_done() -> None:
    async def check() -> None:
        keys: Keys[str] = Keys("test")
        keys.add("a")
        await keys.take()
        keys.add("a")
        assert len(keys) == 0
        keys.done("a")
        assert await keys.take() == "a"

    run_virtually(check())


def test_failures_back_off_exponentially_up_to_the_cap() -> None:
    async def check() -> None:
        keys: Keys[str] = Keys("test", Backoff(base=1.0, cap=5.0))
        loop = asyncio.get_running_loop()
        keys.add("a")
        await keys.take()
        gaps = []
        for _ in range(5):
            begin = loop.time()
            keys.failed("a")
            await keys.take()
            gaps.append(round(loop.time() - begin, 1))
        assert gaps == [1.0, 2.0, 4.0, 5.0, 5.0]

    run_virtually(check())


def test_success_forgets_failures() -> None:
    backoff: Backoff[str] = Backoff(base=1.0, cap=60.0)
    assert [backoff.fail("a"), backoff.fail("a")] == [1.0, 2.0]
    backoff.forget("a")
    assert backoff.fail("a") == 1.0


def test_a_thousand_failures_do_not_overflow() -> None:
    backoff: Backoff[str] = Backoff(base=1.0, cap=60.0)
    assert [backoff.fail("a") for _ in range(3000)][-1] == 60.0


def test_the_earliest_of_several_delays_counts() -> None:
    async def check() -> None:
        keys: Keys[str] = Keys("test")
        keys.add_after("a", 50)
        keys.add_after("a", 5)
        keys.add_after("a", 20)
        await keys.take()
        assert round(asyncio.get_running_loop().time()) == 5

    run_virtually(check())


def test_a_closed_queue_ends_its_workers() -> None:
    async def check() -> None:
        keys: Keys[str] = Keys("test")
        taking = asyncio.create_task(keys.take())
        await asyncio.sleep(0)
        keys.close()
        with pytest.raises(Closed):
            await taking

    run_virtually(check())
