import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from quorate.api.core import NODE
from quorate.api.meta import Json, Kind
from quorate.api.podgroup import POD_GROUP
from quorate.api.queue import QUEUE, Queue
from quorate.controllers import app
from quorate.controllers.admission import CONFIGURATIONS, Judge, Webhook, complete
from quorate.kube.auth import Connection, FixedCredentials
from quorate.kube.caches import Caches
from quorate.kube.certificates import Files
from quorate.kube.client import Client
from quorate.kube.outcome import Outcome
from quorate.kube.resources import Scope
from quorate.kube.webhook import AdmissionRequest, Verdict
from quorate.plan import Create, Plan, Ref
from tests.fakes.eventually import eventually
from tests.fakes.fleet import fleet, queue

Asking = Callable[[Judge, AdmissionRequest], Verdict]


def judged(
    kind: Kind, operation: str = "CREATE", *, asking: Asking = Judge.__call__, **objects: Json
) -> Verdict:
    """By a process that knows one queue with a child."""

    async def check() -> Verdict:
        async with Client(Connection("http://127.0.0.1:9", FixedCredentials())) as client:
            caches = Caches(client)
            judge = Judge(caches)
            known = caches.of(Scope(kind=QUEUE), Queue)
            known.put(msgspec.convert(queue("parent"), Queue))
            child = queue("child")
            child["spec"]["parentQueue"] = "parent"
            known.put(msgspec.convert(child, Queue))
            asked: dict[str, Any] = {
                "uid": "u",
                "kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
                "resource": {"resource": kind.plural},
                "operation": operation,
            }
            return asking(judge, msgspec.convert(asked | objects, AdmissionRequest))

    return asyncio.run(check())


def test_an_object_that_cannot_work_is_refused_at_its_field() -> None:
    groups = [{"name": "a", "parent": "b", "minMember": 1}, {"name": "b", "parent": "a"}]
    body = {"metadata": {"name": "g", "namespace": "default"}, "spec": {"subGroups": groups}}
    verdict = judged(POD_GROUP, object=body)
    assert verdict.errors
    assert verdict.errors[0].field.startswith("spec.subGroups")


def test_a_gang_is_refused_before_the_schema_refuses_it_in_fewer_words() -> None:
    wrong = {"metadata": {"name": "g"}, "spec": {"subGroups": [{"name": "a"}]}}
    said = [one.message for one in judged(POD_GROUP, asking=complete, object=wrong).errors]
    assert said == ["subgroup a: minMember is required"]
    right = {
        "metadata": {"name": "g"},
        "spec": {"minSubGroup": 2, "subGroups": [{"name": "a", "minMember": 1}]},
    }
    verdict = judged(POD_GROUP, asking=complete, object=right)
    assert (verdict.errors, verdict.warnings, len(verdict.patch)) == ((), (), 1)


def test_a_value_of_the_wrong_type_is_refused_and_not_a_crash() -> None:
    verdict = judged(POD_GROUP, object={"metadata": {"name": "g"}, "spec": {"minMember": "three"}})
    assert [one.field for one in verdict.errors] == ["spec.minMember"]


def test_an_object_that_is_being_deleted_may_lose_its_finalizers_whatever_is_wrong_with_it() -> None:
    meta = {"name": "g", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    assert judged(POD_GROUP, "UPDATE", object={"metadata": meta, "spec": {"minMember": "three"}}) == Verdict()


def test_a_queue_with_children_may_not_go() -> None:
    verdict = judged(QUEUE, "DELETE", oldObject=queue("parent"))
    assert "it has child queues [child]" in verdict.errors[0].message
    assert not judged(QUEUE, "DELETE", oldObject=queue("child")).errors


def test_a_kind_without_rules_is_none_of_our_business() -> None:
    assert judged(NODE, object={"metadata": {"name": "n"}}) == Verdict()


def configuration(port: int) -> Create:
    rule = {
        "apiGroups": [QUEUE.group],
        "apiVersions": ["*"],
        "operations": ["CREATE", "DELETE"],
        "resources": [QUEUE.plural],
    }
    webhook = {
        "name": "validate.quorate.dev",
        "clientConfig": {"url": f"https://localhost:{port}/validate"},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return Create(Ref(kind=CONFIGURATIONS[0], name="quorate"), {"webhooks": [webhook]})


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_the_api_server_trusts_the_webhook_and_obeys_it(tmp_path: Path) -> None:
    async def check() -> None:
        port = free_port()
        webhook = Webhook(Files(tmp_path / "tls"), ("localhost",), "127.0.0.1", port)
        settings = app.Settings(only=("admission",), webhook=webhook)
        async with fleet(tmp_path, "1x8gpu") as found, found.controlled(settings):
            await found.create(configuration(port))
            store = found.cluster.api.store
            plural = CONFIGURATIONS[0].plural

            def trusted() -> bool:
                (shown,) = store.list(CONFIGURATIONS[0].group, plural, None)
                return bool(shown["webhooks"][0]["clientConfig"].get("caBundle"))

            await eventually(trusted)
            bad = queue("bad")
            bad["spec"]["resources"]["gpu"] = {"quota": -0.5, "limit": -1}
            result = await found.writer.write(Plan(changes=(Create(Ref(kind=QUEUE, name="bad"), bad),)))
            assert result.written[0].outcome is Outcome.REFUSED
            assert "spec.resources.gpu.quota: -0.5 is negative" in result.written[0].message
            await found.create(Create(Ref(kind=QUEUE, name="good"), queue("good")))

    asyncio.run(check())
