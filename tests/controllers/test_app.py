"""All controllers together against the embedded cluster: what the world looks like afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from quorate.api.core import LEASE, POD
from quorate.controllers import app
from quorate.kube.leader import Terms
from quorate.plan import Delete, Plan, Ref
from tests.fakes.eventually import eventually
from tests.fakes.fleet import Fleet, fleet, job

SECONDS = 20.0


def in_fleet(folder: Path, nodes: str, test: Callable[[Fleet], Awaitable[None]]) -> None:
    async def run() -> None:
        async with fleet(folder, nodes) as found:
            await test(found)

    asyncio.run(run())


async def quiet(found: Fleet, *, rounds: int = 5) -> None:
    """Nothing is written for several rounds in a row."""
    last: object = None
    still = 0
    async with asyncio.timeout(SECONDS):
        while still < rounds:
            await asyncio.sleep(0.15)
            now = found.requests()
            still = still + 1 if now == last else 0
            last = now


def phases(found: Fleet) -> set[str]:
    return {group.status.phase for group in found.groups}


def test_a_job_is_grouped_bound_and_shown_and_then_nothing_more_is_written(tmp_path: Path) -> None:
    async def check(found: Fleet) -> None:
        async with found.controlled():
            await found.create(job("train", 8, gpus=8, minimum=8))
            await eventually(lambda: phases(found) == {"Running"}, seconds=SECONDS)
            assert found.bound() == 8
            await quiet(found)
            assert found.requests()["create", "pods/binding"] == 8

    in_fleet(tmp_path, "8x8gpu", check)


def test_a_gang_starts_only_when_all_of_it_fits(tmp_path: Path) -> None:
    async def check(found: Fleet) -> None:
        async with found.controlled():
            await found.create(job("first", 2, gpus=8, minimum=2))
            await eventually(lambda: found.bound() == 2, seconds=SECONDS)
            await found.create(job("second", 3, gpus=8, minimum=3))
            await eventually(
                lambda: any(one.status.scheduling_conditions for one in found.groups), seconds=SECONDS
            )
            await quiet(found)
            assert found.bound() == 2
            victims = [pod for pod in found.pods if pod.spec.node_name]
            refs = [Ref(kind=POD, name=pod.metadata.name, namespace="default") for pod in victims]
            job_ref = job("first", 2, gpus=8).target
            await found.writer.write(
                Plan(changes=(Delete(job_ref), *(Delete(ref, grace_seconds=0) for ref in refs)))
            )
            await eventually(lambda: found.bound("second") == 3, seconds=SECONDS)
            await eventually(
                lambda: not any(one.status.scheduling_conditions for one in found.groups), seconds=SECONDS
            )

    in_fleet(tmp_path, "4x8gpu", check)


def test_a_process_that_is_killed_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    async def check(found: Fleet) -> None:
        await found.create(*(job(f"j{number}", 10, gpus=1, minimum=10) for number in range(10)))
        for share in (0.0, 0.05, 0.1, 0.2):
            async with found.controlled(abruptly=True):
                await asyncio.sleep(share)
        async with found.controlled():
            await eventually(lambda: found.bound() == 100, seconds=SECONDS)
            await eventually(lambda: phases(found) == {"Running"}, seconds=SECONDS)
            assert len(found.groups) == 10

    in_fleet(tmp_path, "16x8gpu", check)


def test_only_the_holder_of_the_lease_works_and_another_takes_over(tmp_path: Path) -> None:
    lease = Ref(kind=LEASE, name="quorate", namespace="default")
    settings = app.Settings(lease=lease, terms=Terms(lease_seconds=3, renew_seconds=2, retry_seconds=0.1))

    async def check(found: Fleet) -> None:
        async with found.controlled(settings):
            second, ready = asyncio.Event(), asyncio.Event()
            waiting = asyncio.create_task(app.run(found.connection, settings, second, ready=ready.set))
            await found.create(job("one", 1, gpus=1))
            await eventually(lambda: found.bound() == 1, seconds=SECONDS)
            assert not ready.is_set()
        await asyncio.wait_for(ready.wait(), SECONDS)
        await found.create(job("two", 1, gpus=1))
        await eventually(lambda: found.bound() == 2, seconds=SECONDS)
        second.set()
        await asyncio.wait_for(waiting, SECONDS)

    in_fleet(tmp_path, "1x8gpu", check)


def test_the_grouper_alone_groups_and_binds_nothing(tmp_path: Path) -> None:
    async def check(found: Fleet) -> None:
        async with found.controlled(app.Settings(only=("grouper",))):
            await found.create(job("train", 2, gpus=1))
            await eventually(lambda: len(found.groups) == 1, seconds=SECONDS)
            await quiet(found)
            assert found.bound() == 0

    in_fleet(tmp_path, "1x8gpu", check)


def test_an_unknown_controller_is_refused_with_the_known_ones() -> None:
    known = ", ".join(app.CONTROLLERS)
    with pytest.raises(app.SettingsError, match=f"no controller 'scheduller'; there are {known}"):
        app.Settings(only=("scheduller",))
