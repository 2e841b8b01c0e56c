import asyncio
from typing import TYPE_CHECKING

import pytest

from quorate.embedded.apiserver import ApiServer
from quorate.embedded.errors import ApiError
from quorate.embedded.listing import Page
from quorate.embedded.options import ListOptions
from quorate.embedded.query import list_options
from quorate.embedded.registry import Resource
from quorate.embedded.store import Store
from quorate.embedded.target import Target
from tests.fakes.embedded import api_server, config_map, node, pod

if TYPE_CHECKING:
    from quorate.api.meta import Json


def names(page: Page) -> list[str]:
    return [obj["metadata"]["name"] for obj in page.objects]


async def with_maps(*given: str, store: Store | None = None) -> tuple[ApiServer, Resource]:
    api = await api_server(store=store)
    maps = api.resource("", "v1", "configmaps")
    for name in given:
        await api.create(maps, "default", config_map(name))
    return api, maps


def test_pages_are_consistent_while_the_list_changes() -> None:
    async def run() -> None:
        api, maps = await with_maps(*"abcd")
        first = api.list(maps, "default", ListOptions(limit=2))
        assert (names(first), first.remaining) == (["a", "b"], 2)
        await api.delete(Target(maps, "default", "c"))
        await api.create(maps, "default", config_map("bb"))
        rest = api.list(maps, "default", ListOptions(limit=2, continue_token=first.continue_token))
        assert (names(rest), rest.continue_token) == (["c", "d"], "")
        assert rest.revision == first.revision

    asyncio.run(run())


def test_a_token_older_than_the_history_is_gone_but_can_go_on() -> None:
    async def run() -> None:
        api, maps = await with_maps(*"abcd", store=Store(history=3))
        first = api.list(maps, "default", ListOptions(limit=2))
        for name in ("e", "f", "g", "h"):
            await api.create(maps, "default", config_map(name))
        options = ListOptions(limit=10, continue_token=first.continue_token)
        with pytest.raises(ApiError, match="continue parameter is too old") as refused:
            api.list(maps, "default", options)
        assert (refused.value.code, refused.value.reason) == (410, "Expired")
        token = refused.value.status["metadata"]["continue"]
        rest = api.list(maps, "default", ListOptions(continue_token=token))
        assert names(rest) == ["c", "d", "e", "f", "g", "h"]

    asyncio.run(run())


def test_an_exact_revision_shows_the_past() -> None:
    async def run() -> None:
        api, maps = await with_maps("a")
        then = str(api.store.revision)
        await api.create(maps, "default", config_map("b"))
        exact = ListOptions(resource_version=then, match="Exact")
        assert names(api.list(maps, "default", exact)) == ["a"]
        assert names(api.list(maps, "default", ListOptions(resource_version=then))) == ["a", "b"]

    asyncio.run(run())


def test_a_revision_of_the_future_is_refused() -> None:
    async def run() -> None:
        api, maps = await with_maps("a")
        with pytest.raises(ApiError, match="Too large resource version: 999, current: ") as refused:
            api.list(maps, "default", ListOptions(resource_version="999"))
        assert refused.value.code == 504

    asyncio.run(run())


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ({"continue": "%%%"}, 400, "continue key is not valid"),
        ({"resourceVersion": "x"}, 400, "invalid syntax"),
        ({"resourceVersionMatch": "Exact"}, 422, "resourceVersionMatch is forbidden unless resourceVersion"),
        ({"limit": "x"}, 400, "invalid syntax"),
        ({"fieldSelector": "spec.x=y"}, 400, '"spec.x" is not a known field selector'),
        ({"fieldSelector": "x"}, 400, "invalid selector: 'x'; can't understand 'x'"),
        ({"labelSelector": "a in b"}, 400, "unable to parse requirement: found 'b' expected: '('"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(query: dict[str, str], code: int, message: str) -> None:
    async def run() -> None:
        api, maps = await with_maps("a")
        with pytest.raises(ApiError) as refused:
            api.list(maps, "default", list_options(query, maps))
        assert message in str(refused.value)
        assert refused.value.code == code

    asyncio.run(run())


PODS = (
    pod("a", labels={"app": "x", "tier": "1"}),
    pod("b", labels={"app": "y"}, node="n1"),
    pod("c"),
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"labelSelector": "app=x"}, "a"),
        ({"labelSelector": "app!=x"}, "bc"),
        ({"labelSelector": "app in (x, y)"}, "ab"),
        ({"labelSelector": "app notin (x),app"}, "b"),
        ({"labelSelector": "!app"}, "c"),
        ({"labelSelector": "tier>0"}, "a"),
        ({"labelSelector": "tier<1"}, ""),
        ({"fieldSelector": "spec.nodeName=n1"}, "b"),
        ({"fieldSelector": "spec.nodeName="}, "ac"),
        ({"fieldSelector": "status.phase!=Running"}, "abc"),
        ({"fieldSelector": "metadata.name=c"}, "c"),
        ({"fieldSelector": "spec.hostNetwork=false"}, "abc"),
    ],
)
def test_selectors_choose(query: dict[str, str], found: str) -> None:
    async def run() -> None:
        api = await api_server()
        await api.create(api.resource("", "v1", "nodes"), "", node("n1"))
        pods = api.resource("", "v1", "pods")
        for obj in PODS:
            await api.create(pods, "default", obj)
        assert "".join(names(api.list(pods, "", list_options(query, pods)))) == found

    asyncio.run(run())


def test_a_missing_object_is_named() -> None:
    async def run() -> None:
        api, maps = await with_maps()
        with pytest.raises(ApiError, match='configmaps "a" not found') as refused:
            api.get(maps, "default", "a")
        details: Json = refused.value.status["details"]
        assert details == {"name": "a", "kind": "configmaps"}

    asyncio.run(run())
