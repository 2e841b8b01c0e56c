"""Pods at admission: from the caches alone, and on a cluster whose API server asks us."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quorate.api.core import POD, Pod
from quorate.api.labels import (
    LWS_GROUP_INDEX,
    LWS_WORKER_INDEX,
    MIN_GROUPS,
    POD_GROUP_NAME,
    SEGMENT_SIZE,
    SUB_GROUP_NAME,
)
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json, Kind, Object
from quorate.api.podgroup import POD_GROUP
from quorate.cli import hooks
from quorate.controllers import app
from quorate.controllers.contexts import Contexts
from quorate.controllers.newcomers import Newcomers
from quorate.grouping.newcomers import membership
from quorate.grouping.subject import Settings
from quorate.kube.caches import Caches
from quorate.kube.resources import Scope
from quorate.kube.webhook import AdmissionRequest
from quorate.plan import Create, Ref
from tests.fakes.api_server import Reply, ScriptedServer, scripted_client
from tests.fakes.eventually import eventually
from tests.fakes.fleet import Fleet, fleet, job
from tests.fakes.grouped import context, pod, thing

API = "/apis/example.com/v1"
FOOS: Json = {"resources": [{"name": "foos", "kind": "Foo", "namespaced": True}]}
FOO = Kind("example.com", "v1", "Foo", "foos")
META: Json = {"name": "f", "namespace": "default", "uid": "foo", "resourceVersion": "1", "generation": 1}
BODY: Json = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": META, "spec": {}}
GANG = {POD_GROUP_NAME: "pg-f-foo"}


def creation(body: Json, namespace: str) -> AdmissionRequest:
    kind = {"version": "v1", "kind": "Pod"}
    asked = {"uid": "u", "operation": "CREATE", "namespace": namespace, "kind": kind, "object": body}
    return msgspec.convert(asked, AdmissionRequest)


@dataclass
class Stage:
    server: ScriptedServer
    caches: Caches
    contexts: Contexts

    def asked(self, **metadata: Any) -> list[Json]:
        """What is done to a new pod of the Foo."""
        owner = {
            "apiVersion": "example.com/v1",
            "kind": "Foo",
            "name": "f",
            "uid": "foo",
            "controller": True,
        }
        body = {"metadata": {"generateName": "f-", "ownerReferences": [owner], **metadata}}
        asked = creation({**body, "spec": {"schedulerName": "quorate"}}, "default")
        return list(Newcomers(self.caches, self.contexts).patch(asked))

    async def read(self) -> None:
        """As the grouper reads the owner of a pod."""
        await self.contexts.owners.find("example.com/v1", "Foo", "default", "f")

    def watched(self, **metadata: Any) -> None:
        foos = self.caches.of(Scope(kind=FOO, metadata_only=True), Object)
        foos.put(msgspec.convert({"metadata": META | metadata}, Object))


def on_stage(test: Callable[[Stage], Any]) -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            caches = Caches(client)
            server.on("GET", API, Reply(body=FOOS))
            server.on("GET", f"{API}/namespaces/default/foos/f", Reply(body=BODY))
            await test(Stage(server, caches, Contexts(client, caches, Settings())))

    asyncio.run(check())


def test_what_is_not_known_is_left_to_the_grouper_and_not_asked_for() -> None:
    async def check(stage: Stage) -> None:
        assert stage.asked() == []
        assert stage.server.seen == []

    on_stage(check)


def test_an_owner_that_was_read_names_the_gang() -> None:
    async def check(stage: Stage) -> None:
        await stage.read()
        assert stage.asked() == [{"op": "add", "path": "/metadata/annotations", "value": GANG}]
        assert stage.asked(annotations={"a": "b"}) == [
            {"op": "add", "path": "/metadata/annotations/pod-group-name", "value": "pg-f-foo"}
        ]
        assert stage.asked(annotations=GANG, labels={"kai.scheduler/subgroup-name": "old"}) == [
            {"op": "remove", "path": "/metadata/labels/kai.scheduler~1subgroup-name"}
        ]

    on_stage(check)


def test_the_metadata_that_a_watch_shows_is_enough_where_nothing_else_is_read() -> None:
    async def check(stage: Stage) -> None:
        await stage.read()
        stage.watched()
        stage.watched(generation=2)  # what was read is old now
        assert stage.asked() == [{"op": "add", "path": "/metadata/annotations", "value": GANG}]
        stage.watched(generation=3, annotations={"kai.scheduler/skip-podgrouper": "true"})
        assert stage.asked() == []

    on_stage(check)


def test_a_kind_whose_watch_does_not_work_is_not_relied_on() -> None:
    async def check(stage: Stage) -> None:
        await stage.read()
        stage.watched()
        for scope in (Scope(kind=FOO, metadata_only=True), Scope(kind=POD_GROUP)):
            cache = stage.caches.of(scope, Object)
            cache.problem = "forbidden"
            assert stage.asked() == []
            cache.problem = ""
        assert stage.asked()

    on_stage(check)


@pytest.mark.parametrize(
    "group",
    [
        {"size": 1},
        {"size": 5},
        {"size": 5, "subGroupPolicy": {"subGroupSize": 2}},
        {"size": 5, "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}},
        {"size": 4, "workerTemplate": {"metadata": {"annotations": {SEGMENT_SIZE: "2"}}}},
    ],
)
@pytest.mark.parametrize("annotations", [{}, {MIN_GROUPS: "1"}])
def test_a_set_that_is_watched_whole_says_the_same_as_one_that_was_read(
    group: Json, annotations: Json
) -> None:
    owner = thing(
        LEADER_WORKER_SET.api_version,
        LEADER_WORKER_SET.kind,
        "web",
        annotations=annotations,
        spec={"replicas": 2, "leaderWorkerTemplate": group},
    )

    async def check(stage: Stage) -> None:
        newcomers = Newcomers(stage.caches, stage.contexts)
        stage.caches.of(Scope(kind=LEADER_WORKER_SET), LeaderWorkerSet).put(
            msgspec.convert(owner, LeaderWorkerSet)
        )
        for worker in range(group["size"]):
            given = pod(f"web-1-{worker}", owner)
            given.metadata.labels = {LWS_GROUP_INDEX: "1", LWS_WORKER_INDEX: str(worker)}
            expected = membership(given, context(owner), lambda *_: None)
            asked = creation(msgspec.to_builtins(given), given.metadata.namespace)
            gang, place = newcomers.patch(asked)
            assert gang["value"] == expected["annotations"]
            assert {SUB_GROUP_NAME: place["value"]} == expected["labels"]

    on_stage(check)


@dataclass
class Seen:
    """The gangs that pods named in their first watch event."""

    gangs: dict[str, str] = field(default_factory=dict)

    def __call__(self, old: Pod | None, new: Pod | None) -> None:
        if old is None and new is not None:
            self.gangs[new.metadata.name] = new.metadata.annotation(POD_GROUP_NAME)

    def of(self, prefix: str) -> list[str]:
        return [gang for name, gang in self.gangs.items() if name.startswith(prefix)]


async def bound(found: Fleet, name: str, size: int) -> None:
    await found.create(job(name, size, gpus=1, minimum=size))
    await eventually(lambda: found.bound(f"{name}-") == size)


def test_pods_have_their_gang_when_they_are_first_seen_and_the_grouper_writes_none(tmp_path: Path) -> None:
    async def check() -> None:
        async with fleet(tmp_path, "4x8gpu") as found:
            settings = app.Settings(webhook=hooks.webhook(tmp_path / "kubeconfig"))
            seen = Seen()
            found.pods.subscribe(seen)
            await hooks.install(found.connection, settings)
            async with found.controlled(settings):
                await bound(found, "first", 2)  # so that Jobs are watched
                before = found.requests()
                await bound(found, "then", 8)
                written = found.requests()
            (name,) = {one.metadata.name for one in found.groups if "-then-" in one.metadata.name}
            assert seen.of("then-") == [name] * 8
            assert written.get(("patch", "pods"), 0) == before.get(("patch", "pods"), 0)

    asyncio.run(check())


def test_while_nobody_serves_the_webhook_pods_are_created_and_grouped_afterwards(tmp_path: Path) -> None:
    async def check() -> None:
        async with fleet(tmp_path, "4x8gpu") as found:
            seen = Seen()
            found.pods.subscribe(seen)
            await hooks.install(
                found.connection, app.Settings(webhook=hooks.webhook(tmp_path / "kubeconfig"))
            )
            await found.create(ours_alone())
            async with found.controlled(app.Settings(only=("grouper",))):
                await found.create(job("down", 4, gpus=1, minimum=4))
                await eventually(lambda: len(found.pods) == 5 and all(map(is_labelled, found.pods)))
            assert seen.of("down-") == [""] * 4

    asyncio.run(check())


def ours_alone() -> Create:
    body: Json = {"spec": {"schedulerName": "quorate", "containers": [{"name": "main", "image": "busybox"}]}}
    return Create(Ref(kind=POD, name="alone", namespace="default"), body)


def is_labelled(pod: Pod) -> bool:
    return bool(pod.metadata.annotation(POD_GROUP_NAME))
