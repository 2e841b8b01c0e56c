import asyncio
from contextlib import suppress
from typing import Any

import msgspec

from quorate.api.meta import Kind, Object, ObjectMeta
from quorate.kube.caches import Caches
from quorate.kube.owners import Absent, Owners, is_same
from quorate.kube.resources import Scope
from tests.fakes.api_server import Reply, bookmark, line, scripted_client, status
from tests.fakes.eventually import eventually

GROUP = "/apis/example.com/v1"
THINGS = f"{GROUP}/things"
THING = f"{GROUP}/namespaces/default/things/a"
KIND = Kind("example.com", "v1", "Thing", "things")
RESOURCES = {
    "resources": [
        {"name": "things", "kind": "Thing", "namespaced": True},
        {"name": "things/status", "kind": "Thing"},
    ]
}


def thing(revision: int) -> dict[str, Any]:
    return {
        "kind": "Thing",
        "metadata": {
            "name": "a",
            "namespace": "default",
            "uid": "u",
            "resourceVersion": str(revision),
            "managedFields": [],
        },
    }


def test_an_owner_is_read_once_until_its_watch_shows_a_newer_version() -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            changed: list[str] = []
            caches = Caches(client)
            running = asyncio.create_task(caches.run())
            owners = Owners(client, caches, lambda _, uid: changed.append(uid))
            server.on("GET", GROUP, Reply(body=RESOURCES))
            server.on("GET", THING, Reply(body=thing(1)), Reply(body=thing(2)))
            start = Reply(chunks=(line("ADDED", thing(1)), bookmark(1, initial_end=True)))
            server.on("GET", THINGS, start, Reply(chunks=(line("MODIFIED", thing(2)),), hold=True))
            first = await owners.find("example.com/v1", "Thing", "default", "a")
            assert first == {
                "kind": "Thing",
                "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1"},
            }
            await eventually(lambda: changed == ["u"])
            second = await owners.find("example.com/v1", "Thing", "default", "a")
            assert isinstance(second, dict)
            assert second["metadata"]["resourceVersion"] == "2"
            assert (
                "PartialObjectMetadata"
                in next(seen for seen in server.seen if seen.path == THINGS).headers["Accept"]
            )
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    asyncio.run(check())


def test_what_cannot_be_read_says_why() -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            owners = Owners(client, Caches(client), lambda _, __: None)
            server.on("GET", GROUP, Reply(body=RESOURCES))
            server.on("GET", THING, Reply(403, status(403, "Forbidden", "things is forbidden")))
            forbidden = await owners.find("example.com/v1", "Thing", "default", "a")
            assert forbidden == Absent("things is forbidden", forbidden=True)
            unknown = await owners.find("example.com/v1", "Other", "default", "a")
            assert unknown == Absent("no kind Other is served in example.com/v1")

    asyncio.run(check())


def test_a_version_that_is_served_no_more_is_read_in_the_preferred_one() -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            owners = Owners(client, Caches(client), lambda _, __: None)
            server.on(
                "GET",
                "/apis/example.com",
                Reply(body={"preferredVersion": {"groupVersion": "example.com/v1"}}),
            )
            server.on("GET", GROUP, Reply(body=RESOURCES))
            server.on("GET", THING, Reply(body=thing(1)))
            assert isinstance(await owners.find("example.com/v1beta1", "Thing", "default", "a"), dict)

    asyncio.run(check())


def test_an_object_that_appears_after_it_was_missed_is_told_by_its_address() -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            changed: list[str] = []
            caches = Caches(client)
            owners = Owners(client, caches, lambda _, identity: changed.append(identity))
            server.on("GET", GROUP, Reply(body=RESOURCES))
            server.on("GET", THING, Reply(404, status(404, "NotFound")))
            assert isinstance(await owners.find("example.com/v1", "Thing", "default", "a"), Absent)
            things = caches.of(Scope(kind=KIND, metadata_only=True), Object, optional=True)
            things.put(msgspec.convert(thing(1), Object))
            assert changed == ["example.com/Thing/default/a"]

    asyncio.run(check())


def held(**changed: Any) -> dict[str, Any]:
    return {"uid": "u", "generation": 1, "resourceVersion": "1", **changed}


def test_a_status_counts_only_for_kinds_that_are_read_with_it() -> None:
    newer = msgspec.convert(held(resourceVersion="2"), ObjectMeta)
    assert is_same(held(), newer)
    assert not is_same(held(), newer, counts_status=True)


def test_another_owner_is_news() -> None:
    owned = held(ownerReferences=[{"kind": "Thing", "name": "b", "uid": "v"}])
    assert not is_same(held(), msgspec.convert(owned, ObjectMeta))
    assert is_same(owned, msgspec.convert(owned, ObjectMeta))
