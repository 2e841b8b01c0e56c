import asyncio
from typing import Any

import pytest

from quorate.api.core import LEASE
from quorate.kube.leader import Election, Terms
from quorate.plan import Ref
from tests.fakes.api_server import Reply, ScriptedServer, scripted_client, status
from tests.fakes.eventually import eventually

FOLDER = "/apis/coordination.k8s.io/v1/namespaces/system/leases"
PATH = f"{FOLDER}/quorate"
REF = Ref(kind=LEASE, name="quorate", namespace="system")
TERMS = Terms(lease_seconds=0.3, renew_seconds=0.2, retry_seconds=0.02)


def lease(holder: str, revision: int, duration: int = 15) -> Reply:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": duration, "leaseTransitions": 4}
    return Reply(body={"metadata": {"name": "quorate", "resourceVersion": str(revision)}, "spec": spec})


def specs(server: ScriptedServer, method: str) -> list[dict[str, Any]]:
    return [seen.body["spec"] for seen in server.seen if seen.method == method]


def test_a_missing_lease_is_created_and_led_until_work_ends_then_released() -> None:
    async def check() -> None:
        async with scripted_client() as (server, client):
            server.on("GET", PATH, Reply(404, status(404, "NotFound")), lease("me", 2))
            server.on("POST", FOLDER, Reply(201, {}))
            server.on("PATCH", PATH, Reply(body={}))
            await Election(client, REF, "me", TERMS).lead(lambda: asyncio.sleep(0.05))
            assert specs(server, "POST")[0]["holderIdentity"] == "me"
            assert specs(server, "PATCH")[-1] == {"holderIdentity": "", "leaseDurationSeconds": 1}

    asyncio.run(check())


def test_a_lease_that_another_renews_is_left_alone() -> None:
    async def check() -> None:
        async with scripted_client() as (server, client):
            server.on("GET", PATH, *(lease("other", revision, duration=1) for revision in range(200)))
            leading = asyncio.create_task(Election(client, REF, "me", TERMS).lead(lambda: asyncio.sleep(0)))
            await eventually(lambda: len(server.seen) > 10)
            leading.cancel()
            assert {seen.method for seen in server.seen} == {"GET"}

    asyncio.run(check())


def test_a_lease_is_taken_only_after_its_duration_was_observed_here() -> None:
    async def check() -> None:
        async with scripted_client() as (server, client):
            server.on("GET", PATH, lease("dead", 7, duration=1))
            server.on("PATCH", PATH, Reply(body={}))
            begin = asyncio.get_running_loop().time()
            await Election(client, REF, "me", TERMS).lead(lambda: asyncio.sleep(0))
            assert asyncio.get_running_loop().time() - begin >= 1.0
            first = next(seen for seen in server.seen if seen.method == "PATCH")
            assert first.body["metadata"] == {"resourceVersion": "7"}
            assert first.body["spec"]["leaseTransitions"] == 5

    asyncio.run(check())


def test_work_stops_when_the_lease_cannot_be_renewed() -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            conflict = Reply(409, status(409, "Conflict"))
            server.on("GET", PATH, lease("", 1), lease("other", 9))
            server.on("PATCH", PATH, Reply(body={}), conflict)
            stopped = asyncio.Event()

            async def work() -> None:
                try:
                    await asyncio.Event().wait()
                finally:
                    stopped.set()

            await asyncio.wait_for(Election(client, REF, "me", TERMS).lead(work), 5)
            assert stopped.is_set()

    asyncio.run(check())


def test_terms_that_would_allow_two_leaders_are_refused() -> None:
    with pytest.raises(ValueError, match="lease > renew > retry"):
        Terms(lease_seconds=5, renew_seconds=10)
