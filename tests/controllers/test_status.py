"""The status controller's adapter: what makes which status dirty."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from quorate.api import timestamps
from quorate.api.core import POD, PRIORITY_CLASS, Pod, PriorityClass
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.controllers import status
from quorate.controllers.granted import Granted
from quorate.controllers.status import Status, Subject
from quorate.kube.caches import Caches
from quorate.kube.resources import Scope
from quorate.plan import SetStatus
from tests.fakes.api_server import scripted_client
from tests.fakes.fleet import queue


class Stage:
    def __init__(self, caches: Caches) -> None:
        self.granted = Granted()
        self.status = Status(caches, self.granted)
        self.queues = caches.of(Scope(kind=QUEUE), Queue)
        self.pods = caches.of(Scope(kind=POD), Pod)
        self.groups = caches.of(Scope(kind=POD_GROUP), PodGroup)
        self.classes = caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass)

    async def written(self, wanted: Subject) -> list[SetStatus]:
        """The changes of the next step on this subject."""
        while True:
            key = await self.status.keys.take()
            step = await self.status.reconcile(key)
            self.status.keys.done(key)
            if key == wanted:
                return [change for change in step.plan.changes if isinstance(change, SetStatus)]


def on_stage(test: Callable[[Stage], Awaitable[None]]) -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (_, client):
            await test(Stage(Caches(client)))

    asyncio.run(check())


def test_a_queue_shows_what_fairness_granted_it() -> None:
    async def check(stage: Stage) -> None:
        stage.queues.put(msgspec.convert(queue("research"), Queue))
        stage.granted.say({"research": {"cpu": 1500, "memory": 4096 * 1000, "nvidia.com/gpu": 8000}})
        (change,) = await stage.written(Subject(QUEUE))
        assert change.status["fairShare"] == {"cpu": "1500m", "memory": "4Ki", "nvidia.com/gpu": "8"}

    on_stage(check)


def test_pods_are_told_after_a_moment_and_those_of_other_schedulers_never() -> None:
    async def check(stage: Stage) -> None:
        refused = {"type": "UnschedulableOnNodePool", "status": "True", "message": "no room"}

        def gang(seconds_ago: float) -> PodGroup:
            since = {**refused, "lastTransitionTime": timestamps.text(time.time() - seconds_ago)}
            meta = {"name": "g", "namespace": "team"}
            return msgspec.convert({"metadata": meta, "status": {"schedulingConditions": [since]}}, PodGroup)

        for name, scheduler in (("ours", "quorate"), ("other", "default-scheduler")):
            meta = {"name": name, "namespace": "team", "annotations": {"pod-group-name": "g"}}
            stage.pods.put(msgspec.convert({"metadata": meta, "spec": {"schedulerName": scheduler}}, Pod))
        subject = Subject(POD_GROUP, "team", "g")
        stage.groups.put(gang(0))
        assert [one.target.kind for one in await stage.written(subject)] == [POD_GROUP]
        stage.groups.put(gang(60))
        told = [one for one in await stage.written(subject) if one.target.kind is POD]
        assert [one.target.name for one in told] == ["ours"]
        assert told[0].status["conditions"][0]["message"] == "no room"

    on_stage(check)


def test_pods_of_a_gang_that_never_comes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(stage: Stage) -> None:
        meta = {"name": "p", "namespace": "team", "annotations": {"pod-group-name": "typo"}}
        stage.pods.put(msgspec.convert({"metadata": meta, "spec": {"schedulerName": "quorate"}}, Pod))
        (told,) = await stage.written(Subject(POD_GROUP, "team", "typo"))
        assert "PodGroup team/typo does not exist" in told.status["conditions"][0]["message"]

    monkeypatch.setattr(status, "MISSING_SECONDS", 0.01)
    on_stage(check)


def test_a_changed_priority_class_changes_who_is_preemptible() -> None:
    async def check(stage: Stage) -> None:
        group = {"metadata": {"name": "g", "namespace": "team"}, "spec": {"priorityClassName": "mine"}}
        stage.groups.put(msgspec.convert(group, PodGroup))
        subject = Subject(POD_GROUP, "team", "g")
        (before,) = await stage.written(subject)
        made = {"metadata": {"name": "mine"}, "value": 200}
        stage.classes.put(msgspec.convert(made, PriorityClass))
        (after,) = await stage.written(subject)
        assert before.status["preemptibility"]["value"] == "preemptible"
        assert after.status["preemptibility"] == {"value": "non-preemptible", "source": "priority 200"}

    on_stage(check)
