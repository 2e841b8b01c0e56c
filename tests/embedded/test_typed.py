import copy
from typing import Any

import msgspec
import pytest

from quorate.api.meta import Json
from quorate.embedded.shape import builtin
from quorate.embedded.typed import WrongTypeError, decode, duplicates, object_meta, strict_refusal

POD = builtin("", "v1", "Pod")
DEPLOYMENT = builtin("apps", "v1", "Deployment")


def container(**fields: Any) -> Json:
    return {"spec": {"containers": [{"name": "a", **fields}]}}


def read(tree: Json) -> Json:
    (found,) = decode(POD, tree).object["spec"]["containers"]
    return dict(found)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (
            {"spec": {"replicas": "3"}},
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            {"spec": {"replicas": 1.5}},
            "cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            {"spec": {"replicas": 3_000_000_000}},
            "number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            {"spec": {"paused": "yes"}},
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool",
        ),
        (
            {"spec": []},
            "cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            {"spec": {"template": {"spec": {"containers": [{"name": 7}]}}}},
            "into Go struct field Container.spec.template.spec.containers.name of type string",
        ),
        (
            {"spec": {"template": {"spec": {"containers": {}}}}},
            "object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        ({"metadata": {"creationTimestamp": "soon"}}, 'parsing time "soon" as "2006-01-02T15:04:05Z07:00"'),
    ],
)
def test_wrong_type_is_told_in_the_words_of_a_real_server(tree: Json, text: str) -> None:
    with pytest.raises(WrongTypeError) as refused:
        decode(DEPLOYMENT, tree)
    assert text in str(refused.value)


def test_bad_quantity_is_refused() -> None:
    with pytest.raises(WrongTypeError, match="quantities must match the regular expression"):
        decode(POD, container(resources={"requests": {"cpu": "many"}}))


def test_bad_base64_is_refused() -> None:
    with pytest.raises(WrongTypeError, match="illegal base64"):
        decode(builtin("", "v1", "Secret"), {"data": {"a": "%%"}})


def test_unknown_fields_are_left_out_and_named_by_path() -> None:
    decoded = decode(POD, {**container(imagee="x"), "foo": 1})
    assert decoded.complaints == ['unknown field "spec.containers[0].imagee"', 'unknown field "foo"']
    assert "imagee" not in decoded.object["spec"]["containers"][0]
    assert "foo" not in decoded.object


def test_strict_refusal_reads_as_a_real_one() -> None:
    text = strict_refusal("Pod", "v1", ['unknown field "spec.foo"', 'duplicate field "spec.bar"'])
    assert text == (
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
        'unknown field "spec.foo", duplicate field "spec.bar"'
    )


def test_zero_values_that_go_writes_are_filled_in() -> None:
    decoded = decode(DEPLOYMENT, {"spec": {"template": container()}})
    assert decoded.object["status"] == {}
    assert decoded.object["spec"]["strategy"] == {}
    assert decoded.object["spec"]["template"]["spec"]["containers"][0]["resources"] == {}


def test_nulls_and_empty_collections_are_dropped_but_empty_structs_stay() -> None:
    tree = {"metadata": {"labels": {}, "annotations": None}, "spec": {"volumes": [], "securityContext": {}}}
    found = decode(POD, tree).object
    assert found["metadata"] == {}
    assert "volumes" not in found["spec"]
    assert found["spec"]["securityContext"] == {}


def test_zeros_that_go_omits_are_dropped_but_those_behind_pointers_stay() -> None:
    tree = {"metadata": {"namespace": ""}, "spec": {"hostNetwork": False, "nodeName": "", "priority": 0}}
    found = decode(POD, tree).object
    assert found == {"metadata": {}, "spec": {"priority": 0}, "status": {}}


def test_port_gets_its_declared_default_protocol() -> None:
    assert read(container(ports=[{"containerPort": 80}]))["ports"] == [
        {"containerPort": 80, "protocol": "TCP"}
    ]


def test_quantities_and_times_take_their_canonical_form() -> None:
    assert read(container(resources={"limits": {"cpu": 0.5, "memory": "1024Mi"}}))["resources"] == {
        "limits": {"cpu": "500m", "memory": "1Gi"}
    }
    lease = builtin("coordination.k8s.io", "v1", "Lease")
    found = decode(lease, {"spec": {"renewTime": "2026-01-01T02:00:00.000000+02:00"}}).object
    assert found["spec"]["renewTime"] == "2026-01-01T00:00:00.000000Z"


def test_micro_time_needs_its_six_digits() -> None:
    lease = builtin("coordination.k8s.io", "v1", "Lease")
    with pytest.raises(WrongTypeError, match=r'cannot parse "Z" as "\.000000"'):
        decode(lease, {"spec": {"renewTime": "2026-01-01T00:00:00Z"}})


def test_int_or_string_takes_both() -> None:
    for value in (80, "http"):
        probe = {"httpGet": {"port": value}}
        assert read(container(livenessProbe=probe))["livenessProbe"]["httpGet"]["port"] == value


def test_decoding_twice_changes_nothing_and_the_argument_stays() -> None:
    tree = container(ports=[{"containerPort": 80}], resources={"limits": {"cpu": "1000m"}})
    before = copy.deepcopy(tree)
    once = decode(POD, tree).object
    assert tree == before
    assert decode(POD, once).object == once


def test_custom_metadata_is_typed() -> None:
    assert object_meta({"name": "a", "labels": None}).object == {"name": "a"}
    with pytest.raises(WrongTypeError, match=r"Go struct field ObjectMeta\.metadata\.labels"):
        object_meta({"labels": ["x"]})


@pytest.mark.parametrize(
    ("text", "complaints"),
    [
        (b'{"a": 1, "b": [{"c": 1, "c": 2}], "a": 3}', ['duplicate field "a"', 'duplicate field "b[0].c"']),
        (b'{"a" : 1, "b": "x\\":y", "c": {}}', []),
        (b'{"a":"10:20","b":{"c":1}}', []),
        (b"[]", []),
    ],
)
def test_duplicate_keys_are_found_in_the_text(text: bytes, complaints: list[str]) -> None:
    assert duplicates(text, msgspec.json.decode(text)) == complaints
