from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.api.meta import Json
from quorate.embedded.customkind import check, complete, schema_problems
from quorate.embedded.typed import WrongTypeError

GADGET: Json = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
                "mode": {"type": "string", "enum": ["fast", "slow"]},
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "minLength": 1},
                "port": {"x-kubernetes-int-or-string": True},
                "when": {"type": "string", "format": "date-time"},
                "note": {"type": "string", "nullable": True},
                "ratio": {"type": "number", "exclusiveMinimum": True, "minimum": 0},
                "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "parts": {
                    "type": "array",
                    "maxItems": 3,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "count": {"type": "integer", "default": 2},
                        },
                    },
                },
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "free": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}},
                },
                "nested": {
                    "type": "object",
                    "default": {},
                    "properties": {"depth": {"type": "integer", "default": 3}},
                },
                "one": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                },
                "template": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
            },
        },
    },
}


def gadget(**spec: Any) -> Json:
    return {"apiVersion": "x/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"size": 1, **spec}}


def completed(**spec: Any) -> Json:
    found: Json = complete(GADGET, gadget(**spec)).object["spec"]
    return found


def texts(**spec: Any) -> list[str]:
    return [str(cause) for cause in check(GADGET, gadget(**spec)).causes]


def test_unknown_fields_are_pruned_and_named() -> None:
    tree = {**gadget(extra=1, parts=[{"name": "a", "zzz": 1}]), "more": {}}
    decoded = complete(GADGET, tree)
    assert decoded.complaints == [
        'unknown field "more"',
        'unknown field "spec.extra"',
        'unknown field "spec.parts[0].zzz"',
    ]
    assert decoded.object["spec"]["parts"] == [{"name": "a", "count": 2}]


def test_preserved_fields_stay_but_known_ones_below_are_pruned() -> None:
    assert completed(free={"x": {"y": 1}, "known": {"a": "1", "b": 2}})["free"] == {
        "x": {"y": 1},
        "known": {"a": "1"},
    }


def test_defaults_are_filled_in_at_every_depth() -> None:
    assert completed()["nested"] == {"depth": 3}
    assert complete(GADGET, {"spec": {}}).object["spec"]["size"] == 1


def test_null_gives_way_to_a_default_or_goes_or_stays_where_allowed() -> None:
    found = completed(size=None, name=None, note=None)
    assert found["size"] == 1
    assert "name" not in found
    assert found["note"] is None


def test_valid_object_has_no_causes() -> None:
    assert not texts(
        mode="fast", name="abc", port="http", when="2026-01-01T00:00:00Z", note=None, ratio=1, one={"a": 1}
    )


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"size": -1},
            "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0",
        ),
        ({"size": 10}, "spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9"),
        ({"ratio": 0}, "spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0"),
        (
            {"size": "x"},
            'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        ),
        (
            {"size": None},
            'spec.size: Invalid value: "null": spec.size in body must be of type integer: "null"',
        ),
        (
            {"port": 1.5},
            'spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"',
        ),
        ({"mode": "x"}, 'spec.mode: Unsupported value: "x": supported values: "fast", "slow"'),
        ({"name": "A"}, "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+$'"),
        ({"name": ""}, 'spec.name: Invalid value: "": spec.name in body should be at least 1 chars long'),
        ({"name": "abcdef"}, "spec.name: Too long: may not be more than 5 bytes"),
        (
            {"when": "soon"},
            'spec.when: Invalid value: "soon": spec.when in body must be of type date-time: "soon"',
        ),
        ({"parts": [{"count": 1}]}, "spec.parts[0].name: Required value"),
        ({"parts": [{"name": n} for n in "abcd"]}, "spec.parts: Too many: 4: must have at most 3 items"),
        ({"parts": [{"name": "a"}, {"name": "a"}]}, 'spec.parts[1]: Duplicate value: {"name":"a"}'),
        ({"tags": ["a", "b", "a"]}, 'spec.tags[2]: Duplicate value: "a"'),
        (
            {"labels": {"a": 1}},
            'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
        ),
        (
            {"one": {"a": 1, "b": 2}},
            (
                '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). '
                "Found 2 valid alternatives"
            ),
        ),
        ({"one": {}}, "spec.one.a: Required value"),
    ],
)
def test_invalid_value_is_told_in_the_words_of_a_real_server(spec: Json, text: str) -> None:
    assert text in texts(**spec)


def test_missing_required_field_is_named() -> None:
    assert [str(c) for c in check(GADGET, {"kind": "Gadget"}).causes] == ["spec: Required value"]


def test_what_did_not_change_is_not_checked_again() -> None:
    assert not check(GADGET, gadget(size=99, mode="fast"), gadget(size=99)).causes
    assert check(GADGET, gadget(size=98), gadget(size=99)).causes


def test_embedded_object_must_say_what_it_is_and_has_typed_metadata() -> None:
    assert texts(template={"kind": "Pod"}) == ["spec.template.apiVersion: Required value"]
    with pytest.raises(WrongTypeError, match=r"spec\.template\.kind: Invalid value: 5: must be a string"):
        completed(template={"kind": 5})
    with pytest.raises(WrongTypeError, match=r"Go struct field ObjectMeta\.labels of type string"):
        completed(template={"metadata": {"labels": {"a": 1}}})
    assert completed(template={"metadata": {"name": "a", "zzz": 1}})["template"]["metadata"] == {"name": "a"}


def test_whole_floats_are_stored_as_integers() -> None:
    assert repr(completed(size=1.0)["size"]) == "1"


def test_patterns_do_not_match_before_a_trailing_newline() -> None:
    assert texts(name="ab\n")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, "s.type: Required value: must not be empty at the root"),
        ({"type": "string"}, 's.type: Invalid value: "string": must be object at the root'),
        (
            {"type": "object", "properties": {"a": {}}},
            "s.properties[a].type: Required value: must not be empty for specified object fields",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "array"}}},
            "s.properties[a].items: Required value: must be specified",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "float"}}},
            (
                's.properties[a].type: Unsupported value: "float": supported values: '
                '"array", "boolean", "integer", "number", "object", "string"'
            ),
        ),
        ({"type": "object", "$ref": "#/x"}, "s.$ref: Forbidden: $ref is not supported"),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            "s.additionalProperties: Forbidden: must not be used at the root",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
            's.properties[a].pattern: Invalid value: "(": must be a valid regular expression',
        ),
        (
            {"type": "object", "properties": {"metadata": {"type": "object", "required": ["labels"]}}},
            "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName",
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string", "anyOf": [{"type": "string"}]}},
            },
            "s.properties[a].anyOf[0].type: Forbidden: must be empty to be structural",
        ),
        (
            {"type": "object", "anyOf": [{"properties": {"a": {"minimum": 1}}}]},
            "s.properties[a]: Required value: because it is defined in s.anyOf[0].properties[a]",
        ),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}
                },
            },
            "s.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}},
            's.properties[a].default: Invalid value: "string"',
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "object", "x-kubernetes-validations": [{"rule": "("}]}},
            },
            "s.properties[a].x-kubernetes-validations[0].rule: Invalid value",
        ),
    ],
)
def test_schema_that_is_not_structural_is_refused(schema: Json, text: str) -> None:
    found = [str(cause) for cause in schema_problems(schema, "s")]
    assert any(text in cause for cause in found), found


def test_int_or_string_may_be_spelled_out() -> None:
    both = [{"type": "integer"}, {"type": "string"}]
    node = {"x-kubernetes-int-or-string": True, "anyOf": both}
    assert not schema_problems({"type": "object", "properties": {"a": node}}, "s")


def test_the_schema_of_these_tests_is_structural() -> None:
    assert not schema_problems(GADGET, "s")


# Without the embedded object, which is checked as a whole each time.
fields = st.sampled_from([name for name in GADGET["properties"]["spec"]["properties"] if name != "template"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 15) | st.sampled_from(["", "a", "fast", "Z"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["size", "name", "parts", "free", "x"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(fields | st.just("zzz"), values))
def test_completing_twice_is_completing_once(spec: Json) -> None:
    once = complete(GADGET, {"spec": spec})
    again = complete(GADGET, once.object)
    assert again.object == once.object
    assert not again.complaints


@given(st.dictionaries(fields, values))
def test_checking_any_tree_ends_and_its_own_repetition_is_accepted(spec: Json) -> None:
    whole = gadget(**spec)
    check(GADGET, whole)
    unchanged = check(GADGET, whole, whole).causes
    # Lists are checked as wholes, so what is wrong with them is told again.
    assert all(
        cause.reason == "FieldValueDuplicate" or "list-type map" in cause.message for cause in unchanged
    )
