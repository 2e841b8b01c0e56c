"""The grouper's adapter: owners come from a scripted server, everything else is put into the caches by hand."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from quorate.api import labels
from quorate.api.core import CONFIG_MAP, POD, PRIORITY_CLASS, ConfigMap, Pod, PriorityClass
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupStatus
from quorate.controllers.contexts import Contexts
from quorate.controllers.empty import PATIENCE_SECONDS
from quorate.controllers.grouper import Grouper
from quorate.controllers.runtime import Step
from quorate.grouping.subject import Settings
from quorate.kube.caches import Caches
from quorate.kube.outcome import Outcome, Result, Written
from quorate.kube.resources import Scope
from quorate.plan import Apply, Emit, Patch, Ref
from tests.fakes.api_server import Reply, ScriptedServer, scripted_client, status

BATCH = "/apis/batch/v1"
JOB = f"{BATCH}/namespaces/default/jobs/j"
JOBS: Json = {"resources": [{"name": "jobs", "kind": "Job", "namespaced": True}]}
JOB_BODY: Json = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "namespace": "default", "uid": "job"},
    "spec": {},
}


DEFAULTS = Ref(kind=CONFIG_MAP, namespace="default", name="kinds")


class Stage:
    def __init__(self, server: ScriptedServer, caches: Caches, grouper: Grouper) -> None:
        self.server = server
        self.grouper = grouper
        self.pods = caches.of(Scope(kind=POD), Pod)
        self.groups = caches.of(Scope(kind=POD_GROUP), PodGroup)
        self.maps = caches.of(
            Scope(kind=CONFIG_MAP, namespace="default", fields="metadata.name=kinds"), ConfigMap
        )
        caches.of(Scope(kind=PRIORITY_CLASS), PriorityClass).put(
            msgspec.convert({"metadata": {"name": "train"}, "value": 50}, PriorityClass)
        )

    def pod(self, name: str, **spec: Any) -> None:
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "job", "controller": True}
        meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "ownerReferences": [owner]}
        body = {"metadata": meta, "spec": {"schedulerName": "quorate"} | spec}
        self.pods.put(msgspec.convert(body, Pod))

    async def step(self) -> Step:
        key = await self.grouper.keys.take()
        step = await self.grouper.reconcile(key)
        self.grouper.keys.done(key)
        return step


def on_stage(test: Callable[[Stage], Awaitable[None]]) -> None:
    async def check() -> None:
        async with scripted_client(attempts=1) as (server, client):
            caches = Caches(client)
            server.on("GET", BATCH, Reply(body=JOBS))
            await test(Stage(server, caches, Grouper(caches, Contexts(client, caches, Settings(), DEFAULTS))))

    asyncio.run(check())


def test_the_pods_of_a_job_are_one_gang_and_one_step() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        stage.pod("b")
        changes = (await stage.step()).plan.changes
        assert [type(change) for change in changes] == [Apply, Patch, Patch]
        assert len(stage.grouper.keys) == 0

    on_stage(check)


def test_a_second_pass_over_what_was_written_writes_nothing() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        (apply, patch) = (await stage.step()).plan.changes
        assert isinstance(apply, Apply)
        assert isinstance(patch, Patch)
        found = stage.pods.get("default", "a")
        assert found
        labelled = msgspec.structs.replace(found.metadata, annotations=patch.body["metadata"]["annotations"])
        stage.pods.put(msgspec.structs.replace(found, metadata=labelled))
        stage.groups.put(msgspec.convert(apply.body, PodGroup))
        assert not (await stage.step()).plan

    on_stage(check)


def test_binding_and_running_are_no_news() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        await stage.step()
        found = stage.pods.get("default", "a")
        assert found
        bound = msgspec.structs.replace(found.spec, node_name="n1")
        stage.pods.put(msgspec.structs.replace(found, spec=bound))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stage.step(), 0.1)

    on_stage(check)


def test_a_status_is_no_news_but_what_others_changed_in_a_gang_is() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        apply = (await stage.step()).plan.changes[0]
        assert isinstance(apply, Apply)
        made = msgspec.convert(apply.body, PodGroup)
        stage.groups.put(made)
        await stage.step()
        shown = msgspec.structs.replace(made, status=PodGroupStatus(phase="Running"))
        stage.groups.put(shown)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stage.step(), 0.1)
        spec = msgspec.structs.replace(made.spec, min_member=7)
        stage.groups.put(msgspec.structs.replace(shown, spec=spec))
        assert stage.groups.get("default", apply.target.name)
        (back, *_) = (await stage.step()).plan.changes
        assert isinstance(back, Patch)
        assert back.body["spec"] == {"minMember": apply.body["spec"]["minMember"]}

    on_stage(check)


def test_a_leader_that_has_its_node_is_news() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        found = stage.pods.get("default", "a")
        assert found
        leads = msgspec.structs.replace(found.metadata, labels={labels.LWS_WORKER_INDEX: "0"})
        stage.pods.put(msgspec.structs.replace(found, metadata=leads))
        await stage.step()
        bound = msgspec.structs.replace(found.spec, node_name="n1")
        stage.pods.put(msgspec.structs.replace(found, metadata=leads, spec=bound))
        await asyncio.wait_for(stage.step(), 5)

    on_stage(check)


def test_an_owner_that_may_not_be_read_is_named_in_an_event() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(403, status(403, "Forbidden", "jobs is forbidden")))
        stage.pod("a")
        changes = (await stage.step()).plan.changes
        (event,) = [change for change in changes if isinstance(change, Emit)]
        assert "owner Job j may not be read" in event.message

    on_stage(check)


def test_an_owner_that_does_not_exist_is_looked_for_again() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(404, status(404, "NotFound")))
        stage.pod("a")
        step = await stage.step()
        assert [type(change) for change in step.plan.changes] == [Emit]
        assert step.again_seconds is not None

    on_stage(check)


def test_a_podgroup_that_the_server_refuses_is_told_on_the_pod_until_it_is_taken() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        step = await stage.step()
        assert step.after is not None
        apply = step.plan.changes[0]
        step.after(Result((Written(apply, Outcome.REFUSED, "spec.queue: Too long"),)))
        stage.grouper.keys.add("job")
        step = await stage.step()
        (told,) = (change for change in step.plan.changes if isinstance(change, Emit))
        assert (told.about.name, told.message.endswith("is refused: spec.queue: Too long")) == ("a", True)
        assert step.after is not None
        step.after(Result((Written(apply, Outcome.DONE),)))
        stage.grouper.keys.add("job")
        assert not any(isinstance(change, Emit) for change in (await stage.step()).plan.changes)

    on_stage(check)


def test_pods_of_other_schedulers_are_not_even_asked_about() -> None:
    async def check(stage: Stage) -> None:
        stage.pod("a", schedulerName="default-scheduler")
        assert len(stage.grouper.keys) == 0
        assert stage.server.seen == []

    on_stage(check)


def test_a_deleted_gang_is_made_again() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        apply = (await stage.step()).plan.changes[0]
        assert isinstance(apply, Apply)
        stage.groups.put(msgspec.convert(apply.body, PodGroup))
        await stage.step()
        stage.groups.drop(("default", apply.target.name))
        assert isinstance((await stage.step()).plan.changes[0], Apply)

    on_stage(check)


def test_changed_defaults_of_a_kind_take_effect_without_a_pod_event() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        (before, *_) = (await stage.step()).plan.changes
        text = '[{"typeName": "Job", "group": "batch", "preemptibility": "non-preemptible"}]'
        found = {"metadata": {"name": "kinds", "namespace": "default"}, "data": {"types": text}}
        stage.maps.put(msgspec.convert(found, ConfigMap))
        (after, *_) = (await stage.step()).plan.changes
        assert isinstance(before, Apply)
        assert isinstance(after, Apply)
        assert "preemptibility" not in before.body["spec"]
        assert after.body["spec"]["preemptibility"] == "non-preemptible"

    on_stage(check)


def test_a_gang_without_pods_is_looked_at_again_before_it_goes() -> None:
    async def check(stage: Stage) -> None:
        stage.server.on("GET", JOB, Reply(body=JOB_BODY))
        stage.pod("a")
        apply = (await stage.step()).plan.changes[0]
        assert isinstance(apply, Apply)
        stage.groups.put(msgspec.convert(apply.body, PodGroup))
        assert (await stage.step()).again_seconds is None
        stage.pods.drop(("default", "a"))
        step = await stage.step()
        assert (step.plan.changes, step.again_seconds) == ((), PATIENCE_SECONDS)

    on_stage(check)
