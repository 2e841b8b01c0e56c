import asyncio
from collections.abc import Awaitable, Callable

import pytest

from quorate.api.core import POD
from quorate.kube.apply import Writer
from quorate.kube.outcome import Outcome
from quorate.plan import (
    Apply,
    Bind,
    Change,
    Create,
    Delete,
    Emit,
    EventType,
    Evict,
    Patch,
    Plan,
    Ref,
    SetStatus,
)
from tests.fakes.api_server import Reply, ScriptedServer, scripted_client, status

FOLDER = "/api/v1/namespaces/default/pods"
EVENTS = "/api/v1/namespaces/default/events"
OK = Reply(body={})


def ref(name: str = "a", *, revision: str = "") -> Ref:
    return Ref(kind=POD, name=name, namespace="default", uid=f"uid-{name}", resource_version=revision)


def with_writer(
    test: Callable[[ScriptedServer, Writer], Awaitable[None]], now: Callable[[], float] = lambda: 0.0
) -> None:
    async def run() -> None:
        async with scripted_client(attempts=1) as (server, client):
            await test(server, Writer(client, "quorate", now=now))

    asyncio.run(run())


def test_each_change_is_one_request_with_its_preconditions() -> None:
    changes: tuple[Change, ...] = (
        Bind(ref("bind", revision="5"), "n1", {"k": "v"}),
        Evict(ref("evict"), "reclaim", "text", grace_seconds=3),
        Create(ref("create"), {"spec": {}}),
        Apply(ref("apply"), {"spec": {"x": 1}}),
        Patch(ref("patch", revision="7"), {"metadata": {"labels": {"a": None}}}),
        SetStatus(ref("status"), {"phase": "x"}),
        Delete(ref("delete", revision="9"), grace_seconds=0),
    )

    async def check(server: ScriptedServer, writer: Writer) -> None:
        server.on("POST", f"{FOLDER}/bind/binding", OK)
        server.on("POST", f"{FOLDER}/evict/eviction", OK)
        server.on("POST", FOLDER, OK)
        for name in ("apply", "patch", "status/status"):
            server.on("PATCH", f"{FOLDER}/{name}", OK)
        server.on("DELETE", f"{FOLDER}/delete", OK)
        result = await writer.write(Plan(changes=changes))
        assert result.is_done
        bodies = {seen.path.removeprefix(FOLDER): seen for seen in server.seen}
        assert bodies["/bind/binding"].body["metadata"] == {
            "name": "bind",
            "namespace": "default",
            "uid": "uid-bind",
            "resourceVersion": "5",
            "annotations": {"k": "v"},
        }
        assert bodies["/evict/eviction"].body["deleteOptions"]["preconditions"] == {"uid": "uid-evict"}
        assert bodies[""].body["kind"] == "Pod"
        assert bodies["/apply"].headers["Content-Type"] == "application/apply-patch+yaml"
        assert bodies["/apply"].query == {"fieldManager": "quorate", "force": "true"}
        assert bodies["/patch"].body["metadata"] == {
            "labels": {"a": None},
            "uid": "uid-patch",
            "resourceVersion": "7",
        }
        assert bodies["/status/status"].body["status"] == {"phase": "x"}
        assert bodies["/delete"].body["preconditions"] == {"uid": "uid-delete", "resourceVersion": "9"}
        assert len(server.seen) == len(changes)

    with_writer(check)


def test_evictions_are_answered_before_anything_else_is_sent() -> None:
    changes = (Bind(ref("a"), "n1"), Evict(ref("b"), "r", "m"), Evict(ref("c"), "r", "m"))

    async def check(server: ScriptedServer, writer: Writer) -> None:
        await writer.write(Plan(changes=changes))
        assert [seen.path.rsplit("/", 1)[1] for seen in server.seen] == ["eviction", "eviction", "binding"]

    with_writer(check)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(409, status(409, "Conflict", "changed")), Outcome.CONFLICT),
        (Reply(404, status(404, "NotFound")), Outcome.GONE),
        (
            Reply(429, status(429, "TooManyRequests", causes=[{"reason": "DisruptionBudget"}])),
            Outcome.REFUSED_BY_BUDGET,
        ),
        (Reply(403, status(403, "Forbidden")), Outcome.REFUSED),
        (Reply(422, status(422, "Invalid", causes=[{"field": "metadata.uid"}])), Outcome.CONFLICT),
        (Reply(422, status(422, "Invalid", "bad")), Outcome.REFUSED),
        (Reply(500, status(500, "InternalError")), Outcome.UNKNOWN),
        (Reply(cut=True), Outcome.UNKNOWN),
        (Reply(429, status(429, "TooManyRequests")), Outcome.FAILED),
    ],
)
def test_an_expected_outcome_is_data(reply: Reply, outcome: Outcome) -> None:
    async def check(server: ScriptedServer, writer: Writer) -> None:
        server.on("POST", f"{FOLDER}/a/eviction", reply)
        result = await writer.write(Plan(changes=(Evict(ref("a"), "r", "m"),)))
        assert [one.outcome for one in result.written] == [outcome]

    with_writer(check)


def test_changes_to_one_object_stay_in_order_and_stop_at_the_first_that_did_not_happen() -> None:
    changes = (Patch(ref(), {"x": 1}), Bind(ref(), "n1"), Patch(ref("b"), {"x": 1}))

    async def check(server: ScriptedServer, writer: Writer) -> None:
        server.on("PATCH", f"{FOLDER}/a", Reply(409, status(409, "Conflict", "changed")))
        server.on("PATCH", f"{FOLDER}/b", OK)
        result = await writer.write(Plan(changes=changes))
        assert [one.outcome for one in result.written] == [Outcome.CONFLICT, Outcome.SKIPPED, Outcome.DONE]
        assert str(result) == "1 conflict, 1 skipped, 1 done"

    with_writer(check)


def emit(message: str = "no room") -> Emit:
    return Emit(ref(), EventType.WARNING, "Unschedulable", message)


def test_equal_events_are_counted_on_one_object() -> None:
    clock = [0.0]

    async def check(server: ScriptedServer, writer: Writer) -> None:
        server.on("POST", EVENTS, OK)
        for moment in (0.0, 1.0, 2.0):
            clock[0] = moment
            await writer.write(Plan(changes=(emit(),)))
        assert len(server.seen) == 1
        name = server.seen[0].body["metadata"]["name"]
        server.on("PATCH", f"{EVENTS}/{name}", OK)
        clock[0] = 20.0
        await writer.write(Plan(changes=(emit(),)))
        assert server.seen[1].body == {"count": 4, "lastTimestamp": "1970-01-01T00:00:20Z"}

    with_writer(check, lambda: clock[0])


def test_a_flood_of_different_events_about_one_object_is_bounded() -> None:
    async def check(server: ScriptedServer, writer: Writer) -> None:
        server.on("POST", EVENTS, OK)
        for number in range(100):
            await writer.write(Plan(changes=(emit(f"reason {number}"),)))
        assert len(server.seen) == 25

    with_writer(check)
