from typing import Any

from quorate.api.meta import Json
from quorate.embedded import data
from quorate.embedded.discovery import builtin_resources
from quorate.embedded.openapi import document, index
from quorate.embedded.registry import Resource, Subresource

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "description": "What is asked for.",
            "properties": {"size": {"type": "integer", "minimum": 0}},
        }
    },
}


def gadgets(schema: Json = SCHEMA) -> Resource:
    return Resource(
        group="stable.example.com",
        version="v1",
        kind="Gadget",
        plural="gadgets",
        singular="gadget",
        namespaced=True,
        subresources=(Subresource("scale", "autoscaling", "v1", "Scale", ("get", "patch", "update")),),
        schema=schema,
        definition={"name": "v1"},
    )


def described(group: str, version: str, *more: Resource) -> Json:
    found = document((*builtin_resources(), *more), group, version)
    assert found is not None
    return found


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(child) for child in node.values()))
    return set().union(*(references(item) for item in node)) if isinstance(node, list) else set()


def test_every_group_version_has_a_document_with_all_that_it_refers_to() -> None:
    for resource in builtin_resources():
        found = described(resource.group, resource.version)
        known = {data.PREFIX + name for name in found["components"]["schemas"]}
        assert references(found) <= known


def test_index_says_where_the_documents_are_and_changes_with_a_schema() -> None:
    before = index((*builtin_resources(), gadgets()))["paths"]
    after = index((*builtin_resources(), gadgets({"type": "object"})))["paths"]
    place = "apis/stable.example.com/v1"
    assert before[place]["serverRelativeURL"].startswith(f"/openapi/v3/{place}?hash=")
    assert before[place] != after[place]
    assert before["api/v1"] == after["api/v1"]


def test_kubectl_finds_the_kind_of_a_path_and_what_a_patch_takes() -> None:
    apps = described("apps", "v1")
    operations = apps["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]
    patch = operations["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
    }
    assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}
    assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]
    assert "get" in apps["paths"]["/apis/apps/v1/deployments"]


def test_schemas_keep_their_merge_keys_and_kinds() -> None:
    core = described("", "v1")["components"]["schemas"]
    containers = core["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert core["io.k8s.api.core.v1.Pod"]["x-kubernetes-group-version-kind"] == [
        {"group": "", "version": "v1", "kind": "Pod"}
    ]
    assert core["io.k8s.api.core.v1.Pod"]["description"]
    assert not any("x-omitted" in schema for schema in core.values())


def test_custom_kind_is_published_under_its_reversed_group() -> None:
    found = described("stable.example.com", "v1", gadgets())
    schemas = found["components"]["schemas"]
    gadget = schemas["com.example.stable.v1.Gadget"]
    assert gadget["properties"]["spec"]["properties"]["size"] == {"type": "integer", "minimum": 0}
    assert gadget["properties"]["metadata"]["allOf"] == [
        {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
    ]
    assert "com.example.stable.v1.GadgetList" in schemas
    patch = found["paths"]["/apis/stable.example.com/v1/namespaces/{namespace}/gadgets/{name}"]["patch"]
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]
    assert "io.k8s.api.autoscaling.v1.Scale" in schemas


def test_unserved_group_version_has_no_document() -> None:
    assert document(builtin_resources(), "nowhere", "v1") is None
