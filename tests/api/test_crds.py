import runpy
from collections.abc import Iterator
from typing import Any

import pytest

from quorate.api.crds import crds
from quorate.api.meta import Json
from quorate.api.templates import template_schema
from quorate.embedded import customkind

DEFINITIONS = {definition["metadata"]["name"]: definition for definition in crds()}


def schema(name: str) -> Json:
    found: Json = DEFINITIONS[name]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def nodes(node: Json) -> Iterator[Json]:
    yield node
    below: list[Any] = [
        *node.get("properties", {}).values(),
        node.get("items"),
        node.get("additionalProperties"),
    ]
    for child in below:
        if isinstance(child, dict):
            yield from nodes(child)


def test_every_kind_of_ours_has_a_definition() -> None:
    assert list(DEFINITIONS) == [
        "podgroups.scheduling.run.ai",
        "podgroups.scheduling.kai.nvidia.com",
        "queues.scheduling.run.ai",
        "topologies.kai.scheduler",
        "compositepodgroups.scheduling.quorate.dev",
        "leaderworkersets.leaderworkerset.x-k8s.io",
        "rolebasedgroups.workloads.instai.io",
        "rolebasedgroups.workloads.x-k8s.io",
        "coordinatedpolicies.workloads.x-k8s.io",
        "rolebasedgroupscalingadapters.workloads.x-k8s.io",
    ]


@pytest.mark.parametrize("name", DEFINITIONS)
def test_schemas_are_structural(name: str) -> None:
    for node in nodes(schema(name)):
        assert "type" in node or node.get("x-kubernetes-int-or-string"), node
        assert not {"$ref", "title", "oneOf"} & node.keys()
        assert not any(key.startswith("x-quorate") for key in node)
        assert not ("properties" in node and "additionalProperties" in node)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_an_api_server_finds_no_fault(name: str) -> None:
    assert [str(cause) for cause in customkind.schema_problems(schema(name), "schema")] == []


LEAF: Json = {"name": "a", "minMember": 1}


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"minMember": 1, "minSubGroup": 1}, "mutually exclusive"),
        ({"subGroups": [{**LEAF, "parent": "x"}]}, "the parent of a subgroup was not found"),
        ({"subGroups": [LEAF, {"name": "b"}]}, "minMember is required"),
        ({"subGroups": [{**LEAF, "minSubGroup": 0}]}, "cannot be set on a leaf"),
        ({"subGroups": [LEAF, LEAF]}, "Duplicate value"),
        ({"preemptibility": "never"}, "Unsupported value"),
        ({"minMember": 1, "minSubGroup": 1, "subGroups": [LEAF]}, ""),
    ],
)
def test_a_cluster_without_webhooks_refuses_broken_gangs(spec: Json, text: str) -> None:
    found = schema("podgroups.scheduling.run.ai")
    wire = {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "g"}}
    causes = customkind.check(found, customkind.complete(found, {**wire, "spec": spec}).object).causes
    assert text in "; ".join(str(cause) for cause in causes)
    assert bool(causes) == bool(text)


def test_both_groups_of_podgroup_have_one_schema() -> None:
    assert schema("podgroups.scheduling.run.ai") == schema("podgroups.scheduling.kai.nvidia.com")


def test_lists_under_rules_are_bounded() -> None:
    groups = schema("podgroups.scheduling.run.ai")["properties"]["spec"]["properties"]["subGroups"]
    assert groups["maxItems"] == 512
    assert groups["items"]["properties"]["name"]["maxLength"] == 63
    assert groups["items"]["required"] == ["name"]


def test_defaults_reach_an_absent_rollout_strategy() -> None:
    spec = schema("leaderworkersets.leaderworkerset.x-k8s.io")["properties"]["spec"]["properties"]
    strategy = spec["rolloutStrategy"]
    assert strategy["default"] == {}
    fields = strategy["properties"]["rollingUpdateConfiguration"]["properties"]
    assert {name: field["default"] for name, field in fields.items()} == {
        "maxUnavailable": 1,
        "maxSurge": 0,
        "partition": 0,
    }
    assert fields["maxSurge"]["x-kubernetes-int-or-string"] is True


def test_workloads_scale() -> None:
    scaled = [
        name for name, each in DEFINITIONS.items() if "scale" in each["spec"]["versions"][0]["subresources"]
    ]
    assert scaled == [
        "leaderworkersets.leaderworkerset.x-k8s.io",
        "rolebasedgroupscalingadapters.workloads.x-k8s.io",
    ]


def test_podgroups_show_groups_pods_and_phase_and_wide_the_reason() -> None:
    columns = DEFINITIONS["podgroups.scheduling.run.ai"]["spec"]["versions"][0]["additionalPrinterColumns"]
    assert [column["name"] for column in columns if not column.get("priority")][:3] == [
        "Groups",
        "Pods",
        "Phase",
    ]
    assert "Reason" in [column["name"] for column in columns if column.get("priority")]


def lws(**template: Any) -> Json:
    worker = {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "web"},
        "spec": {"leaderWorkerTemplate": {"size": 5, "workerTemplate": worker, **template}},
    }


def said(wire: Json, old: Json | None = None) -> list[str]:
    """What an API server without our webhooks says, without what it could not ask."""
    found = schema("leaderworkersets.leaderworkerset.x-k8s.io")
    complaints = [f'unknown field "{name}"' for name in customkind.complete(found, wire).complaints]
    before = old and customkind.complete(found, old).object
    causes = customkind.check(found, customkind.complete(found, wire).object, before).causes
    return [*complaints, *(f"{cause.field}: {cause.message}" for cause in causes if cause.field != "<nil>")]


TEMPLATE = "spec.leaderWorkerTemplate"
SIZE = f"{TEMPLATE}.subGroupPolicy.subGroupSize"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ({"workerTemplate": {"spec": {}}}, f"{TEMPLATE}.workerTemplate.spec.containers: Required value"),
        (
            {"leaderTemplate": {"spec": {"containers": [{"image": "b"}]}}},
            f"{TEMPLATE}.leaderTemplate.spec.containers[0].name: Required value",
        ),
        ({"size": 0}, f"{TEMPLATE}.size: Invalid value: 0: size must be equal or greater than 1"),
        (
            {"subGroupPolicy": {"subGroupSize": 3}},
            f"{SIZE}: Invalid value: size or size - 1 must be divisible by subGroupSize",
        ),
        (
            {"subGroupPolicy": {"subGroupSize": 0}},
            f"{SIZE}: Invalid value: 0: {SIZE} in body should be greater than or equal to 1",
        ),
    ],
)
def test_a_cluster_without_webhooks_names_the_field_of_a_set_that_is_wrong(template: Json, text: str) -> None:
    assert said(lws(**template)) == [text]


def test_a_misspelt_field_of_a_pod_template_is_told() -> None:
    wrong = {"spec": {"containers": [{"name": "a"}], "nodeSelektor": {}}}
    assert any("workerTemplate.spec.nodeSelektor" in text for text in said(lws(workerTemplate=wrong)))


def test_sub_groups_come_and_go_only_with_the_set() -> None:
    with_policy = lws(subGroupPolicy={"subGroupSize": 2})
    policy = f"{TEMPLATE}.subGroupPolicy"
    assert said(lws(), with_policy) == [f"{policy}: Invalid value: cannot remove subGroupSize after enabled"]
    text = "cannot enable subGroupSize after the lws is already created"
    assert said(with_policy, lws()) == [f"{policy}: Invalid value: {text}"]


def test_templates_are_made_from_the_data_of_the_embedded_server() -> None:
    made = runpy.run_path("tools/template_schemas.py")["made"]()
    assert {name: template_schema(name) for name in made} == made
