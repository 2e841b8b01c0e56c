import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded.apiserver import ApiServer
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.errors import ApiError
from quorate.embedded.options import Options, Patch
from quorate.embedded.persistence import Journal
from quorate.embedded.registry import Registry
from quorate.embedded.store import Store
from quorate.embedded.target import Target
from tests.fakes.embedded import api_server, namespace

CRD = ("apiextensions.k8s.io", "v1", "customresourcedefinitions")
MERGE = "application/merge-patch+json"
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1},
                "replicas": {"type": "integer", "default": 3},
            },
            "x-kubernetes-validations": [{"rule": "self.size <= 10", "message": "too big"}],
        },
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    },
}


def version(name: str, *, storage: bool = False, served: bool = True) -> Json:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    return {
        "name": name,
        "served": served,
        "storage": storage,
        "subresources": {"status": {}, "scale": paths},
        "schema": {"openAPIV3Schema": SCHEMA},
    }


def definition(kind: str = "Widget", *versions: Json) -> Json:
    plural = f"{kind.lower()}s"
    names = {"plural": plural, "kind": kind, "shortNames": [kind[:2].lower()]}
    return {
        "kind": "CustomResourceDefinition",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": list(versions or [version("v1", storage=True)]),
        },
    }


def widget(name: str, **spec: Any) -> Json:
    return {"kind": "Widget", "apiVersion": "example.com/v1", "metadata": {"name": name}, "spec": spec}


def defined(test: Callable[[ApiServer], Awaitable[None]], *versions: Json) -> None:
    """Run a test on a server that serves widgets."""

    async def run() -> None:
        api = await api_server()
        await api.create(api.resource(*CRD), "", definition("Widget", *versions))
        await test(api)

    asyncio.run(run())


def conditions(obj: Json) -> dict[str, str]:
    return {c["type"]: c["status"] for c in obj["status"]["conditions"]}


def test_a_definition_is_established_and_serves() -> None:
    async def test(api: ApiServer) -> None:
        stored = api.get(api.resource(*CRD), "", "widgets.example.com")
        assert conditions(stored) == {"NamesAccepted": "True", "Established": "True"}
        assert stored["status"]["storedVersions"] == ["v1"]
        assert stored["status"]["acceptedNames"]["listKind"] == "WidgetList"
        widgets = api.resource("example.com", "v1", "widgets")
        made = await api.create(widgets, "default", widget("w", size=2))
        assert made["spec"] == {"size": 2, "replicas": 3}
        assert made["metadata"]["generation"] == 1

    defined(test)


def test_objects_are_pruned_and_checked_by_schema_and_rules() -> None:
    async def test(api: ApiServer) -> None:
        widgets = api.resource("example.com", "v1", "widgets")
        warned = Options(field_validation="Warn")
        pruned = await api.create(widgets, "default", widget("w", size=2, colour="red"), warned)
        assert "colour" not in pruned["spec"]
        assert warned.warnings == ['unknown field "spec.colour"']
        for size, message in ((0, "should be greater than or equal to 1"), (11, "too big")):
            with pytest.raises(ApiError, match=message) as refused:
                await api.create(widgets, "default", widget("x", size=size))
            assert refused.value.code == 422
        with pytest.raises(ApiError, match=r"spec\.size: Required value"):
            await api.create(widgets, "default", widget("x"))

    defined(test)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"type": "string", "jsonPath": ".a"}, "name: Required value"),
        ({"name": "A", "jsonPath": ".a"}, "type: Required value: must be one of boolean,date,"),
        ({"name": "A", "type": "text", "jsonPath": ".a"}, 'type: Invalid value: "text": must be one of'),
        ({"name": "A", "type": "string", "format": "x", "jsonPath": ".a"}, 'format: Invalid value: "x"'),
        ({"name": "A", "type": "string"}, "JSONPath: Required value"),
        ({"name": "A", "type": "string", "jsonPath": "a"}, "must be a simple json path starting with ."),
    ],
)
def test_a_column_that_cannot_be_printed_is_refused(column: Json, message: str) -> None:
    async def run() -> None:
        api = await api_server()
        columns = {**version("v1", storage=True), "additionalPrinterColumns": [column]}
        with pytest.raises(ApiError) as refused:
            await api.create(api.resource(*CRD), "", definition("Widget", columns))
        assert "spec.additionalPrinterColumns[0]." in str(refused.value)
        assert message in str(refused.value)

    asyncio.run(run())


def test_a_version_without_defaults_stores_those_of_the_storage_version() -> None:
    plain: Json = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}

    async def test(api: ApiServer) -> None:
        older = api.resource("example.com", "v1beta1", "widgets")
        made = await api.create(
            older, "default", {**widget("w", size=2), "apiVersion": "example.com/v1beta1"}
        )
        assert made["spec"] == {"size": 2, "replicas": 3}

    defined(test, version("v1", storage=True), {**version("v1beta1"), "schema": plain})


def test_a_deprecated_version_warns_and_names_the_newest_that_is_not() -> None:
    async def test(api: ApiServer) -> None:
        warnings = [api.resource("example.com", v, "widgets").warning for v in ("v1", "v1beta1", "v1alpha1")]
        assert warnings == ["", "example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget", "old"]

    beta = {**version("v1beta1"), "deprecated": True}
    alpha = {**version("v1alpha1"), "deprecated": True, "deprecationWarning": "old"}
    defined(test, version("v1", storage=True), version("v2"), beta, alpha)


def test_a_definition_that_serves_no_version_any_more_can_go_with_its_objects() -> None:
    async def test(api: ApiServer) -> None:
        await api.create(api.resource("example.com", "v1", "widgets"), "default", widget("w", size=2))
        target = Target(api.resource(*CRD), "", "widgets.example.com")
        unserved = definition("Widget", version("v1", storage=True, served=False))
        await api.patch(target, Patch(MERGE, {"spec": {"versions": unserved["spec"]["versions"]}}))
        await api.delete(target)
        await asyncio.sleep(0)
        assert api.store.get(target.key) is None
        assert api.store.count("example.com", "widgets") == 0

    defined(test)


def test_all_served_versions_show_the_same_object() -> None:
    async def test(api: ApiServer) -> None:
        first, second = (api.resource("example.com", v, "widgets") for v in ("v1", "v2"))
        await api.create(first, "default", widget("w", size=2))
        assert api.get(second, "default", "w")["apiVersion"] == "example.com/v2"
        target = Target(second, "default", "w")
        patched, _ = await api.patch(target, Patch(MERGE, {"spec": {"size": 3}}))
        assert patched["apiVersion"] == "example.com/v2"
        stored = api.store.get(target.key)
        assert stored is not None
        assert (stored["apiVersion"], stored["spec"]["size"]) == ("example.com/v1", 3)
        assert api.registry.find("example.com", "v3", "widgets") is None

    defined(test, version("v1", storage=True), version("v2"), version("v3", served=False))


def test_status_and_scale_are_apart() -> None:
    async def test(api: ApiServer) -> None:
        widgets = api.resource("example.com", "v1", "widgets")
        made = await api.create(widgets, "default", {**widget("w", size=2), "status": {"replicas": 9}})
        assert "status" not in made
        target = Target(widgets, "default", "w", "status")
        body = {"metadata": {"labels": {"a": "b"}}, "spec": {"size": 5}, "status": {"replicas": 1}}
        patched, _ = await api.patch(target, Patch(MERGE, body))
        assert (patched["spec"]["size"], patched["status"]) == (2, {"replicas": 1})
        assert "labels" not in patched["metadata"]
        scale = await api.update_scale(target._replace(subresource="scale"), {"spec": {"replicas": 7}})
        assert (scale["spec"], scale["status"]) == ({"replicas": 7}, {"replicas": 1})

    defined(test)


def test_an_update_must_say_which_revision_it_changes() -> None:
    async def test(api: ApiServer) -> None:
        widgets = api.resource("example.com", "v1", "widgets")
        await api.create(widgets, "default", widget("w", size=2))
        with pytest.raises(ApiError, match=r"metadata\.resourceVersion: Invalid value: 0: must be specified"):
            await api.update(Target(widgets, "default", "w"), widget("w", size=3))

    defined(test)


def test_a_changed_definition_serves_at_once() -> None:
    async def test(api: ApiServer) -> None:
        target = Target(api.resource(*CRD), "", "widgets.example.com")
        versions = [version("v1"), version("v2", storage=True)]
        patched, _ = await api.patch(target, Patch(MERGE, {"spec": {"versions": versions}}))
        assert patched["status"]["storedVersions"] == ["v1", "v2"]
        assert api.resource("example.com", "v2", "widgets").storage_version == "v2"

    defined(test)


def test_deleting_a_definition_deletes_its_objects_first() -> None:
    async def test(api: ApiServer) -> None:
        widgets = api.resource("example.com", "v1", "widgets")
        held = widget("held", size=1)
        held["metadata"]["finalizers"] = ["example.com/x"]
        await api.create(widgets, "default", held)
        await api.create(widgets, "default", widget("free", size=1))
        target = Target(api.resource(*CRD), "", "widgets.example.com")
        await api.delete(target)
        assert [obj["metadata"]["name"] for obj in api.list(widgets).objects] == ["held"]
        with pytest.raises(
            ApiError, match="create not allowed while custom resource definition is terminating"
        ):
            await api.create(widgets, "default", widget("new", size=1))
        await api.patch(Target(widgets, "default", "held"), Patch(MERGE, {"metadata": {"finalizers": None}}))
        async with asyncio.timeout(5):
            while api.store.get(target.key) is not None:  # noqa: ASYNC110 nothing tells of it
                await asyncio.sleep(0)
        assert api.registry.find("example.com", "v1", "widgets") is None

    defined(test)


def test_a_kind_in_use_is_not_accepted() -> None:
    async def test(api: ApiServer) -> None:
        other = definition("Gadget")
        other["spec"]["names"] |= {"kind": "Widget", "singular": "gadget"}
        stored = await api.create(api.resource(*CRD), "", other)
        assert conditions(stored) == {"NamesAccepted": "False", "Established": "False"}
        reasons = {c["type"]: (c["reason"], c["message"]) for c in stored["status"]["conditions"]}
        assert reasons["NamesAccepted"] == ("KindConflict", '"Widget" is already in use')
        assert api.registry.find("example.com", "v1", "gadgets") is None

    defined(test)


def test_definitions_serve_again_after_a_restart(tmp_path: Path) -> None:
    def opened() -> ApiServer:
        store = Store()
        api = ApiServer(Registry(builtin_resources()), store)
        api.journal = Journal(tmp_path, store)
        return api

    async def run() -> None:
        api = opened()
        await api.create(api.resource("", "v1", "namespaces"), "", namespace("default"))
        await api.create(api.resource(*CRD), "", definition())
        await api.create(api.resource("example.com", "v1", "widgets"), "default", widget("w", size=1))
        assert api.journal is not None
        await api.journal.close()
        again = opened()
        widgets = again.resource("example.com", "v1", "widgets")
        assert [obj["metadata"]["name"] for obj in again.list(widgets).objects] == ["w"]
        assert again.journal is not None
        await again.journal.close()

    asyncio.run(run())


BAD: list[tuple[Json, str]] = [
    ({"group": ""}, "spec.group: Required value"),
    ({"group": "plain"}, "should be a domain with at least one dot"),
    (
        {"scope": "Galaxy"},
        'spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"',
    ),
    ({"names": {"plural": "Widgets", "kind": "Widget"}}, "spec.names.plural: Invalid value"),
    ({"versions": [version("v1")]}, "must have exactly one version marked as storage version"),
    ({"versions": [version("1", storage=True)]}, "spec.versions[0].name: Invalid value"),
    ({"versions": [{**version("v1", storage=True), "schema": {}}]}, "openAPIV3Schema: Required value"),
    (
        {"versions": [{**version("v1", storage=True), "schema": {"openAPIV3Schema": {"type": "string"}}}]},
        "must be object at the root",
    ),
    (
        {"versions": [{**version("v1", storage=True), "subresources": {"scale": {"specReplicasPath": "x"}}}]},
        "should be a json path under .spec",
    ),
]


@pytest.mark.parametrize(("fields", "message"), BAD)
def test_a_definition_that_cannot_serve_is_refused(fields: Json, message: str) -> None:
    async def run() -> None:
        api = await api_server()
        whole = definition()
        whole["spec"] |= fields
        with pytest.raises(ApiError) as refused:
            await api.create(api.resource(*CRD), "", whole)
        assert refused.value.code == 422
        assert message in str(refused.value)

    asyncio.run(run())
