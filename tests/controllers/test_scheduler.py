"""The scheduler's adapter over caches that are filled by hand: what it assumes, forgets, holds back and says."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from quorate.api import labels, timestamps
from quorate.api.core import NODE, POD, PRIORITY_CLASS, Node, Pod, PriorityClass
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.controllers.holds import Holds
from quorate.controllers.scheduler import Scheduler
from quorate.controllers.window import Window
from quorate.kube.auth import Connection, FixedCredentials
from quorate.kube.backoff import Backoff
from quorate.kube.caches import Caches
from quorate.kube.client import Client
from quorate.kube.outcome import Outcome, Result, Written
from quorate.kube.resources import Scope
from quorate.plan import Bind, Change, Emit, Evict, SetStatus
from quorate.scheduling.policy import Policy

UNLIMITED: Json = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
QUEUE_TREE: Json = {
    "metadata": {"name": "q"},
    "spec": {"resources": {"cpu": UNLIMITED, "memory": UNLIMITED, "gpu": UNLIMITED}},
}
NOBODY = Connection("http://127.0.0.1:9", FixedCredentials())


class Stage:
    def __init__(self, client: Client) -> None:
        caches = Caches(client)
        self.scheduler = Scheduler(
            caches, scheduler_name="quorate", policy=Policy(), window=Window(idle=0, cap=0)
        )
        self.pods = caches.of(Scope(kind=POD), Pod)
        self.groups = caches.of(Scope(kind=POD_GROUP), PodGroup)
        caches.of(Scope(kind=NODE), Node).put(made(node("n1", gpus=8), Node))
        caches.of(Scope(kind=QUEUE), Queue).put(made(QUEUE_TREE, Queue))
        high = {"metadata": {"name": "high"}, "value": 75}
        caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass).put(made(high, PriorityClass))

    def gang(self, name: str, size: int, gpus: int, *, priority: str = "") -> None:
        spec = {"minMember": size, "queue": "q", "priorityClassName": priority}
        self.groups.put(made({"metadata": meta(name), "spec": spec}, PodGroup))
        for number in range(size):
            self.pods.put(made(pod(f"{name}-{number}", name, gpus), Pod))

    def foreign(self, name: str, gpus: int) -> None:
        """A pod of another scheduler takes room on the node."""
        tree = pod(name, "", gpus)
        tree["spec"] |= {"schedulerName": "other", "nodeName": "n1"}
        tree["metadata"] = meta(name)
        self.pods.put(made(tree, Pod))

    async def cycle(self) -> tuple[tuple[Change, ...], Callable[[Result], float | None]]:
        step = await self.scheduler.reconcile("cycle")
        assert step.after is not None
        return step.plan.changes, step.after

    def nodes(self) -> list[str]:
        return [found.spec.node_name for found in self.pods]


def made(tree: Json, shape: Any) -> Any:
    return msgspec.convert(tree, shape)


def meta(name: str) -> Json:
    return {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "resourceVersion": "5",
        "generation": 1,
    }


def node(name: str, *, gpus: int) -> Json:
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
    return {"metadata": {"name": name, "resourceVersion": "1"}, "status": {"allocatable": amounts}}


def pod(name: str, gang: str, gpus: int) -> Json:
    container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}
    spec = {"schedulerName": "quorate", "containers": [container]}
    return {
        "metadata": meta(name) | {"annotations": {"pod-group-name": gang}},
        "spec": spec,
        "status": {"phase": "Pending"},
    }


def on_stage(test: Callable[[Stage], Awaitable[None]]) -> None:
    async def check() -> None:
        async with Client(NOBODY) as client:
            await test(Stage(client))

    asyncio.run(check())


def binds(changes: tuple[Change, ...]) -> list[Bind]:
    return [change for change in changes if isinstance(change, Bind)]


def failed(changes: tuple[Change, ...], outcome: Outcome = Outcome.FAILED) -> Result:
    return Result(tuple(Written(change, outcome, "no answer") for change in changes))


def test_binds_are_assumed_so_that_the_next_cycle_does_not_repeat_them() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("g", 2, gpus=4)
        changes, _ = await stage.cycle()
        assert [bind.node for bind in binds(changes)] == ["n1", "n1"]
        assert stage.nodes() == ["n1", "n1"]
        assert binds((await stage.cycle())[0]) == []

    on_stage(check)


def test_a_failed_bind_is_forgotten_and_its_gang_waits_with_a_reason() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("g", 2, gpus=4)
        changes, after = await stage.cycle()
        again = after(failed(changes))
        assert again is not None
        assert 0 < again <= 0.5
        assert stage.nodes() == ["", ""]
        changes, _ = await stage.cycle()
        assert binds(changes) == []
        (status,) = [change for change in changes if isinstance(change, SetStatus)]
        (condition,) = status.status["schedulingConditions"]
        assert condition["reason"] == "BackOff"
        assert "bind of g-0 to n1: failed: no answer" in condition["message"]

    on_stage(check)


def test_a_gang_whose_binds_fail_half_way_is_completed() -> None:
    async def check(stage: Stage) -> None:
        stage.scheduler._holds = Holds(Backoff(base=0.0, cap=0.0))  # noqa: SLF001  no wait
        stage.gang("g", 4, gpus=2)
        changes, after = await stage.cycle()
        first, second, *lost = binds(changes)
        done = (Written(first, Outcome.DONE), Written(second, Outcome.DONE))
        after(Result((*done, *failed(tuple(lost)).written)))
        assert sorted(stage.nodes()) == ["", "", "n1", "n1"]
        changes, _ = await stage.cycle()
        assert [bind.pod.name for bind in binds(changes)] == [bind.pod.name for bind in lost]
        assert stage.nodes() == ["n1"] * 4

    on_stage(check)


def test_what_is_left_of_a_gang_that_cannot_be_completed_is_released() -> None:
    async def check(stage: Stage) -> None:
        stage.scheduler._holds = Holds(Backoff(base=0.0, cap=0.0))  # noqa: SLF001  no wait
        stage.gang("g", 4, gpus=2)
        changes, after = await stage.cycle()
        first, *lost = binds(changes)
        after(Result((Written(first, Outcome.DONE), *failed(tuple(lost)).written)))
        stage.foreign("intruder", gpus=6)
        found = stage.groups.get("default", "g")
        assert found
        marked = {labels.STALE_SINCE: timestamps.text(time.time() - 100)}
        metadata = msgspec.structs.replace(found.metadata, annotations=marked)
        stage.groups.put(msgspec.structs.replace(found, metadata=metadata))
        changes, _ = await stage.cycle()
        assert [change.pod.name for change in changes if isinstance(change, Evict)] == [first.pod.name]

    on_stage(check)


def test_who_is_guarded_by_a_budget_is_left_alone_and_the_gang_that_waits_for_it_says_so() -> None:
    async def check(stage: Stage) -> None:
        for name in ("a", "b"):
            stage.gang(name, 1, gpus=4)
        await stage.cycle()
        for seated in list(stage.pods):
            stage.pods.put(seated)
        stage.gang("taker", 1, gpus=4, priority="high")
        tried = []
        for _ in range(2):
            changes, after = await stage.cycle()
            (eviction,) = [change for change in changes if isinstance(change, Evict)]
            tried.append(eviction.pod.name)
            assert after(failed((eviction,), Outcome.REFUSED_BY_BUDGET)) == 0.2
        assert sorted(tried) == ["a-0", "b-0"]
        changes, _ = await stage.cycle()
        assert not any(isinstance(change, Evict) for change in changes)
        (status,) = [change for change in changes if isinstance(change, SetStatus)]
        (condition,) = status.status["schedulingConditions"]
        assert condition["message"].endswith(f"default/{tried[-1]} could make room, but: no answer")

    on_stage(check)


def test_a_conflict_is_planned_again_at_once_without_a_word() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("g", 2, gpus=4)
        changes, after = await stage.cycle()
        assert after(failed(changes, Outcome.CONFLICT)) == 0.2
        changes, _ = await stage.cycle()
        assert len(binds(changes)) == 2
        assert not any(isinstance(change, Emit) for change in changes)

    on_stage(check)


def test_a_seat_is_not_given_away_while_its_bind_may_have_happened() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("a", 2, gpus=4)
        changes, after = await stage.cycle()
        after(failed(changes, Outcome.UNKNOWN))
        assert stage.nodes() == ["n1", "n1"]
        stage.gang("b", 2, gpus=4)
        assert binds((await stage.cycle())[0]) == []

    on_stage(check)


def test_a_gang_that_waits_does_not_keep_its_seats_from_others() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("a", 2, gpus=4)
        changes, after = await stage.cycle()
        after(failed(changes))
        stage.gang("b", 2, gpus=4)
        changes, _ = await stage.cycle()
        assert {bind.pod.name for bind in binds(changes)} == {"b-0", "b-1"}

    on_stage(check)


def test_a_gang_that_does_not_fit_says_so_once() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("g", 3, gpus=4)
        changes, _ = await stage.cycle()
        assert binds(changes) == []
        (status,) = [change for change in changes if isinstance(change, SetStatus)]
        (event,) = [change for change in changes if isinstance(change, Emit)]
        assert "2 pods while 3 are required" in event.message
        found = stage.groups.get("default", "g")
        assert found
        shown = msgspec.convert(status.status, type(found.status))
        stage.groups.put(msgspec.structs.replace(found, status=shown))
        changes, _ = await stage.cycle()
        assert changes == ()

    on_stage(check)


def test_what_a_gang_could_not_be_told_is_told_by_a_later_cycle_though_nothing_changes() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("g", 3, gpus=4)
        (told, *_), _ = await stage.cycle()
        found = stage.groups.get("default", "g")
        assert isinstance(told, SetStatus)
        assert found
        shown = msgspec.convert(told.status, type(found.status))
        stage.groups.put(msgspec.structs.replace(found, status=shown))
        for waiting in list(stage.pods):
            bound = msgspec.structs.replace(waiting.spec, node_name="n1")
            stage.pods.put(msgspec.structs.replace(waiting, spec=bound))
        changes, after = await stage.cycle()
        assert [type(change) for change in changes] == [SetStatus]
        assert after(failed(changes, Outcome.UNKNOWN)) is not None

    on_stage(check)


def test_the_status_of_a_gang_alone_starts_no_cycle() -> None:
    async def check(stage: Stage) -> None:
        stage.gang("g", 1, gpus=1)
        await stage.scheduler.keys.take()
        stage.scheduler.keys.done("cycle")
        found = stage.groups.get("default", "g")
        assert found
        stage.groups.put(
            msgspec.structs.replace(found, status=msgspec.convert({"phase": "Running"}, type(found.status)))
        )
        assert len(stage.scheduler.keys) == 0

    on_stage(check)


def test_holds_grow_with_each_failure_and_end_with_success() -> None:
    holds = Holds(Backoff(base=1.0, cap=60.0))
    gang = ("default", "g")
    holds.fail(gang, "no answer", now=0.0)
    holds.fail(gang, "no answer", now=0.1)
    assert holds.next_end(0.1) == 0.9
    holds.fail(gang, "no answer", now=1.0)
    assert holds.next_end(1.0) == 2.0
    holds.succeed(gang)
    assert holds.next_end(1.0) is None
