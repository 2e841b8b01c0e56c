import asyncio
import logging

import pytest

from quorate.api.core import POD
from quorate.controllers.runtime import Loop, Step
from quorate.kube.apply import Writer
from quorate.kube.backoff import Backoff
from quorate.kube.keys import Keys
from quorate.kube.outcome import Result
from quorate.plan import Patch, Plan, Ref
from tests.fakes.api_server import Reply, scripted_client, status
from tests.fakes.eventually import eventually

PATH = "/api/v1/namespaces/default/pods/a"
PLAN = Plan(changes=(Patch(Ref(kind=POD, name="a", namespace="default"), {"x": 1}),))


class Adapter:
    name = "test"

    def __init__(self, *steps: Step | Exception) -> None:
        self.keys: Keys[str] = Keys(self.name, Backoff(base=0.01, cap=0.05))
        self.steps = list(steps)
        self.count = 0

    async def reconcile(self, key: str) -> Step:
        assert key == "k"
        self.count += 1
        step = self.steps.pop(0) if self.steps else Step()
        if isinstance(step, Exception):
            raise step
        return step


def run(adapter: Adapter, *replies: Reply, times: int) -> None:
    """Until the key was worked on so often; a stopped loop must end by itself."""

    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            if replies:
                server.on("PATCH", PATH, *replies)
            loop = Loop(adapter, Writer(client, "test"))
            adapter.keys.add("k")
            running = asyncio.create_task(loop.run())
            await eventually(lambda: adapter.count == times)
            loop.stop()
            await asyncio.wait_for(running, 5)
            assert adapter.count == times

    asyncio.run(check())


def test_a_plan_is_written() -> None:
    run(Adapter(Step(PLAN)), Reply(body={}), times=1)


def test_a_write_that_did_not_happen_brings_the_key_back() -> None:
    run(Adapter(Step(PLAN), Step(PLAN)), Reply(409, status(409, "Conflict")), Reply(body={}), times=2)


def test_a_failing_step_is_logged_and_comes_back(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        run(Adapter(RuntimeError("boom"), Step()), times=2)
    assert "test k failed" in caplog.text


def test_a_step_can_ask_to_be_repeated() -> None:
    run(Adapter(Step(again_seconds=0.01)), times=2)


def test_a_step_with_its_own_follow_up_sees_the_outcomes_and_is_not_failed() -> None:
    seen: list[str] = []

    def after(result: Result) -> float | None:
        seen.append(str(result))
        return None

    run(Adapter(Step(PLAN, after=after, settles_failures=True)), Reply(409, status(409, "Conflict")), times=1)
    assert seen == ["1 conflict"]


class Paced:
    """Many keys, each with writes of its own, until all were written once."""

    name = "paced"

    def __init__(self, count: int, width: int) -> None:
        self.keys: Keys[str] = Keys(self.name, Backoff(base=0.01, cap=0.05))
        self.done: set[str] = set()
        self.plans = {f"k{place}": plan_of(f"k{place}", width) for place in range(count)}

    async def reconcile(self, key: str) -> Step:
        return Step(self.plans[key], after=lambda result: self.done.add(key) if result.is_done else None)


def plan_of(key: str, width: int) -> Plan:
    return Plan(
        changes=tuple(Patch(Ref(POD, f"{key}-{place}", "default"), {"x": 1}) for place in range(width))
    )


def test_a_server_that_falls_silent_holds_the_loop_up_no_longer_than_it_is_silent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """More writes wait than there are connections, every one runs out of time, and some find no connection at all."""

    async def check() -> None:
        async with scripted_client(attempts=1, seconds=0.2, limit=4) as (server, client):
            adapter = Paced(count=6, width=3)
            for plan in adapter.plans.values():
                for change in plan.changes:
                    assert isinstance(change, Patch)
                    path = f"/api/v1/namespaces/default/pods/{change.target.name}"
                    server.on("PATCH", path, Reply(hold=True), Reply(body={}))
            loop = Loop(adapter, Writer(client, "test"), workers=8)
            for key in adapter.plans:
                adapter.keys.add(key)
            running = asyncio.create_task(loop.run())
            await eventually(lambda: len(adapter.done) == len(adapter.plans), seconds=30)
            loop.stop()
            await asyncio.wait_for(running, 5)

    with caplog.at_level(logging.WARNING):
        asyncio.run(check())
    assert "Patch unknown" in caplog.text
