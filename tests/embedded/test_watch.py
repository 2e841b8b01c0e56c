import asyncio
from collections.abc import AsyncIterator

import aiohttp
import msgspec
import pytest

from quorate.api.meta import Json
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.errors import ApiError
from quorate.embedded.options import Options, Patch, WatchOptions
from quorate.embedded.query import watch_options
from quorate.embedded.registry import Resource
from quorate.embedded.selectors import Selection, parse_labels
from quorate.embedded.store import Store
from quorate.embedded.target import Target
from quorate.embedded.watch import Watch
from tests.fakes.embedded import api_server, config_map, pod, serving

MERGE = "application/merge-patch+json"


def events(chunk: bytes) -> list[Json]:
    return [msgspec.json.decode(line) for line in chunk.splitlines()]


async def read(lines: AsyncIterator[bytes]) -> list[Json]:
    return events(await asyncio.wait_for(anext(lines), 5))


def seen(found: list[Json]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"]["name"]) for event in found]


async def watching(
    api: ApiServer, options: WatchOptions, plural: str = "configmaps"
) -> tuple[Resource, Watch]:
    resource = api.resource("", "v1", plural)
    return resource, api.watch(resource, "default", options)


def test_without_a_revision_a_watch_starts_with_what_is_there() -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        await api.create(maps, "default", config_map("a"))
        _, watch = await watching(api, WatchOptions())
        lines = watch.lines()
        assert seen(await read(lines)) == [("ADDED", "a")]
        await api.create(maps, "default", config_map("b"))
        await api.delete(Target(maps, "default", "a"))
        assert seen(await read(lines)) == [("ADDED", "b"), ("DELETED", "a")]
        watch.close()

    asyncio.run(run())


def test_from_a_revision_a_watch_shows_what_came_after_it() -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        await api.create(maps, "default", config_map("a"))
        revision = str(api.store.revision)
        await api.create(maps, "default", config_map("b"))
        _, watch = await watching(api, WatchOptions(resource_version=revision))
        assert seen(await read(watch.lines())) == [("ADDED", "b")]
        watch.close()

    asyncio.run(run())


def test_initial_events_end_with_a_marked_bookmark() -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        await api.create(maps, "default", config_map("a"))
        _, watch = await watching(api, WatchOptions(bookmarks=True, send_initial_events=True))
        found = await read(watch.lines())
        assert [event["type"] for event in found] == ["ADDED", "BOOKMARK"]
        metadata = found[1]["object"]["metadata"]
        assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert metadata["resourceVersion"] == str(api.store.revision)
        watch.close()

    asyncio.run(run())


def test_an_object_comes_and_goes_with_its_labels() -> None:
    async def run() -> None:
        api = await api_server()
        pods = api.resource("", "v1", "pods")
        await api.create(pods, "default", pod("a"))
        selection = Selection(parse_labels("app=x"))
        options = WatchOptions(selection, resource_version=str(api.store.revision))
        _, watch = await watching(api, options, "pods")
        lines = watch.lines()
        target = Target(pods, "default", "a")
        for labels in ({"app": "x"}, {"more": "1"}, {"app": None}):
            await api.patch(target, Patch(MERGE, {"metadata": {"labels": labels}}), Options())
        assert [event["type"] for event in await read(lines)] == ["ADDED", "MODIFIED", "DELETED"]
        watch.close()

    asyncio.run(run())


def test_another_namespace_is_not_seen() -> None:
    async def run() -> None:
        api = await api_server("other")
        maps = api.resource("", "v1", "configmaps")
        _, watch = await watching(api, WatchOptions(resource_version=str(api.store.revision)))
        await api.create(maps, "other", config_map("hidden", "other"))
        await api.create(maps, "default", config_map("a"))
        assert seen(await read(watch.lines())) == [("ADDED", "a")]
        watch.close()

    asyncio.run(run())


def test_a_revision_that_is_too_old_is_gone() -> None:
    async def run() -> None:
        api = await api_server(store=Store(history=2))
        maps = api.resource("", "v1", "configmaps")
        first = str(api.store.revision)
        for name in "abcd":
            await api.create(maps, "default", config_map(name))
        with pytest.raises(ApiError, match="too old resource version") as refused:
            await watching(api, WatchOptions(resource_version=first))
        assert (refused.value.code, refused.value.reason) == (410, "Expired")

    asyncio.run(run())


def test_a_slow_reader_gets_an_error_event_instead_of_a_gap() -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        options = WatchOptions(resource_version=str(api.store.revision), buffer=2)
        watch = api.watch(maps, "default", options)
        for name in "abc":
            await api.create(maps, "default", config_map(name))
        found = [event async for chunk in watch.lines() for event in events(chunk)]
        assert [event["type"] for event in found] == ["ADDED", "ADDED", "ERROR"]
        assert found[-1]["object"]["code"] == 410

    asyncio.run(run())


@pytest.mark.parametrize(("lead", "bookmarks"), [(0.005, ["BOOKMARK"]), (2.0, [])])
def test_a_watch_ends_in_time_and_if_it_is_not_short_after_a_bookmark(
    lead: float, bookmarks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        api = await api_server()
        options = WatchOptions(resource_version=str(api.store.revision), bookmarks=True, timeout_seconds=0.01)
        _, watch = await watching(api, options)
        found = [event async for chunk in watch.lines() for event in events(chunk)]
        assert [event["type"] for event in found] == bookmarks

    monkeypatch.setattr("quorate.embedded.watch._LAST_BOOKMARK_SECONDS", lead)
    asyncio.run(run())


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"sendInitialEvents": "true"}, "sendInitialEvents requires setting resourceVersionMatch"),
        ({"resourceVersionMatch": "Exact"}, "resourceVersionMatch is forbidden for watch"),
    ],
)
def test_options_that_make_no_sense_are_refused(query: dict[str, str], message: str) -> None:
    async def run() -> None:
        api = await api_server()
        with pytest.raises(ApiError, match=message):
            watch_options(query, api.resource("", "v1", "configmaps"))

    asyncio.run(run())


def test_a_watch_ends_when_its_client_has_gone() -> None:
    async def run() -> None:
        async with serving() as server, aiohttp.ClientSession(server.url) as session:
            shelf = server.api.store.subscriptions("", "configmaps")
            before = len(shelf)
            response = await session.get("/api/v1/configmaps?watch=1")
            assert len(shelf) == before + 1
            response.close()
            async with asyncio.timeout(5):
                while len(shelf) > before:  # noqa: ASYNC110 nothing tells of it
                    await asyncio.sleep(0.001)

    asyncio.run(run())
