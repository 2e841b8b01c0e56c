import asyncio
from collections.abc import Awaitable, Callable

import pytest

from quorate.api.meta import Json
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.errors import ApiError
from quorate.embedded.objectmeta import timestamp
from quorate.embedded.options import SYSTEM, DeleteOptions, ListOptions
from quorate.embedded.query import delete_options
from quorate.embedded.selectors import Selection, parse_labels
from quorate.embedded.target import Target
from tests.fakes.embedded import api_server, config_map, namespace, pod

NOW = 1_800_000_000.0


def pods(test: Callable[[ApiServer, Target], Awaitable[None]], *, node: str = "n") -> None:
    """Run a test on a server whose clock stands still, with a pod bound to a node."""

    async def run() -> None:
        api = await api_server()
        api.now = lambda: NOW
        resource = api.resource("", "v1", "pods")
        await api.create(resource, "default", pod("a", node=node))
        await test(api, Target(resource, "default", "a"))

    asyncio.run(run())


def stored(api: ApiServer, target: Target) -> Json | None:
    return api.store.get(target.key)


def test_a_pod_on_a_node_gets_its_grace_period() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        deleted = await api.delete(target)
        assert not deleted.at_once
        metadata = (stored(api, target) or {})["metadata"]
        assert metadata["deletionTimestamp"] == timestamp(NOW + 30)
        assert metadata["deletionGracePeriodSeconds"] == 30
        assert metadata["generation"] == 2

    pods(test)


def test_a_second_deletion_can_only_shorten_the_grace_period() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        await api.delete(target, DeleteOptions(grace_period_seconds=10))
        revision = api.store.revision
        await api.delete(target, DeleteOptions(grace_period_seconds=20))
        assert api.store.revision == revision
        await api.delete(target, DeleteOptions(grace_period_seconds=5))
        assert (stored(api, target) or {})["metadata"]["deletionGracePeriodSeconds"] == 5
        assert (await api.delete(target, DeleteOptions(grace_period_seconds=0))).at_once
        assert stored(api, target) is None

    pods(test)


def test_a_pod_without_a_node_goes_at_once() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        assert (await api.delete(target)).at_once
        assert stored(api, target) is None

    pods(test, node="")


def test_preconditions_must_hold() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        with pytest.raises(
            ApiError, match=r"the UID in the precondition \(x\) does not match the UID in record"
        ):
            await api.delete(target, DeleteOptions(uid="x"))
        with pytest.raises(ApiError, match=r"the ResourceVersion in the precondition \(1\) does not match"):
            await api.delete(target, DeleteOptions(resource_version="1"))
        assert "deletionTimestamp" not in (stored(api, target) or {})["metadata"]

    pods(test)


def test_dry_run_deletes_nothing() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        revision = api.store.revision
        await api.delete(target, DeleteOptions(dry_run=True))
        assert api.store.revision == revision

    pods(test)


@pytest.mark.parametrize(
    ("propagation", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")]
)
def test_foreground_and_orphan_leave_the_object_to_the_garbage_collector(
    propagation: str, finalizer: str
) -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        target = Target(maps, "default", "a")
        await api.create(maps, "default", config_map("a"))
        await api.delete(target, delete_options({"propagationPolicy": propagation}, {}, SYSTEM))
        waiting = stored(api, target) or {}
        assert waiting["metadata"]["finalizers"] == [finalizer]
        metadata = {name: value for name, value in waiting["metadata"].items() if name != "finalizers"}
        await api.update(target, {**waiting, "metadata": metadata})
        assert stored(api, target) is None

    asyncio.run(run())


def test_an_object_waits_for_its_finalizers() -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        obj = config_map("a")
        obj["metadata"]["finalizers"] = ["example.com/one", "example.com/two"]
        await api.create(maps, "default", obj)
        target = Target(maps, "default", "a")
        await api.delete(target)
        for left in (["example.com/two"], []):
            waiting = stored(api, target)
            assert waiting is not None
            metadata = {**waiting["metadata"], "finalizers": left}
            await api.update(target, {**waiting, "metadata": metadata})
        assert stored(api, target) is None

    asyncio.run(run())


def test_a_namespace_ends_when_it_is_finalized() -> None:
    async def run() -> None:
        api = await api_server()
        namespaces = api.resource("", "v1", "namespaces")
        await api.create(namespaces, "", namespace("x"))
        target = Target(namespaces, "", "x")
        await api.delete(target)
        ending = stored(api, target)
        assert ending is not None
        assert ending["status"]["phase"] == "Terminating"
        with pytest.raises(ApiError, match="because it is being terminated") as refused:
            await api.create(api.resource("", "v1", "configmaps"), "x", config_map("a", "x"))
        assert refused.value.status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
        await api.update(target._replace(subresource="finalize"), {**ending, "spec": {"finalizers": []}})
        assert stored(api, target) is None

    asyncio.run(run())


def test_a_collection_is_deleted_by_selector() -> None:
    async def run() -> None:
        api = await api_server()
        resource = api.resource("", "v1", "pods")
        for name, app in (("a", "x"), ("b", "y"), ("c", "x")):
            await api.create(resource, "default", pod(name, labels={"app": app}))
        chosen = ListOptions(Selection(parse_labels("app=x")))
        page = await api.delete_collection(resource, "default", chosen, DeleteOptions())
        assert [obj["metadata"]["name"] for obj in page.objects] == ["a", "c"]
        assert [obj["metadata"]["name"] for obj in api.list(resource).objects] == ["b"]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([], "decoded object cannot be converted to DeleteOptions"),
        ({"gracePeriodSeconds": "x"}, "gracePeriodSeconds: Invalid value: x"),
        ({"propagationPolicy": "x"}, 'propagationPolicy: Unsupported value: "x"'),
        ({"propagationPolicy": "Orphan", "orphanDependents": True}, "cannot be both set"),
        ({"dryRun": ["x"]}, "dryRun: Unsupported value"),
    ],
)
def test_options_that_make_no_sense_are_refused(tree: object, message: str) -> None:
    with pytest.raises(ApiError, match=message):
        delete_options({}, tree, SYSTEM)
