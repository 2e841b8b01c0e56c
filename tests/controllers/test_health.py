import asyncio
from contextlib import suppress

import aiohttp
import pytest

from quorate.controllers.health import HealthServer
from quorate.kube.errors import ConfigError
from quorate.kube.metrics import CACHE_OBJECTS
from tests.fakes.eventually import eventually


async def answers(problems: list[str], *paths: str) -> list[tuple[int, str]]:
    port: list[int] = []
    server = asyncio.create_task(HealthServer(lambda: problems).run("127.0.0.1", 0, started=port.append))
    await eventually(lambda: bool(port))
    found = []
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port[0]}") as session:
        for path in paths:
            async with session.get(path) as answer:
                found.append((answer.status, await answer.text()))
    with pytest.raises(ConfigError, match="Address already in use; choose another port"):
        await HealthServer(lambda: problems).run("127.0.0.1", port[0])
    server.cancel()
    with suppress(asyncio.CancelledError):
        await server
    return found


def test_a_process_without_problems_is_ready_and_shows_its_metrics() -> None:
    CACHE_OBJECTS.labels("pods").set(1)
    healthy, ready, metrics = asyncio.run(answers([], "/healthz", "/readyz", "/metrics"))
    assert (healthy[0], ready[0], metrics[0]) == (200, 200, 200)
    assert "quorate_cache_objects" in metrics[1]


def test_a_process_with_problems_lives_and_names_them() -> None:
    healthy, ready = asyncio.run(answers(["pods: Forbidden: no"], "/healthz", "/readyz"))
    assert healthy[0] == 200
    assert ready == (503, "pods: Forbidden: no\n")
