import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from quorate.api.meta import Json
from quorate.embedded.admissionrequest import Operation, Request
from quorate.embedded.errors import ApiError
from quorate.embedded.options import User
from quorate.embedded.pki import Authority
from quorate.embedded.registry import Registry, Resource, Subresource
from quorate.embedded.store import Key, Store
from quorate.embedded.webhooks import Webhooks

GROUP = "admissionregistration.k8s.io"
BINDING = Subresource("binding", "", "v1", "Binding", ("create",))
PODS = Resource("", "v1", "Pod", "pods", "pod", namespaced=True, subresources=(BINDING,))
OLD_QUEUES = Resource("scheduling.run.ai", "v1", "Queue", "queues", "queue", namespaced=False)
QUEUES = Resource("scheduling.run.ai", "v2", "Queue", "queues", "queue", namespaced=False)
POD_RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}

Reply = Callable[[Json], Json]


def allow(**response: Any) -> Reply:
    return lambda _request: {"allowed": True, **response}


def patch(*operations: Json) -> Reply:
    encoded = base64.b64encode(json.dumps(operations).encode()).decode()
    return allow(patch=encoded, patchType="JSONPatch")


def label(name: str, value: str = "1") -> Json:
    return {"op": "add", "path": f"/metadata/labels/{name}", "value": value}


class World:
    """A store, a TLS server whose paths are webhooks, and what they were asked."""

    def __init__(self, directory: Path) -> None:
        self.authority = Authority(directory)
        self.store = Store()
        self.webhooks = Webhooks(self.store, Registry([PODS, OLD_QUEUES, QUEUES]))
        self.asked: list[tuple[str, Json]] = []
        self.replies: dict[str, Reply] = {}
        self.port = 0
        namespace = {
            "kind": "Namespace",
            "apiVersion": "v1",
            "metadata": {"name": "team", "labels": {"env": "x"}},
        }
        self.store.create(Key("", "namespaces", "", "team"), namespace)

    async def serve(self, http: web.BaseRequest) -> web.Response:
        body = json.loads(await http.read())
        name = http.path.strip("/")
        self.asked.append((name, body["request"]))
        response = {"uid": body["request"]["uid"], **self.replies[name](body["request"])}
        return web.json_response({**body, "request": None, "response": response})

    def add(self, name: str, reply: Reply, *, phase: str = "Validating", **fields: Any) -> None:
        self.replies[name] = reply
        bundle = base64.b64encode(self.authority.pair.certificate_pem).decode()
        client = {"url": f"https://127.0.0.1:{self.port}/{name}", "caBundle": bundle}
        client = fields.pop("client", client)
        hook = {
            "name": f"{name}.example.com",
            "clientConfig": client,
            "rules": [POD_RULE],
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "timeoutSeconds": 2,
            **fields,
        }
        kind = f"{phase}WebhookConfiguration"
        config = {"kind": kind, "apiVersion": f"{GROUP}/v1", "metadata": {"name": name}, "webhooks": [hook]}
        self.store.create(Key(GROUP, f"{phase.lower()}webhookconfigurations", "", name), config)

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.asked]

    async def mutate(self, request: Request) -> Json:
        found = await self.webhooks.mutate(request, lambda _request: None)
        assert found is not None
        return found


@asynccontextmanager
async def serving(directory: Path) -> AsyncIterator[World]:
    world = World(directory)
    runner = web.ServerRunner(web.Server(world.serve))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=world.authority.server_context(["hook.team.svc"]))
    await site.start()
    world.port = runner.addresses[0][1]
    try:
        yield world
    finally:
        await world.webhooks.close()
        await runner.cleanup()


def run(directory: Path, scenario: Callable[[World], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with serving(directory) as world:
            await scenario(world)

    asyncio.run(main())


def creation(operation: Operation = "CREATE", *, dry_run: bool = False, **labels: str) -> Request:
    obj = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": labels}}
    return Request(operation, PODS, "team", "p", obj, user=User("ann", ("g",)), dry_run=dry_run)


async def refused(world: World, request: Request) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await world.webhooks.validate(request)
    return caught.value


def test_a_validating_webhook_sees_the_request(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("a", allow(warnings=["mind the gap"]))
        request = creation()
        await world.webhooks.validate(request)
        [(_, asked)] = world.asked
        assert asked["kind"] == asked["requestKind"] == {"group": "", "version": "v1", "kind": "Pod"}
        assert asked["resource"] == {"group": "", "version": "v1", "resource": "pods"}
        assert (asked["name"], asked["namespace"], asked["operation"]) == ("p", "team", "CREATE")
        assert asked["userInfo"] == {"username": "ann", "groups": ["g"]}
        assert asked["object"] == request.obj
        assert asked["options"] == {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
        assert request.warnings == ["mind the gap"]

    run(tmp_path, scenario)


def test_a_refusal_carries_the_webhooks_words(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        denial = {"code": 403, "message": "too large", "reason": "Forbidden"}
        world.add("a", lambda _: {"allowed": False, "status": denial})
        error = await refused(world, creation())
        assert (error.code, error.reason) == (403, "Forbidden")
        assert str(error) == 'admission webhook "a.example.com" denied the request: too large'
        world.store.delete(Key(GROUP, "validatingwebhookconfigurations", "", "a"))
        world.add("b", lambda _: {"allowed": False})
        error = await refused(world, creation())
        assert error.code == 400
        assert str(error) == 'admission webhook "b.example.com" denied the request without explanation'

    run(tmp_path, scenario)


def test_mutating_webhooks_patch_in_order(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("b", patch(label("order", "b")), phase="Mutating")
        world.add("a", patch(label("order", "a")), phase="Mutating")
        found = await world.mutate(creation())
        assert found["metadata"]["labels"] == {"order": "b"}
        assert world.names == ["a", "b"]

    run(tmp_path, scenario)


def test_a_webhook_is_asked_again_after_a_later_change(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("a", allow(), phase="Mutating", reinvocationPolicy="IfNeeded")
        world.add("b", patch(label("x")), phase="Mutating", reinvocationPolicy="IfNeeded")
        world.add("c", allow(), phase="Mutating")
        await world.mutate(creation())
        assert world.names == ["a", "b", "c", "a"]

    run(tmp_path, scenario)


def test_rules_and_selectors_choose(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("deletes", allow(), rules=[{**POD_RULE, "operations": ["DELETE"]}])
        world.add("bindings", allow(), rules=[{**POD_RULE, "resources": ["pods/binding"]}])
        world.add("cluster", allow(), rules=[{**POD_RULE, "resources": ["*"], "scope": "Cluster"}])
        world.add("labelled", allow(), objectSelector={"matchLabels": {"gang": "yes"}})
        world.add("elsewhere", allow(), namespaceSelector={"matchLabels": {"env": "y"}})
        world.add("here", allow(), namespaceSelector={"matchLabels": {"env": "x"}})
        world.add("all", allow(), rules=[{**POD_RULE, "resources": ["*/*"], "operations": ["*"]}])
        await world.webhooks.validate(creation())
        assert sorted(world.names) == ["all", "here"]
        world.asked.clear()
        await world.webhooks.validate(creation(gang="yes"))
        assert sorted(world.names) == ["all", "here", "labelled"]

    run(tmp_path, scenario)


def test_subresources_show_their_own_kind(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("bindings", allow(), rules=[{**POD_RULE, "resources": ["pods/binding"]}])
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}}
        await world.webhooks.validate(Request("CREATE", PODS, "team", "p", binding, subresource="binding"))
        [(_, asked)] = world.asked
        assert asked["kind"]["kind"] == "Binding"
        assert asked["subResource"] == "binding"

    run(tmp_path, scenario)


def test_an_equivalent_version_is_shown_as_asked_for(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        rule = {"operations": ["*"], "apiGroups": ["scheduling.run.ai"], "resources": ["queues"]}
        world.add("a", allow(), rules=[{**rule, "apiVersions": ["v1"]}])
        world.add("b", allow(), rules=[{**rule, "apiVersions": ["v1"]}], matchPolicy="Exact")
        queue = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"}}
        await world.webhooks.validate(Request("CREATE", QUEUES, "", "q", queue))
        [(name, asked)] = world.asked
        assert name == "a"
        assert asked["object"]["apiVersion"] == "scheduling.run.ai/v1"
        assert (asked["kind"]["version"], asked["requestKind"]["version"]) == ("v1", "v2")

    run(tmp_path, scenario)


def test_match_conditions_choose(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        named = {
            "name": "n",
            "expression": "object.metadata.name == 'p' && request.userInfo.username == 'ann'",
        }
        other = {"name": "n", "expression": "object.metadata.name == 'q'"}
        world.add("yes", allow(), matchConditions=[named])
        world.add("no", allow(), matchConditions=[other])
        await world.webhooks.validate(creation())
        assert world.names == ["yes"]

    run(tmp_path, scenario)


def test_a_condition_that_fails_follows_the_policy(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        broken = {"name": "n", "expression": "object.spec.nothing == 1"}
        world.add("open", allow(), matchConditions=[broken], failurePolicy="Ignore")
        await world.webhooks.validate(creation())
        assert world.names == []
        world.add("closed", allow(), matchConditions=[broken])
        error = await refused(world, creation())
        assert error.code == 403
        assert "expression 'object.spec.nothing == 1' resulted in error" in str(error)

    run(tmp_path, scenario)


def test_a_dry_run_needs_a_harmless_webhook(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("a", allow())
        await world.webhooks.validate(creation(dry_run=True))
        assert world.asked[0][1]["dryRun"]
        world.add("b", allow(), sideEffects="Some")
        error = await refused(world, creation(dry_run=True))
        assert str(error) == 'admission webhook "b.example.com" does not support dry run'

    run(tmp_path, scenario)


def test_a_dead_webhook_follows_the_policy(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        client = {"url": "https://127.0.0.1:1/x"}
        world.add("open", allow(), client=client, failurePolicy="Ignore")
        await world.webhooks.validate(creation())
        world.add("closed", allow(), client=client)
        error = await refused(world, creation())
        assert error.code == 500
        assert str(error) == (
            'Internal error occurred: failed calling webhook "closed.example.com": failed to call webhook: '
            'Post "https://127.0.0.1:1/x?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused'
        )

    run(tmp_path, scenario)


def test_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        other = Authority(tmp_path / "other").pair.certificate_pem
        bundle = base64.b64encode(other).decode()
        client = {"url": f"https://127.0.0.1:{world.port}/a", "caBundle": bundle}
        world.add("a", allow(), client=client)
        assert "tls: failed to verify certificate" in str(await refused(world, creation()))

    run(tmp_path, scenario)


def test_an_answer_to_another_question_is_no_answer(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("a", allow(uid="other"))
        error = await refused(world, creation())
        assert "received invalid webhook response: expected response.uid=" in str(error)

    run(tmp_path, scenario)


def test_a_validating_webhook_may_not_patch(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        world.add("a", patch(label("x")))
        assert "validating webhook may not return response.patch" in str(await refused(world, creation()))

    run(tmp_path, scenario)


def test_a_service_is_reached_where_its_annotation_says(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        bundle = base64.b64encode(world.authority.pair.certificate_pem).decode()
        service = {"name": "hook", "namespace": "team", "path": "/a", "port": 443}
        world.add("a", allow(), client={"service": service, "caBundle": bundle})
        error = await refused(world, creation())
        assert 'Post "https://hook.team.svc:443/a?timeout=2s": no endpoints available' in str(error)
        metadata = {"name": "hook", "annotations": {"quorate.dev/address": f"127.0.0.1:{world.port}"}}
        stored = {"kind": "Service", "apiVersion": "v1", "metadata": metadata, "spec": {}}
        world.store.create(Key("", "services", "team", "hook"), stored)
        await world.webhooks.validate(creation())
        assert world.names == ["a"]

    run(tmp_path, scenario)


def test_configurations_come_and_go(tmp_path: Path) -> None:
    async def scenario(world: World) -> None:
        await world.webhooks.validate(creation())
        world.add("a", allow())
        await world.webhooks.validate(creation())
        world.store.delete(Key(GROUP, "validatingwebhookconfigurations", "", "a"))
        await world.webhooks.validate(creation())
        assert world.names == ["a"]

    run(tmp_path, scenario)
