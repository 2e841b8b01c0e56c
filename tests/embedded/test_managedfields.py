import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.api.meta import Json
from quorate.embedded import fieldset
from quorate.embedded.fieldwalk import applied, compare, created
from quorate.embedded.lastapplied import LAST_APPLIED
from quorate.embedded.managedfields import (
    ApplyConflict,
    InvalidConfiguration,
    Writer,
    apply,
    decode,
    track,
)
from quorate.embedded.shape import Shape, builtin, of_structural

DEPLOYMENT = builtin("apps", "v1", "Deployment")
POD = builtin("", "v1", "Pod")
GADGET = of_structural(
    {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                    "parts": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
                        },
                    },
                    "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        },
    }
)


def deployment(**spec: Any) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": spec,
    }


def gadget(**spec: Any) -> Json:
    return {"apiVersion": "x/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": spec}


def containers(*names: str) -> Json:
    return {"spec": {"containers": [{"name": name, "image": f"{name}:1"} for name in names]}}


def fields_of(whole: Json, manager: str) -> Json:
    found: Json = next(e["fieldsV1"] for e in whole["metadata"]["managedFields"] if e["manager"] == manager)
    return found


def applied_by(
    manager: str, live: Json, config: Json, *, force: bool = False, shape: Shape = DEPLOYMENT
) -> Json:
    return apply(
        shape, live, config, Writer(manager, config["apiVersion"]), f"time of {manager}", force=force
    )


def test_creating_a_pod_owns_what_a_real_server_says_it_owns() -> None:
    pod = {
        "metadata": {"name": "a", "labels": {"run": "a"}},
        "spec": {
            "containers": [
                {
                    "name": "a",
                    "image": "i",
                    "ports": [{"containerPort": 80, "protocol": "TCP"}],
                    "resources": {},
                }
            ]
        },
        "status": {},
    }
    fields = fields_of(track(POD, None, pod, Writer("kubectl", "v1"), "now"), "kubectl")
    assert fields["f:metadata"] == {"f:labels": {".": {}, "f:run": {}}}
    (key,) = fields["f:spec"]["f:containers"]
    assert key == 'k:{"name":"a"}'
    assert fields["f:spec"]["f:containers"][key] == {
        ".": {},
        "f:name": {},
        "f:image": {},
        "f:resources": {},
        "f:ports": {
            ".": {},
            'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}, "f:protocol": {}},
        },
    }


def test_what_a_kind_always_has_is_not_owned_by_being_empty() -> None:
    whole = deployment(replicas=1, strategy={}, template={"metadata": {}, **containers("a")})
    fields = fields_of(track(DEPLOYMENT, None, whole, Writer("k", "apps/v1"), "t"), "k")
    assert set(fields["f:spec"]) == {"f:replicas", "f:template"}
    assert set(fields["f:spec"]["f:template"]) == {"f:spec"}


def test_a_custom_object_owns_its_spec_itself() -> None:
    fields = fields_of(track(GADGET, None, gadget(size=1), Writer("me", "x/v1"), "now"), "me")
    assert fields == {"f:spec": {".": {}, "f:size": {}}}


def test_an_update_takes_only_the_changed_field_from_its_owner() -> None:
    first = track(DEPLOYMENT, None, deployment(replicas=1, paused=True), Writer("kubectl", "apps/v1"), "t1")
    changed = copy.deepcopy(first)
    changed["spec"]["replicas"] = 2
    second = track(DEPLOYMENT, first, changed, Writer("scaler", "apps/v1", "scale"), "t2")
    assert fields_of(second, "scaler") == {"f:spec": {"f:replicas": {}}}
    assert fields_of(second, "kubectl") == {"f:spec": {"f:paused": {}}}
    assert second["metadata"]["managedFields"][-1]["subresource"] == "scale"


def test_an_update_without_a_change_keeps_the_entries_and_their_time() -> None:
    first = track(DEPLOYMENT, None, deployment(replicas=1), Writer("kubectl", "apps/v1"), "t1")
    assert track(DEPLOYMENT, first, copy.deepcopy(first), Writer("other", "apps/v1"), "t2") == first


def test_an_update_that_sends_no_entries_does_not_lose_them() -> None:
    first = track(DEPLOYMENT, None, deployment(replicas=1), Writer("kubectl", "apps/v1"), "t1")
    second = track(DEPLOYMENT, first, deployment(replicas=1, paused=True), Writer("other", "apps/v1"), "t2")
    assert [e["manager"] for e in second["metadata"]["managedFields"]] == ["kubectl", "other"]


def test_an_empty_list_of_entries_resets_ownership() -> None:
    first = track(DEPLOYMENT, None, deployment(replicas=1), Writer("kubectl", "apps/v1"), "t1")
    reset = {**first, "metadata": {**first["metadata"], "managedFields": []}}
    assert "managedFields" not in track(DEPLOYMENT, first, reset, Writer("x", "apps/v1"), "t2")["metadata"]


def test_status_written_through_another_door_is_not_owned() -> None:
    whole = {**deployment(replicas=1), "status": {"replicas": 3}}
    written = track(DEPLOYMENT, None, whole, Writer("k", "apps/v1"), "t", {"f:status": {}})
    assert fields_of(written, "k") == {"f:spec": {"f:replicas": {}}}


def test_more_than_ten_updaters_become_ancient_changes() -> None:
    live = track(GADGET, None, gadget(limits={}), Writer("m00", "x/v1"), "t00")
    for number in range(1, 15):
        changed = copy.deepcopy(live)
        changed["spec"]["limits"][f"k{number}"] = number
        live = track(GADGET, live, changed, Writer(f"m{number:02}", "x/v1"), f"t{number:02}")
    managers = [e["manager"] for e in live["metadata"]["managedFields"]]
    assert len(managers) == 10
    assert "ancient-changes" in managers


def test_apply_conflicts_name_manager_version_and_field() -> None:
    live = track(
        DEPLOYMENT, None, deployment(replicas=3), Writer("kubectl-client-side-apply", "apps/v1"), "t1"
    )
    with pytest.raises(ApplyConflict) as refused:
        applied_by("me", live, deployment(replicas=5))
    assert str(refused.value) == (
        "Apply failed with 1 conflict: "
        'conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas'
    )
    assert refused.value.causes == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "kubectl-client-side-apply" using apps/v1',
            "field": ".spec.replicas",
        }
    ]


def test_force_takes_the_field_over() -> None:
    live = track(DEPLOYMENT, None, deployment(replicas=3), Writer("other", "apps/v1"), "t1")
    taken = applied_by("me", live, deployment(replicas=5), force=True)
    assert taken["spec"]["replicas"] == 5
    assert [e["manager"] for e in taken["metadata"]["managedFields"]] == ["me"]


def test_equal_values_are_owned_together_without_conflict() -> None:
    live = track(DEPLOYMENT, None, deployment(replicas=3), Writer("other", "apps/v1"), "t1")
    shared = applied_by("me", live, deployment(replicas=3))
    assert [e["manager"] for e in shared["metadata"]["managedFields"]] == ["me", "other"]


def test_a_field_no_longer_applied_goes_unless_somebody_owns_it() -> None:
    start = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    first = applied_by("me", start, deployment(replicas=3, paused=True, template=containers("a", "b")))
    second = applied_by("other", first, deployment(paused=True))
    third = applied_by("me", second, deployment(replicas=3, template=containers("b")))
    assert third["spec"]["paused"] is True
    assert [c["name"] for c in third["spec"]["template"]["spec"]["containers"]] == ["b"]
    fourth = applied_by("other", third, deployment())
    assert "paused" not in fourth["spec"]


def test_a_value_that_is_applied_as_null_is_no_longer_what_it_was() -> None:
    start = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    first = applied_by("me", start, deployment(replicas=3, template=containers("a")))
    second = applied_by("me", first, deployment(replicas=None, template=containers("a")))
    assert second["spec"]["replicas"] is None
    with pytest.raises(ApplyConflict, match="replicas"):
        applied_by("other", first, deployment(replicas=None))


def test_items_of_others_stay_in_an_associative_list() -> None:
    live = track(
        DEPLOYMENT, None, deployment(template=containers("side")), Writer("injector", "apps/v1"), "t1"
    )
    merged = applied_by("me", live, deployment(template=containers("main")))
    assert [c["name"] for c in merged["spec"]["template"]["spec"]["containers"]] == ["side", "main"]


def test_kubectl_takes_over_what_its_client_side_apply_has_set() -> None:
    config = deployment(replicas=3)
    annotated = copy.deepcopy(config)
    annotated["metadata"]["annotations"] = {
        LAST_APPLIED: '{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":3}}'
    }
    live = track(DEPLOYMENT, None, annotated, Writer("kubectl-client-side-apply", "apps/v1"), "t1")
    upgraded = applied_by("kubectl", live, deployment(replicas=4))
    assert upgraded["spec"]["replicas"] == 4
    assert '"replicas":4' in upgraded["metadata"]["annotations"][LAST_APPLIED]


def test_managed_fields_in_a_configuration_are_refused() -> None:
    config = deployment(replicas=1)
    config["metadata"]["managedFields"] = [{"manager": "x"}]
    with pytest.raises(InvalidConfiguration, match=r"metadata\.managedFields must be nil"):
        applied_by("me", deployment(), config)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"replica": 1}, ".spec.replica: field not declared in schema"),
        ({"replicas": "x"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"selector": []}, ".spec.selector: expected map, got &{[]}"),
        (
            {"template": containers("a", "a")},
            '.spec.template.spec.containers: duplicate entries for key [name="a"]',
        ),
    ],
)
def test_configuration_that_does_not_fit_its_kind_is_refused(spec: Json, text: str) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        applied_by("me", deployment(), deployment(**spec))
    assert "failed to create typed patch object (default/web; apps/v1, Kind=Deployment)" in str(refused.value)
    assert text in str(refused.value)


def test_item_without_its_keys_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match=r"\.spec\.parts: element 0: .* omits all key fields"):
        applied_by("me", gadget(), gadget(parts=[{"count": 1}]), shape=GADGET)


@pytest.mark.parametrize(
    "entry",
    [
        {"operation": "Destroy"},
        {"operation": "Update", "apiVersion": "v1"},
        {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"x:y": {}}},
        {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"k:{": {}}},
    ],
)
def test_entries_of_no_server_are_refused(entry: Json) -> None:
    with pytest.raises(fieldset.MalformedFields):
        decode([entry])


names = st.sampled_from(["a", "b", "c"])
counts = st.integers(0, 2)
# No empty lists: no path stands for one, so ownership cannot hold it (as on a real server).
parts = st.dictionaries(names, counts, min_size=1, max_size=3).map(
    lambda d: [{"name": n, "count": c} for n, c in d.items()]
)
tags = st.lists(names, unique=True, min_size=1, max_size=3)
free = st.recursive(counts, lambda inner: st.dictionaries(names, inner, max_size=2), max_leaves=4)
specs = st.fixed_dictionaries(
    {},
    optional={
        "size": counts,
        "tags": tags,
        "parts": parts,
        "limits": st.dictionaries(names, counts),
        "free": st.dictionaries(names, free, max_size=2),
    },
)
gadgets = specs.map(lambda spec: gadget(**spec))


@given(gadgets, gadgets)
def test_applying_twice_changes_nothing(live: Json, config: Json) -> None:
    once = applied_by("me", live, config, shape=GADGET)
    assert applied_by("me", once, copy.deepcopy(config), shape=GADGET) is once


@given(gadgets, gadgets, gadgets)
def test_the_last_configuration_decides_what_one_applier_leaves(one: Json, two: Json, three: Json) -> None:
    start = {"apiVersion": "x/v1", "kind": "Gadget", "metadata": {"name": "g"}}
    live = start
    for config in (one, two, three):
        live = applied_by("me", live, config, shape=GADGET)
    assert settled(live["spec"]) == settled(three["spec"])


def settled(spec: Any) -> Json:
    """A spec without empty parts, which removal may leave behind, and with the order of items set aside."""
    found: Json = {}
    for name, value in spec.items():
        if isinstance(value, dict):
            value = settled(value)  # noqa: PLW2901 - the value without its empty parts
        if value not in ({}, []):
            found[name] = sorted(value, key=str) if isinstance(value, list) else value
    return found


@given(gadgets, gadgets)
def test_sets_of_fields_obey_set_algebra(one: Json, two: Json) -> None:
    left, right = applied(GADGET, one), created(GADGET, two)
    both = fieldset.union(left, right)
    assert set(fieldset.paths(both)) == set(fieldset.paths(left)) | set(fieldset.paths(right))
    common = fieldset.intersection(left, right)
    assert set(fieldset.paths(common)) == set(fieldset.paths(left)) & set(fieldset.paths(right))
    rest = fieldset.difference(left, right)
    assert set(fieldset.paths(rest)) == set(fieldset.paths(left)) - set(fieldset.paths(right))


@given(gadgets)
def test_a_set_survives_its_wire_form(whole: Json) -> None:
    fields = created(GADGET, whole)
    assert fieldset.decode(fields) == fields


@given(gadgets, gadgets)
def test_comparing_there_and_back_mirrors(one: Json, two: Json) -> None:
    touched, removed = compare(GADGET, one, two)
    touched_back, removed_back = compare(GADGET, two, one)
    there = set(fieldset.paths(touched)) | set(fieldset.paths(removed))
    back = set(fieldset.paths(touched_back)) | set(fieldset.paths(removed_back))
    assert there == back
