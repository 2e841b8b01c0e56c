"""The record of usage between a cycle, a ConfigMap and the next life of the process."""

import logging

import msgspec
import pytest

from quorate.api.core import CONFIG_MAP, ConfigMap
from quorate.controllers.usage import FIELD, READ_SECONDS, STORE, WRITE_SECONDS, UsageStore
from quorate.kube.cache import Cache
from quorate.kube.resources import Scope
from quorate.plan import Apply
from tests.fakes.clusters import NOW, Cluster, Group

HALF_LIFE = 7 * 24 * 3600.0


def stored(text: str = "") -> Cache[ConfigMap]:
    cache: Cache[ConfigMap] = Cache(Scope(kind=CONFIG_MAP))
    if text:
        meta = {"namespace": STORE.namespace, "name": STORE.name}
        cache.put(msgspec.convert({"metadata": meta, "data": {FIELD: text}}, ConfigMap))
    return cache


def half_used() -> Cluster:
    cluster = Cluster()
    cluster.node("n", 8)
    cluster.queue("q", quota=8)
    cluster.gang("job", [Group("", min_member=4, members=4)], queue="q")
    cluster.settle()
    return cluster


def written(store: UsageStore, cluster: Cluster, now: float) -> list[Apply]:
    return store.seen(cluster.encoder.snapshot(now))


def test_what_a_cycle_saw_lasted_until_the_next() -> None:
    cluster, store = half_used(), UsageStore(stored(), HALF_LIFE)
    assert written(store, cluster, NOW) == []
    used = store.due(NOW + READ_SECONDS)
    assert used is not None
    assert used["q"][2] == pytest.approx(0.5)


def test_it_is_read_and_written_from_time_to_time_only() -> None:
    cluster, store = half_used(), UsageStore(stored(), HALF_LIFE)
    assert store.due(NOW) == {}
    assert store.due(NOW + READ_SECONDS / 2) is None
    assert written(store, cluster, NOW) == []
    assert written(store, cluster, NOW + WRITE_SECONDS / 2) == []
    (write,) = written(store, cluster, NOW + WRITE_SECONDS)
    assert write.target == STORE
    assert written(store, cluster, NOW + WRITE_SECONDS + 1) == []


def test_the_next_process_goes_on_with_the_record() -> None:
    cluster, before = half_used(), UsageStore(stored(), HALF_LIFE)
    written(before, cluster, NOW)
    (write,) = written(before, cluster, NOW + HALF_LIFE)
    after = UsageStore(stored(write.body["data"][FIELD]), HALF_LIFE)
    used = after.due(NOW + HALF_LIFE)
    assert used is not None
    assert used["q"][2] == pytest.approx(0.5)
    idle = Cluster()
    idle.node("n", 8)
    written(after, idle, NOW + HALF_LIFE)
    later = after.due(NOW + 2 * HALF_LIFE)
    assert later is not None
    # half a week's weight of use against that and a whole week of capacity: 0.5 * 0.25 / (0.25 + 0.5)
    assert later["q"][2] == pytest.approx(1 / 6)


def test_a_record_that_cannot_be_read_is_named_and_begun_anew(caplog: pytest.LogCaptureFixture) -> None:
    store = UsageStore(stored('{"at": "yesterday"}'), HALF_LIFE)
    with caplog.at_level(logging.WARNING):
        assert store.due(NOW) == {}
    assert "ConfigMap quorate-system/quorate-usage: usage.json: Expected `float`, got `str`" in caplog.text
    assert "starting anew" in caplog.text
