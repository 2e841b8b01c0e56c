import asyncio
from collections.abc import Awaitable, Callable

import pytest

from quorate.api.meta import Json
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.errors import ApiError
from quorate.embedded.options import Options, Patch
from quorate.embedded.patching import APPLY, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from quorate.embedded.target import Target
from tests.fakes.embedded import api_server, config_map, deployment

Case = Callable[[ApiServer, Target], Awaitable[None]]


def on_deployment(test: Case) -> None:
    async def run() -> None:
        api = await api_server()
        resource = api.resource("apps", "v1", "deployments")
        await api.create(resource, "default", deployment("d"), Options(field_manager="creator"))
        await test(api, Target(resource, "default", "d"))

    asyncio.run(run())


def containers(obj: Json) -> list[tuple[str, str]]:
    return [(c["name"], c["image"]) for c in obj["spec"]["template"]["spec"]["containers"]]


def template(*given: Json) -> Json:
    return {"spec": {"template": {"spec": {"containers": list(given)}}}}


def test_each_kind_of_patch_changes_the_object_its_way() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        new = {"name": "new", "image": "x"}
        merged, _ = await api.patch(target, Patch(STRATEGIC_MERGE_PATCH, template(new)))
        assert sorted(containers(merged)) == [("main", "busybox"), ("new", "x")]
        replaced, _ = await api.patch(target, Patch(MERGE_PATCH, template(new)))
        assert containers(replaced) == [("new", "x")]
        operation = {"op": "replace", "path": "/spec/replicas", "value": 6}
        scaled, created = await api.patch(target, Patch(JSON_PATCH, [operation]))
        assert (scaled["spec"]["replicas"], created) == (6, False)

    on_deployment(test)


def test_apply_creates_then_changes_then_meets_conflicts() -> None:
    async def run() -> None:
        api = await api_server()
        maps = api.resource("", "v1", "configmaps")
        target = Target(maps, "default", "a")
        one, two = (Options(field_manager=name) for name in ("one", "two"))
        made, created = await api.patch(target, Patch(APPLY, config_map("a")), one)
        assert created
        assert made["metadata"]["managedFields"][0]["operation"] == "Apply"
        revision = api.store.revision
        _, created = await api.patch(target, Patch(APPLY, config_map("a")), one)
        assert (created, api.store.revision) == (False, revision)
        other = {**config_map("a"), "data": {"k": "w"}}
        with pytest.raises(ApiError, match='conflict with "one"') as refused:
            await api.patch(target, Patch(APPLY, other), two)
        assert refused.value.status["details"]["causes"][0]["field"] == ".data.k"
        forced = Options(field_manager="two", force=True)
        changed, _ = await api.patch(target, Patch(APPLY, other), forced)
        assert changed["data"] == {"k": "w"}

    asyncio.run(run())


def test_patches_do_not_fail_because_of_each_other() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        patches = [Patch(MERGE_PATCH, {"metadata": {"labels": {f"l{n}": "x"}}}) for n in range(20)]
        await asyncio.gather(*(api.patch(target, patch) for patch in patches))
        assert len(api.get(target.resource, "default", "d")["metadata"]["labels"]) == 20

    on_deployment(test)


@pytest.mark.parametrize(
    ("media_type", "body", "code", "message"),
    [
        (MERGE_PATCH, {"metadata": {"resourceVersion": "1"}}, 409, "the object has been modified"),
        (MERGE_PATCH, {"metadata": {"name": "x"}}, 400, "the name of the object (x) does not match"),
        (MERGE_PATCH, {"spec": {"replicas": "x"}}, 422, "cannot unmarshal string into Go struct field"),
        (MERGE_PATCH, {"spec": {"x": 1}}, 422, 'strict decoding error: unknown field "spec.x"'),
        (
            STRATEGIC_MERGE_PATCH,
            {"spec": {"x": 1}},
            422,
            'patch: Invalid value: "map[spec:map[x:1]]": strict',
        ),
        (MERGE_PATCH, {"spec": {"selector": None}}, 422, "spec.selector"),
        (
            JSON_PATCH,
            [{"op": "remove", "path": "/none"}],
            422,
            "the server rejected our request due to an error",
        ),
        (JSON_PATCH, {}, 400, "error decoding patch: json: cannot unmarshal object"),
        (
            APPLY,
            {"metadata": {"name": "d"}},
            422,
            "fieldManager: Required value: is required for apply patch",
        ),
    ],
)
def test_a_patch_that_cannot_be_is_refused(media_type: str, body: object, code: int, message: str) -> None:
    async def test(api: ApiServer, target: Target) -> None:
        with pytest.raises(ApiError) as refused:
            await api.patch(target, Patch(media_type, body), Options(field_validation="Strict"))
        assert refused.value.code == code
        assert message in str(refused.value)

    on_deployment(test)


def test_force_is_for_apply_only() -> None:
    async def test(api: ApiServer, target: Target) -> None:
        with pytest.raises(ApiError, match="force: Forbidden: may not be specified for non-apply patch"):
            await api.patch(target, Patch(MERGE_PATCH, {}), Options(force=True))

    on_deployment(test)
