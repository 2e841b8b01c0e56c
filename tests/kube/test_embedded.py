"""The client, the caches and the writer against the embedded API server, as a controller uses them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from quorate.api.core import LEASE, NODE, POD, Pod
from quorate.api.meta import Json, Object
from quorate.kube.apply import Writer
from quorate.kube.auth import Connection, FixedCredentials
from quorate.kube.cache import Cache
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.leader import Election, Terms
from quorate.kube.outcome import Outcome
from quorate.kube.owners import Absent, Owners
from quorate.kube.resources import Scope
from quorate.plan import Apply, Bind, Create, Delete, Emit, EventType, Evict, Patch, Plan, Ref, SetStatus
from tests.fakes.embedded import pod, serving
from tests.fakes.eventually import eventually

Test = Callable[[Client, Writer, Cache[Pod]], Awaitable[None]]
SCOPE = Scope(kind=POD)


@asynccontextmanager
async def running(caches: Caches) -> AsyncIterator[None]:
    task = asyncio.create_task(caches.run())
    try:
        await asyncio.wait_for(caches.synced(), 10)
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def with_cluster(test: Test) -> None:
    async def run() -> None:
        async with serving() as served, Client(Connection(served.url, FixedCredentials())) as client:
            caches = Caches(client)
            pods = caches.of(SCOPE, Pod)
            async with running(caches):
                await test(client, Writer(client, "quorate"), pods)

    asyncio.run(run())


def named(name: str) -> Ref:
    return Ref(kind=POD, name=name, namespace="default")


def current(pods: Cache[Pod], name: str) -> Ref:
    found = pods.get("default", name)
    assert found
    return Ref(
        kind=POD,
        name=name,
        namespace="default",
        uid=found.metadata.uid,
        resource_version=found.metadata.resource_version,
    )


async def create(writer: Writer, pods: Cache[Pod], *names: str) -> None:
    result = await writer.write(Plan(changes=tuple(Create(named(name), pod(name)) for name in names)))
    assert result.is_done, result.unmet
    await eventually(lambda: all(pods.get("default", name) for name in names))


async def write(
    writer: Writer, change: Bind | Evict | Patch | Apply | SetStatus | Delete | Create | Emit
) -> Outcome:
    result = await writer.write(Plan(changes=(change,)))
    return result.written[0].outcome


def test_what_is_created_appears_in_the_cache_and_what_is_bound_changes_there() -> None:
    async def check(_: Client, writer: Writer, pods: Cache[Pod]) -> None:
        await create(writer, pods, *(f"p{number}" for number in range(50)))
        binds = tuple(Bind(current(pods, f"p{number}"), "n1") for number in range(50))
        result = await writer.write(Plan(changes=binds))
        assert result.is_done, result.unmet
        await eventually(lambda: all(one.spec.node_name == "n1" for one in pods))

    with_cluster(check)


def test_a_stale_bind_is_a_conflict_and_so_is_a_second_one() -> None:
    async def check(_: Client, writer: Writer, pods: Cache[Pod]) -> None:
        await create(writer, pods, "a")
        old = current(pods, "a")
        assert await write(writer, Patch(old, {"metadata": {"labels": {"x": "y"}}})) is Outcome.DONE
        assert await write(writer, Bind(old, "n1")) is Outcome.CONFLICT
        await eventually(lambda: current(pods, "a").resource_version != old.resource_version)
        assert await write(writer, Bind(current(pods, "a"), "n1")) is Outcome.DONE
        await eventually(lambda: all(one.spec.node_name for one in pods))
        assert await write(writer, Bind(current(pods, "a"), "n2")) is Outcome.CONFLICT

    with_cluster(check)


def test_a_patch_with_the_uid_of_an_earlier_object_is_a_conflict() -> None:
    async def check(_: Client, writer: Writer, pods: Cache[Pod]) -> None:
        await create(writer, pods, "a")
        other = Ref(kind=POD, name="a", namespace="default", uid="00000000-0000-0000-0000-000000000000")
        assert await write(writer, Patch(other, {"metadata": {"labels": {"x": "y"}}})) is Outcome.CONFLICT
        assert await write(writer, Delete(other)) is Outcome.CONFLICT
        assert await write(writer, Evict(other, "r", "m")) is Outcome.CONFLICT

    with_cluster(check)


def test_an_evicted_pod_disappears_and_a_second_eviction_finds_it_gone() -> None:
    async def check(_: Client, writer: Writer, pods: Cache[Pod]) -> None:
        await create(writer, pods, "a")
        victim = current(pods, "a")
        assert await write(writer, Evict(victim, "reclaim", "m", grace_seconds=0)) is Outcome.DONE
        await eventually(lambda: len(pods) == 0)
        assert await write(writer, Evict(victim, "reclaim", "m")) is Outcome.GONE

    with_cluster(check)


def test_status_is_set_and_the_rest_is_kept() -> None:
    async def check(_: Client, writer: Writer, pods: Cache[Pod]) -> None:
        await create(writer, pods, "a")
        assert await write(writer, SetStatus(current(pods, "a"), {"phase": "Running"})) is Outcome.DONE
        await eventually(lambda: all(one.status.phase == "Running" for one in pods))

    with_cluster(check)


def test_create_of_an_existing_name_is_a_conflict_and_apply_is_not() -> None:
    async def check(_: Client, writer: Writer, pods: Cache[Pod]) -> None:
        await create(writer, pods, "a")
        assert await write(writer, Create(named("a"), pod("a"))) is Outcome.CONFLICT
        node = Ref(kind=NODE, name="n1")
        for _again in range(2):
            assert await write(writer, Apply(node, {"metadata": {"labels": {"rack": "r1"}}})) is Outcome.DONE

    with_cluster(check)


def test_events_are_recorded_about_the_object() -> None:
    async def check(_: Client, writer: Writer, pods: Cache[Pod]) -> None:
        await create(writer, pods, "a")
        emit = Emit(current(pods, "a"), EventType.NORMAL, "Scheduled", "bound to n1")
        assert await write(writer, emit) is Outcome.DONE
        assert await write(writer, emit) is Outcome.DONE

    with_cluster(check)


def test_the_cache_of_metadata_only_has_owners_change() -> None:
    async def check(client: Client, writer: Writer, pods: Cache[Pod]) -> None:
        caches = Caches(client)
        changed: list[str] = []
        owners = Owners(client, caches, lambda _, uid: changed.append(uid))
        async with running(caches):
            await create(writer, pods, "a")
            found = await owners.find("v1", "Pod", "default", "a")
            assert not isinstance(found, Absent)
            metadata_cache: Cache[Object] = caches.of(Scope(kind=POD, metadata_only=True), Object)
            await asyncio.wait_for(metadata_cache.synced.wait(), 10)
            await write(writer, Patch(named("a"), {"metadata": {"labels": {"x": "y"}}}))
            await eventually(lambda: changed == [found["metadata"]["uid"]])
            newer = await owners.find("v1", "Pod", "default", "a")
            assert not isinstance(newer, Absent)
            assert newer["metadata"]["labels"] == {"x": "y"}

    with_cluster(check)


def test_two_candidates_lead_one_after_the_other() -> None:
    async def check(client: Client, _: Writer, __: Cache[Pod]) -> None:
        ref = Ref(kind=LEASE, name="quorate", namespace="default")
        terms = Terms(lease_seconds=2, renew_seconds=1, retry_seconds=0.02)
        at_work: list[str] = []
        most: list[int] = []

        async def lead(name: str) -> None:
            async def work() -> None:
                at_work.append(name)
                most.append(len(at_work))
                await asyncio.sleep(0.1)
                at_work.remove(name)

            await Election(client, ref, name, terms).lead(work)

        await asyncio.gather(*(lead(name) for name in ("a", "b", "c")))
        assert most == [1, 1, 1]

    with_cluster(check)


@pytest.mark.parametrize("name", ["Bad_Name", "x" * 300])
def test_an_invalid_object_is_refused_with_the_servers_words(name: str) -> None:
    async def check(_: Client, writer: Writer, __: Cache[Pod]) -> None:
        body: Json = pod(name)
        result = await writer.write(Plan(changes=(Create(named(name), body),)))
        assert result.written[0].outcome is Outcome.REFUSED
        assert "metadata.name" in result.written[0].message

    with_cluster(check)
