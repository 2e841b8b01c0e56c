import asyncio
from collections.abc import Awaitable, Callable

import pytest

from quorate.api.meta import Json
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.errors import ApiError
from quorate.embedded.options import Options
from quorate.embedded.target import Target
from tests.fakes.embedded import api_server, config_map, deployment

World = Callable[[ApiServer, Target, Json], Awaitable[None]]


def changing(test: World) -> None:
    """Run a test on a server with one Deployment: server, its target, the stored object."""

    async def run() -> None:
        api = await api_server()
        resource = api.resource("apps", "v1", "deployments")
        stored = await api.create(resource, "default", deployment("d"))
        await test(api, Target(resource, "default", "d"), stored)

    asyncio.run(run())


def with_replicas(obj: Json, replicas: int) -> Json:
    return {**obj, "spec": {**obj["spec"], "replicas": replicas}}


def test_only_a_change_of_the_spec_counts_in_the_generation() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        labelled = {**stored, "metadata": {**stored["metadata"], "labels": {"a": "b"}}}
        labelled = await api.update(target, labelled)
        assert labelled["metadata"]["generation"] == 1
        scaled = await api.update(target, with_replicas(labelled, 3))
        assert scaled["metadata"]["generation"] == 2

    changing(test)


def test_nothing_is_written_when_nothing_changes() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        revision = api.store.revision
        assert await api.update(target, stored) == stored
        assert api.store.revision == revision

    changing(test)


def test_a_stale_revision_is_a_conflict() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        await api.update(target, with_replicas(stored, 3))
        with pytest.raises(ApiError) as refused:
            await api.update(target, with_replicas(stored, 4))
        assert refused.value.reason == "Conflict"
        assert str(refused.value) == (
            'Operation cannot be fulfilled on deployments.apps "d": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )

    changing(test)


def test_another_uid_is_a_conflict() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        other = {**stored, "metadata": {**stored["metadata"], "uid": "x"}}
        with pytest.raises(
            ApiError, match="Precondition failed: UID in precondition: x, UID in object meta: "
        ):
            await api.update(target, other)

    changing(test)


def test_status_and_spec_change_through_their_own_doors() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        both = {**with_replicas(stored, 9), "status": {"replicas": 7}}
        through_status = await api.update(target._replace(subresource="status"), both)
        assert (through_status["spec"]["replicas"], through_status["status"]) == (1, {"replicas": 7})
        assert through_status["metadata"]["generation"] == 1
        wanted = {**with_replicas(through_status, 5), "status": {"replicas": 0}}
        through_main = await api.update(target, wanted)
        assert (through_main["spec"]["replicas"], through_main["status"]) == (5, {"replicas": 7})

    changing(test)


def test_what_the_server_owns_stays() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        metadata = {**stored["metadata"], "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 99}
        updated = await api.update(target, {**with_replicas(stored, 2), "metadata": metadata})
        assert updated["metadata"]["creationTimestamp"] == stored["metadata"]["creationTimestamp"]
        assert updated["metadata"]["generation"] == 2

    changing(test)


def test_a_name_other_than_in_the_url_is_refused() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        other = {**stored, "metadata": {**stored["metadata"], "name": "x"}}
        with pytest.raises(
            ApiError, match=r"the name of the object \(x\) does not match the name on the URL"
        ):
            await api.update(target, other)

    changing(test)


def test_dry_run_answers_and_stores_nothing() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        dry = Options(dry_run=True)
        answer = await api.update(target, with_replicas(stored, 2), dry)
        assert answer["spec"]["replicas"] == 2
        maps = api.resource("", "v1", "configmaps")
        assert (await api.create(maps, "default", config_map("a"), dry))["metadata"]["uid"]
        assert api.get(target.resource, "default", "d") == stored
        assert api.list(maps).objects == []

    changing(test)


def test_who_wrote_a_field_is_on_record() -> None:
    async def test(api: ApiServer, target: Target, stored: Json) -> None:
        await api.update(target, with_replicas(stored, 2), Options(field_manager="scaler"))
        fields = api.get(target.resource, "default", "d")["metadata"]["managedFields"]
        owners = {entry["manager"]: entry["fieldsV1"] for entry in fields}
        assert owners["scaler"] == {"f:spec": {"f:replicas": {}}}
        assert "f:replicas" not in owners["unknown"]["f:spec"]

    changing(test)


def test_names_are_generated_from_a_prefix() -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        obj = {**config_map(""), "metadata": {"generateName": "x-"}}
        made = [(await api.create(maps, "default", obj))["metadata"]["name"] for _ in range(5)]
        assert len(set(made)) == 5
        assert all(name.startswith("x-") and len(name) == 7 for name in made)

    asyncio.run(run())


def test_a_second_object_of_a_name_is_refused() -> None:
    async def test(api: ApiServer, target: Target, _: Json) -> None:
        with pytest.raises(ApiError, match=r'deployments\.apps "d" already exists') as refused:
            await api.create(target.resource, "default", deployment("d"))
        assert refused.value.status["details"] == {"name": "d", "group": "apps", "kind": "deployments"}

    changing(test)
