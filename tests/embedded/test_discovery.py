from quorate.api.meta import Json
from quorate.embedded import data
from quorate.embedded.discovery import (
    aggregated,
    api_group,
    api_group_list,
    api_resource_list,
    builtin_resources,
    version_priority,
)
from quorate.embedded.registry import Resource


def row(document: Json | None, name: str) -> Json:
    assert document is not None
    found: Json = next(r for r in document["resources"] if r["name"] == name)
    return found


def custom(version: str) -> Resource:
    return Resource(
        group="example.com",
        version=version,
        kind="Gadget",
        plural="gadgets",
        singular="gadget",
        namespaced=True,
        verbs=("get", "list"),
        short_names=("gd",),
    )


def test_pods_have_their_short_name_category_and_subresources() -> None:
    pods = next(r for r in builtin_resources() if r.plural == "pods")
    assert (pods.group, pods.version, pods.kind, pods.singular) == ("", "v1", "Pod", "pod")
    assert pods.short_names == ("po",)
    assert pods.categories == ("all",)
    assert {"binding", "eviction", "log", "status"} <= {s.name for s in pods.subresources}
    eviction = pods.subresource("eviction")
    assert eviction is not None
    assert (eviction.group, eviction.version, eviction.kind) == ("policy", "v1", "Eviction")


def test_every_built_in_kind_has_a_definition() -> None:
    missing = [
        r.kind for r in builtin_resources() if data.definition_name(r.group, r.version, r.kind) is None
    ]
    assert missing == []


def test_legacy_list_names_the_group_of_a_foreign_subresource() -> None:
    apps = api_resource_list(builtin_resources(), "apps", "v1")
    assert row(apps, "deployments/scale")["group"] == "autoscaling"
    assert "group" not in row(apps, "deployments/status")
    assert row(apps, "deployments")["shortNames"] == ["deploy"]


def test_unserved_group_version_has_no_document() -> None:
    assert api_resource_list(builtin_resources(), "apps", "v1beta1") is None
    assert api_group(builtin_resources(), "nowhere") is None


def test_custom_resource_joins_both_forms_with_its_preferred_version() -> None:
    resources = (*builtin_resources(), custom("v1alpha1"), custom("v1"))
    groups = api_group_list(resources)["groups"]
    mine = next(g for g in groups if g["name"] == "example.com")
    assert mine["preferredVersion"]["version"] == "v1"
    item = next(
        i for i in aggregated(resources, legacy=False)["items"] if i["metadata"] == {"name": "example.com"}
    )
    assert [v["version"] for v in item["versions"]] == ["v1", "v1alpha1"]


def test_aggregated_core_document_holds_only_the_core_group() -> None:
    (core,) = aggregated(builtin_resources(), legacy=True)["items"]
    assert core["metadata"] == {}
    assert {r["resource"] for r in core["versions"][0]["resources"]} >= {"pods", "nodes", "bindings"}


def test_versions_sort_as_the_server_prefers_them() -> None:
    mixed = ["foo1", "v1alpha1", "v2beta1", "v10", "v2", "v2alpha2", "v1beta2"]
    assert sorted(mixed, key=version_priority) == [
        "v10",
        "v2",
        "v2beta1",
        "v1beta2",
        "v2alpha2",
        "v1alpha1",
        "foo1",
    ]
