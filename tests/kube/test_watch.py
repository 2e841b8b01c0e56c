import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from quorate.api.core import POD, Pod
from quorate.kube.cache import Cache
from quorate.kube.client import Client
from quorate.kube.resources import Scope
from quorate.kube.watch import Reflector
from tests.fakes.api_server import Reply, ScriptedServer, bookmark, line, pod, scripted_client, status
from tests.fakes.eventually import eventually

PODS = "/api/v1/pods"
Test = Callable[[ScriptedServer, Cache[Pod]], Awaitable[None]]


@asynccontextmanager
async def reflecting(client: Client, cache: Cache[Pod], *, optional: bool = False) -> AsyncIterator[None]:
    task = asyncio.create_task(Reflector(client, cache, Pod, optional=optional, silence=2.0).run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def run(*replies: Reply, test: Test, optional: bool = False) -> None:
    async def check() -> None:
        async with scripted_client(attempts=2) as (server, client):
            server.on("GET", PODS, *replies)
            cache: Cache[Pod] = Cache(Scope(kind=POD))
            async with reflecting(client, cache, optional=optional):
                await test(server, cache)

    asyncio.run(check())


def names(cache: Cache[Pod]) -> set[str]:
    return {pod.metadata.name for pod in cache}


def stream(*chunks: bytes, cut: bool = False) -> Reply:
    return Reply(chunks=chunks, hold=not cut, cut=cut)


START = (line("ADDED", pod("a", 1)), line("ADDED", pod("b", 2)), bookmark(5, initial_end=True))


def test_a_watch_list_fills_the_cache_at_its_bookmark() -> None:
    async def check(server: ScriptedServer, cache: Cache[Pod]) -> None:
        await cache.synced.wait()
        assert names(cache) == {"a", "b"}
        assert server.seen[0].query["sendInitialEvents"] == "true"
        await eventually(lambda: len(server.seen) == 2)
        assert server.seen[1].query["resourceVersion"] == "5"

    run(Reply(chunks=START), stream(), test=check)


def test_a_server_without_watch_list_is_listed_in_pages() -> None:
    first = {"metadata": {"resourceVersion": "9", "continue": "more"}, "items": [pod("a", 1)]}
    second = {"metadata": {"resourceVersion": "9"}, "items": [pod("b", 2)]}

    async def check(server: ScriptedServer, cache: Cache[Pod]) -> None:
        await cache.synced.wait()
        assert names(cache) == {"a", "b"}
        assert server.seen[2].query["continue"] == "more"
        assert cache.revision == "9"

    refusal = Reply(422, status(422, "Invalid", "sendInitialEvents is forbidden"))
    run(refusal, Reply(body=first), Reply(body=second), stream(), test=check)


def test_a_watch_cut_in_mid_line_resumes_at_the_last_revision() -> None:
    half = line("ADDED", pod("d", 8))
    follow = (line("ADDED", pod("c", 7)), half[: len(half) // 2])

    async def check(server: ScriptedServer, cache: Cache[Pod]) -> None:
        await eventually(lambda: names(cache) == {"a", "b", "c", "d"})
        assert [seen.query.get("resourceVersion") for seen in server.seen] == [None, "5", "7"]

    run(Reply(chunks=START), stream(*follow, cut=True), stream(half), test=check)


def test_gone_lists_again_and_learns_what_was_deleted() -> None:
    gone = line("ERROR", status(410, "Expired", "too old resource version"))
    again = (line("ADDED", pod("b", 2)), line("ADDED", pod("c", 9)), bookmark(10, initial_end=True))

    async def check(_: ScriptedServer, cache: Cache[Pod]) -> None:
        changes: list[tuple[str, str]] = []
        await cache.synced.wait()
        cache.subscribe(
            lambda old, new: changes.append(
                (old.metadata.name if old else "", new.metadata.name if new else "")
            )
        )
        changes.clear()
        await eventually(lambda: names(cache) == {"b", "c"})
        assert changes == [("a", ""), ("", "c")]

    run(Reply(chunks=START), stream(gone, cut=True), Reply(chunks=again), stream(), test=check)


def test_bookmarks_move_the_revision() -> None:
    async def check(server: ScriptedServer, cache: Cache[Pod]) -> None:
        await eventually(lambda: cache.revision == "40")
        await eventually(lambda: len(server.seen) == 3)
        assert server.seen[2].query["resourceVersion"] == "40"

    run(Reply(chunks=START), stream(bookmark(40), cut=True), stream(), test=check)


def test_an_object_that_does_not_decode_is_named_and_the_watch_goes_on() -> None:
    broken = pod("x", 6) | {"spec": {"nodeName": 7}}

    async def check(_: ScriptedServer, cache: Cache[Pod]) -> None:
        await eventually(lambda: "c" in names(cache))
        assert "nodeName" in cache.rejected["default", "x"]

    run(Reply(chunks=START), stream(line("ADDED", broken), line("ADDED", pod("c", 7))), test=check)


def test_a_forbidden_kind_is_reported_as_such() -> None:
    async def check(_: ScriptedServer, cache: Cache[Pod]) -> None:
        await eventually(lambda: bool(cache.problem))
        assert cache.problem == "Forbidden: pods is forbidden"
        assert not cache.synced.is_set()

    run(Reply(403, status(403, "Forbidden", "pods is forbidden")), test=check)


def test_an_optional_kind_that_is_not_served_is_empty() -> None:
    async def check(_: ScriptedServer, cache: Cache[Pod]) -> None:
        await asyncio.wait_for(cache.synced.wait(), 5)
        assert len(cache) == 0

    run(Reply(404, status(404, "NotFound")), test=check, optional=True)


def test_a_delete_event_removes() -> None:
    async def check(_: ScriptedServer, cache: Cache[Pod]) -> None:
        await eventually(lambda: names(cache) == {"b"})

    run(Reply(chunks=START), stream(line("DELETED", pod("a", 6))), test=check)
