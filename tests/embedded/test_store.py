import asyncio

import pytest

from quorate.api.meta import Json
from quorate.embedded.store import (
    HISTORY,
    AbsentError,
    Event,
    Key,
    PresentError,
    StaleError,
    Store,
    TooOldError,
)


def key(name: str, namespace: str = "default") -> Key:
    return Key("", "configmaps", namespace, name)


def obj(name: str, **data: str) -> Json:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}, "data": data}


def names(store: Store, namespace: str | None = None) -> list[str]:
    return [item["metadata"]["name"] for item in store.list("", "configmaps", namespace)]


def test_each_write_takes_the_next_revision() -> None:
    store = Store()
    first = store.create(key("a"), obj("a"))
    second = store.update(key("a"), obj("a", k="v"))
    assert int(second["metadata"]["resourceVersion"]) == int(first["metadata"]["resourceVersion"]) + 1
    assert store.revision == int(second["metadata"]["resourceVersion"])


def test_a_stored_object_is_not_the_one_that_was_given() -> None:
    store = Store()
    given = obj("a")
    store.create(key("a"), given)
    assert "resourceVersion" not in given["metadata"]


def test_create_refuses_what_is_there_and_update_what_is_not() -> None:
    store = Store()
    store.create(key("a"), obj("a"))
    with pytest.raises(PresentError):
        store.create(key("a"), obj("a"))
    with pytest.raises(AbsentError):
        store.update(key("b"), obj("b"))


def test_update_refuses_another_revision_than_expected() -> None:
    store = Store()
    store.create(key("a"), obj("a"))
    revision = store.revision
    store.update(key("a"), obj("a", k="1"), revision)
    with pytest.raises(StaleError):
        store.update(key("a"), obj("a", k="2"), revision)


def test_objects_are_listed_in_the_order_of_their_keys() -> None:
    store = Store()
    for namespace, name in (("b", "x"), ("a", "z"), ("a", "y"), ("a-b", "w")):
        store.create(key(name, namespace), obj(name))
    # "a-b/" sorts before "a/".
    assert names(store) == ["w", "y", "z", "x"]
    assert names(store, "a") == ["y", "z"]


def test_the_past_can_be_listed() -> None:
    store = Store()
    store.create(key("a"), obj("a", k="1"))
    store.create(key("b"), obj("b"))
    then = store.revision
    store.update(key("a"), obj("a", k="2"))
    store.delete(key("b"))
    store.create(key("c"), obj("c"))
    past = store.entries_at("", "configmaps", then)
    assert [(name, entry.object["data"]) for _, name, entry in past.walk(None)] == [
        ("a", {"k": "1"}),
        ("b", {}),
    ]


def test_history_ends_where_it_was_cut() -> None:
    store = Store(history=2)
    for name in "abcd":
        store.create(key(name), obj(name))
    store.subscribe("", "configmaps", store.revision - 2)
    with pytest.raises(TooOldError, match="too old resource version: 2 "):
        store.subscribe("", "configmaps", 2)


def test_as_many_events_are_kept_as_there_are_objects() -> None:
    store = Store()
    for number in range(HISTORY + 100):
        store.create(key(f"m{number}"), obj(f"m{number}"))
    then = store.revision
    for number in range(HISTORY + 100):
        store.update(key(f"m{number}"), obj(f"m{number}"))
    assert len(store.subscribe("", "configmaps", then).drain()) == HISTORY + 100
    store.update(key("m0"), obj("m0"))
    with pytest.raises(TooOldError):
        store.subscribe("", "configmaps", then)


def test_a_subscription_starts_with_what_came_since() -> None:
    store = Store()
    store.create(key("a"), obj("a"))
    subscription = store.subscribe("", "configmaps", store.revision)
    store.update(key("a"), obj("a", k="v"))
    store.create(Key("", "secrets", "default", "s"), obj("s"))
    store.delete(key("a"))
    assert [event.type for event in subscription.drain()] == ["MODIFIED", "DELETED"]
    assert subscription.drain() == []


def test_a_deletion_carries_its_own_revision() -> None:
    store = Store()
    store.create(key("a"), obj("a"))
    deleted = store.delete(key("a"))
    assert deleted["metadata"]["resourceVersion"] == str(store.revision)
    assert store.get(key("a")) is None


def test_a_slow_reader_is_cut_off_and_told() -> None:
    store = Store()
    subscription = store.subscribe("", "configmaps", store.revision, limit=2)
    for name in "abc":
        store.create(key(name), obj(name))
    assert subscription.overflowed
    assert [event.key.name for event in subscription.drain()] == ["a", "b"]


def test_listeners_see_every_event_in_order() -> None:
    store = Store()
    seen: list[Event] = []
    store.on_event(seen.append)
    store.create(key("a"), obj("a"))
    store.delete(key("a"))
    assert [(event.type, event.revision) for event in seen] == [("ADDED", 2), ("DELETED", 3)]
    assert seen[1].previous is not None


def test_a_waiting_reader_wakes_on_an_event_and_on_the_end() -> None:
    async def run() -> None:
        store = Store()
        subscription = store.subscribe("", "configmaps", store.revision)
        waiting = asyncio.create_task(subscription.batch())
        await asyncio.sleep(0)
        store.create(key("a"), obj("a"))
        assert [event.key.name for event in await waiting] == ["a"]
        waiting = asyncio.create_task(subscription.batch())
        await asyncio.sleep(0)
        store.close()
        assert await waiting == []
        assert await subscription.batch(0.001) == []

    asyncio.run(run())
