import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from quorate.api.core import POD
from quorate.kube.auth import Connection, TokenFile
from quorate.kube.client import Client, Request
from quorate.kube.errors import (
    AlreadyExists,
    BudgetExhausted,
    Conflict,
    ConnectionFailed,
    ConnectionLost,
    Forbidden,
    KubeError,
    NotFound,
    ServerFailed,
    TooManyRequests,
    Unauthorized,
)
from tests.fakes.api_server import Reply, ScriptedServer, scripted, scripted_client, status

PATH = "/api/v1/namespaces/default/pods/a"
GET = Request(verb="get", method="GET", path=PATH, resource=POD.resource)
POST = Request(verb="bind", method="POST", path=f"{PATH}/binding", body=b"{}", repeatable=False)
OVERLOAD = Reply(429, status(429, "TooManyRequests", "slow down"), {"Retry-After": "0"})


def with_server(test: Callable[[ScriptedServer, Client], Awaitable[None]], attempts: int = 6) -> None:
    async def run() -> None:
        async with scripted_client(attempts) as (server, client):
            await test(server, client)

    asyncio.run(run())


def test_an_overloaded_server_is_asked_again() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("GET", PATH, OVERLOAD, OVERLOAD, Reply(body={"kind": "Pod"}))
        assert await client.send(GET) == b'{"kind": "Pod"}'
        assert len(server.seen) == 3

    with_server(check)


def test_retry_after_is_obeyed() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        late = Reply(429, status(429, "TooManyRequests"), {"Retry-After": "1"})
        server.on("GET", PATH, late, Reply(body={}))
        begin = asyncio.get_running_loop().time()
        await client.send(GET)
        assert asyncio.get_running_loop().time() - begin >= 1.0

    with_server(check)


def test_a_post_is_repeated_after_429_because_it_was_not_processed() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("POST", POST.path, OVERLOAD, Reply(201, {}))
        await client.send(POST)
        assert len(server.seen) == 2

    with_server(check)


@pytest.mark.parametrize(
    ("reply", "error"),
    [(Reply(503, status(503, "ServiceUnavailable")), ServerFailed), (Reply(cut=True), ConnectionLost)],
)
def test_a_post_that_may_have_been_processed_is_not_repeated(reply: Reply, error: type[KubeError]) -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("POST", POST.path, reply)
        with pytest.raises(error):
            await client.send(POST)
        assert len(server.seen) == 1

    with_server(check)


@pytest.mark.parametrize("reply", [Reply(503, status(503, "ServiceUnavailable")), Reply(cut=True)])
def test_a_read_is_repeated_after_a_failure(reply: Reply) -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("GET", PATH, reply, Reply(body={"kind": "Pod"}))
        await client.send(GET)

    with_server(check)


def test_attempts_end() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("GET", PATH, OVERLOAD)
        with pytest.raises(TooManyRequests):
            await client.send(GET)
        assert len(server.seen) == 3

    with_server(check, attempts=3)


def test_a_refused_connection_names_the_address() -> None:
    async def check() -> None:
        async with scripted() as server:
            connection = server.connection()
        async with Client(connection, attempts=1) as client:
            with pytest.raises(ConnectionFailed, match="cannot connect"):
                await client.send(GET)

    asyncio.run(check())


@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (409, "Conflict", Conflict),
        (409, "AlreadyExists", AlreadyExists),
    ],
)
def test_each_refusal_has_its_class_and_keeps_the_servers_words(
    code: int, reason: str, error: type[KubeError]
) -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("GET", PATH, Reply(code, status(code, reason, "the reason why")))
        with pytest.raises(error, match="the reason why"):
            await client.send(GET)

    with_server(check)


def test_a_budget_is_an_answer_and_not_overload() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        body = status(429, "TooManyRequests", "would violate", causes=[{"reason": "DisruptionBudget"}])
        server.on("POST", POST.path, Reply(429, body, {"Retry-After": "10"}))
        with pytest.raises(BudgetExhausted):
            await client.send(POST)
        assert len(server.seen) == 1

    with_server(check)


def test_the_answer_of_a_proxy_is_quoted() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("GET", PATH, Reply(502, "upstream is away"))
        with pytest.raises(ServerFailed, match=r"HTTP 502: .*upstream is away"):
            await client.send(GET)

    with_server(check, attempts=1)


def test_a_user_agent_is_sent() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("GET", PATH, Reply(body={}))
        await client.send(GET)
        assert server.seen[0].headers["User-Agent"].startswith("quorate/")

    with_server(check)


def test_an_expired_token_is_read_again_once(tmp_path: Path) -> None:
    async def check() -> None:
        (tmp_path / "token").write_text("old")
        async with scripted() as server:
            credentials = TokenFile(tmp_path / "token")
            async with Client(Connection(server.url, credentials)) as client:
                server.on(
                    "GET", PATH, Reply(body={}), Reply(401, status(401, "Unauthorized")), Reply(body={})
                )
                await client.send(GET)
                (tmp_path / "token").write_text("new")
                await client.send(GET)
                sent = [seen.headers["Authorization"] for seen in server.seen]
                assert sent == ["Bearer old", "Bearer old", "Bearer new"]

    asyncio.run(check())


def test_a_rejected_credential_is_not_tried_for_ever() -> None:
    async def check(server: ScriptedServer, client: Client) -> None:
        server.on("GET", PATH, Reply(401, status(401, "Unauthorized", "who are you")))
        with pytest.raises(Unauthorized, match="who are you"):
            await client.send(GET)
        assert len(server.seen) == 2

    with_server(check)
