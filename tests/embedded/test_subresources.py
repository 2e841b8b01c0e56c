import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.errors import ApiError
from quorate.embedded.options import DeleteOptions, Patch, User
from quorate.embedded.target import Target
from tests.fakes.embedded import api_server, authenticator, deployment, pod


def on_pod(test: Callable[[ApiServer, Target], Awaitable[None]], **fields: Any) -> None:
    """Run a test on a server with the pod `a`; fields go into its spec."""

    async def run() -> None:
        api = await api_server()
        resource = api.resource("", "v1", "pods")
        obj = pod("a", labels={"app": "x"})
        obj["spec"] |= fields
        await api.create(resource, "default", obj)
        await test(api, Target(resource, "default", "a"))

    asyncio.run(run())


def binding(node: str = "n1", name: str = "a", **metadata: Any) -> Json:
    target = {"kind": "Node", "name": node}
    return {"kind": "Binding", "apiVersion": "v1", "metadata": {"name": name, **metadata}, "target": target}


def test_a_binding_gives_the_pod_its_node_and_its_metadata() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        await api.bind(target, binding(annotations={"gpu": "0"}, labels={"zone": "z"}))
        bound = api.get(target.resource, "default", "a")
        assert bound["spec"]["nodeName"] == "n1"
        assert bound["metadata"]["annotations"] == {"gpu": "0"}
        assert bound["metadata"]["labels"] == {"app": "x", "zone": "z"}
        condition = bound["status"]["conditions"][0]
        assert (condition["type"], condition["status"]) == ("PodScheduled", "True")

    on_pod(test)


def test_a_bound_pod_is_not_bound_again() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        await api.bind(target, binding())
        with pytest.raises(ApiError) as refused:
            await api.bind(target, binding("n2"))
        assert refused.value.code == 409
        assert str(refused.value) == (
            'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
        )

    on_pod(test)


def test_a_gated_pod_is_not_bound() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        with pytest.raises(ApiError, match=r"pod a has non-empty \.spec\.schedulingGates"):
            await api.bind(target, binding())

    on_pod(test, schedulingGates=[{"name": "g"}])


def test_a_pod_that_goes_is_not_bound() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        whole = api.get(target.resource, "default", "a")
        metadata = {**whole["metadata"], "finalizers": ["example.com/x"]}
        await api.update(target, {**whole, "metadata": metadata})
        await api.delete(target)
        with pytest.raises(ApiError, match="pod a is being deleted, cannot be assigned to a host"):
            await api.bind(target, binding())

    on_pod(test)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (binding(uid="x"), "Precondition failed: UID in precondition: x, UID in object meta: "),
        (binding(resourceVersion="1"), "Precondition failed: ResourceVersion in precondition: 1"),
        (binding(name="b"), "name in URL does not match name in Binding object"),
        (binding(node=""), "target.name: Required value"),
        ({**binding(), "target": {"kind": "Pod", "name": "n"}}, 'target.kind: Unsupported value: "Pod"'),
        ([], "not a Binding object"),
    ],
)
def test_a_binding_that_is_not_meant_for_this_pod_is_refused(given: Any, message: str) -> None:
    async def test(api: ApiServer, target: Target) -> None:
        with pytest.raises(ApiError) as refused:
            await api.bind(target, given)
        assert message in str(refused.value)
        assert "nodeName" not in api.get(target.resource, "default", "a")["spec"]

    on_pod(test)


def eviction(**options: Any) -> Json:
    return {"kind": "Eviction", "metadata": {"name": "a"}, "deleteOptions": options}


async def running(api: ApiServer, target: Target) -> Json:
    await api.bind(target, binding())
    whole = api.get(target.resource, "default", "a")
    ready = {"type": "Ready", "status": "True"}
    status = {**whole["status"], "phase": "Running", "conditions": [ready]}
    return await api.update(target._replace(subresource="status"), {**whole, "status": status})


def test_an_eviction_deletes_with_grace_and_says_why() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        await running(api, target)
        await api.evict(target, eviction(gracePeriodSeconds=7))
        evicted = api.get(target.resource, "default", "a")
        assert evicted["metadata"]["deletionGracePeriodSeconds"] == 7
        reasons = {c["type"]: c.get("reason") for c in evicted["status"]["conditions"]}
        assert reasons["DisruptionTarget"] == "EvictionByEvictionAPI"

    on_pod(test)


def test_an_eviction_waits_for_the_disruption_budget() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        await running(api, target)
        budget = {
            "metadata": {"name": "b"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}},
        }
        whole = {"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", **budget}
        await api.create(api.resource("policy", "v1", "poddisruptionbudgets"), "default", whole)
        with pytest.raises(ApiError, match="disruption budget") as refused:
            await api.evict(target, eviction())
        assert refused.value.code == 429
        assert "deletionTimestamp" not in api.get(target.resource, "default", "a")["metadata"]

    on_pod(test)


def test_an_eviction_honours_preconditions_and_dry_run() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        await running(api, target)
        revision = api.store.revision
        with pytest.raises(ApiError, match="the UID in the precondition"):
            await api.evict(target, eviction(preconditions={"uid": "x"}))
        await api.evict(target, eviction(dryRun=["All"]))
        assert api.store.revision == revision

    on_pod(test)


def test_scale_shows_and_sets_the_replicas_of_a_deployment() -> None:
    async def run() -> None:
        api = await api_server()
        resource = api.resource("apps", "v1", "deployments")
        await api.create(resource, "default", deployment("d"))
        target = Target(resource, "default", "d", "scale")
        scale = api.get_scale(target)
        assert (scale["spec"], scale["status"]) == ({"replicas": 1}, {"replicas": 0, "selector": "app=d"})
        await api.update_scale(target, {**scale, "spec": {"replicas": 4}})
        patch = Patch("application/merge-patch+json", {"spec": {"replicas": 5}})
        assert (await api.patch_scale(target, patch))["spec"] == {"replicas": 5}
        assert api.get(resource, "default", "d")["spec"]["replicas"] == 5
        with pytest.raises(ApiError, match="the object has been modified"):
            await api.update_scale(target, {**scale, "spec": {"replicas": 6}})
        with pytest.raises(ApiError, match="must be greater than or equal to 0"):
            await api.update_scale(target, {"spec": {"replicas": -1}})

    asyncio.run(run())


def test_a_service_account_gets_a_token_that_is_known() -> None:
    async def run() -> None:
        api = await api_server()
        api.authenticator = authenticator(api, {})
        accounts = api.resource("", "v1", "serviceaccounts")
        body = {"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "robot"}}
        await api.create(accounts, "default", body)
        answer = api.request_token(Target(accounts, "default", "robot", "token"), {"spec": {}})
        user: User = api.authenticator.bearer(answer["status"]["token"])
        assert user.name == "system:serviceaccount:default:robot"
        await api.delete(Target(accounts, "default", "robot"), DeleteOptions())
        with pytest.raises(ApiError, match="Unauthorized"):
            api.authenticator.bearer(answer["status"]["token"])

    asyncio.run(run())
