import asyncio

import pytest

from quorate.embedded.clock import RealClock, RestlessError, VirtualClock


def test_virtual_time_moves_only_when_advanced() -> None:
    async def scenario() -> None:
        clock, seen = VirtualClock(100.0), list[float]()
        clock.call_later(5, lambda: seen.append(clock.now()))
        clock.call_at(103, lambda: seen.append(clock.now()))
        await clock.advance(4)
        assert (seen, clock.now()) == ([103.0], 104.0)
        await clock.advance(1)
        assert seen == [103.0, 105.0]

    asyncio.run(scenario())


def test_timers_of_one_instant_ring_in_the_order_they_were_set() -> None:
    async def scenario() -> None:
        clock, seen = VirtualClock(), list[str]()
        for name in ("first", "second", "third"):
            clock.call_later(1, lambda name=name: seen.append(name))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        await clock.advance(1)
        assert seen == ["first", "second", "third"]

    asyncio.run(scenario())


def test_a_cancelled_timer_stays_silent() -> None:
    async def scenario() -> None:
        clock, seen = VirtualClock(), list[int]()
        clock.call_later(1, lambda: seen.append(1)).cancel()
        await clock.advance(2)
        assert seen == []

    asyncio.run(scenario())


def test_a_timer_set_by_a_timer_rings_on_the_way() -> None:
    async def scenario() -> None:
        clock, seen = VirtualClock(0.0), list[float]()

        def tick() -> None:
            seen.append(clock.now())
            clock.call_later(1, tick)

        tick()
        await clock.advance(3)
        assert seen == [0.0, 1.0, 2.0, 3.0]

    asyncio.run(scenario())


def test_work_that_never_rests_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quorate.embedded.clock._MOST_ROUNDS", 10)

    async def scenario() -> None:
        clock = VirtualClock()
        clock.watch(lambda: False)
        with pytest.raises(RestlessError):
            await clock.advance(1)

    asyncio.run(scenario())


def test_real_time_calls_back() -> None:
    async def scenario() -> None:
        rang = asyncio.Event()
        clock = RealClock()
        clock.call_at(clock.now() - 1, rang.set)
        await asyncio.wait_for(rang.wait(), 5)

    asyncio.run(scenario())
