from typing import Any

import pytest

from quorate.api.meta import Json
from quorate.embedded.cel import LONGEST, CompileError, EvaluationError, compiled
from quorate.embedded.customkind import check, schema_problems

SELF = frozenset({"self", "oldSelf"})


def evaluated(source: str, self: Any = None) -> Any:
    return compiled(source, SELF).evaluate({"self": self})


def ruled(*rules: Json, **properties: Json) -> Json:
    spec = {"type": "object", "properties": properties, "x-kubernetes-validations": list(rules)}
    return {"type": "object", "properties": {"spec": spec}}


def found(schema: Json, new: Json, old: Json | None = None) -> list[str]:
    before = None if old is None else {"spec": old}
    return [str(cause) for cause in check(schema, {"spec": new}, before).causes]


NUMBER: Json = {"type": "integer"}


@pytest.mark.parametrize(
    "source",
    [
        "quantity('1Gi').isLessThan(quantity('2G')) && quantity('500m').add(quantity('500m')).asInteger() == 1",
        "quantity('1').compareTo(quantity('1000m')) == 0 && isQuantity('1Ki') && !isQuantity('many')",
        "isIP('10.0.0.1') && ip('10.0.0.1').family() == 4 && ip.isCanonical('::1') && !isIP('x')",
        "cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').containsCIDR('10.2.0.0/16')",
        "cidr('10.0.0.0/8').prefixLength() == 8 && !isCIDR('10.0.0.1')",
        "url('https://a.b:80/p?x=1').getHostname() == 'a.b' && url('https://a.b:80/').getPort() == '80'",
        "isURL('https://a') && !isURL('../a')",
        "[1, 2, 3].isSorted() && ![2, 1].isSorted() && [1, 2].sum() == 3 && [3, 1].min() == 1",
        "[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && 'abca'.lastIndexOf('a') == 3",
        "'ab12'.find('[0-9]+') == '12' && 'a1b2'.findAll('[0-9]').size() == 2",
        "'%s-%d-%.2f-%x'.format(['a', 3, 1.5, 255]) == 'a-3-1.50-ff'",
        "!format.dns1123Label().validate('a-b').hasValue() && format.dns1123Label().validate('A').hasValue()",
        "math.greatest([1, 2]) == 2 && sets.contains([1, 2], [1]) && 'A'.lowerAscii() == 'a'",
        "[{'a': 1}].all(x, x.a == 1) && [1, 2].exists_one(x, x == 1) && [1].map(x, x + 1) == [2]",
        "timestamp('2026-01-01T00:00:00Z') < timestamp('2026-01-02T00:00:00Z') && duration('1h') > duration('1m')",
    ],
)
def test_functions_of_kubernetes_are_there(source: str) -> None:
    assert evaluated(source) is True


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("(", "Syntax error"),
        ("nowhere.x == 1", "undeclared reference to 'nowhere'"),
        ("self.nofunction()", "undeclared reference to 'nofunction'"),
        ("cel.bind(x, 1, x + 1)", "undeclared reference"),
        ("true" + " && true" * LONGEST, "longer than"),
    ],
)
def test_expression_that_cannot_work_is_refused_when_compiled(source: str, text: str) -> None:
    with pytest.raises(CompileError, match=text):
        compiled(source, SELF)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("self.?a.orValue(5)", 1),
        ("self.?z.orValue(5)", 5),
        ("self.?m.k.orValue('none')", "v"),
        ("self.?z.k.orValue('none')", "none"),
        ("self.m.?k.hasValue() && !self.m.?q.hasValue()", True),
        ("self.l[?1].orValue(0) + self.l[?7].orValue(10)", 12),
        ("self.l.map(x, x + self.?a.orValue(0))", [2, 3]),
        ("'a.?b' + self.?s.orValue('')", "a.?bt"),
        ("(self.?z.orValue(3) > 2) ? 'y' : 'n'", "y"),
    ],
)
def test_optional_access_works_as_in_cel(source: str, value: object) -> None:
    assert evaluated(source, {"a": 1, "m": {"k": "v"}, "l": [1, 2], "s": "t"}) == value


def test_operation_on_wrong_types_is_worded_as_on_a_real_server() -> None:
    schema = ruled({"rule": "self.p > 1"}, p={"x-kubernetes-int-or-string": True})
    assert found(schema, {"p": "a"}) == [
        (
            "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, "
            "function or macro signature for rule: self.p > 1"
        )
    ]


def test_missing_key_is_an_evaluation_error() -> None:
    with pytest.raises(EvaluationError, match="no such key: b"):
        evaluated("self.b == 1", {"a": 1})


def test_broken_rule_carries_its_message() -> None:
    schema = ruled({"rule": "self.a <= self.b", "message": "a must not exceed b"}, a=NUMBER, b=NUMBER)
    assert found(schema, {"a": 2, "b": 1}) == ["spec: Invalid value: a must not exceed b"]
    assert found(schema, {"a": 1, "b": 1}) == []


def test_rule_without_message_names_itself() -> None:
    assert found(ruled({"rule": "self.a > 0"}, a=NUMBER), {"a": 0}) == [
        "spec: Invalid value: failed rule: self.a > 0"
    ]


def test_message_expression_reason_and_field_path_are_used() -> None:
    rule = {
        "rule": "self.a > 0",
        "messageExpression": "'a is ' + string(self.a)",
        "reason": "FieldValueForbidden",
        "fieldPath": ".a",
    }
    assert found(ruled(rule, a=NUMBER), {"a": 0}) == ["spec.a: Forbidden: a is 0"]


def test_rule_that_cannot_be_evaluated_is_a_cause() -> None:
    assert found(ruled({"rule": "self.a > 0"}, a=NUMBER), {}) == [
        'spec: Invalid value: "object": no such key: a evaluating rule: self.a > 0'
    ]


def test_rule_on_a_value_shows_the_value() -> None:
    schema = ruled(
        a={"type": "integer", "x-kubernetes-validations": [{"rule": "self % 2 == 0", "message": "odd"}]}
    )
    assert found(schema, {"a": 3}) == ["spec.a: Invalid value: 3: odd"]


def test_transition_rule_runs_only_on_updates() -> None:
    schema = ruled({"rule": "self.a == oldSelf.a", "message": "a is immutable"}, a=NUMBER)
    assert found(schema, {"a": 1}) == []
    assert found(schema, {"a": 2}, {"a": 1}) == ["spec: Invalid value: a is immutable"]


def test_transition_rule_finds_the_old_item_by_its_key() -> None:
    item = {
        "type": "object",
        "required": ["n"],
        "properties": {"n": {"type": "string"}, "v": NUMBER},
        "x-kubernetes-validations": [{"rule": "self.v >= oldSelf.v", "message": "v may only grow"}],
    }
    items = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["n"],
    }
    old = {"l": [{"n": "a", "v": 5}, {"n": "b", "v": 1}]}
    new = {"l": [{"n": "b", "v": 2}, {"n": "a", "v": 4}]}
    assert found(ruled(l=items), new, old) == ["spec.l[1]: Invalid value: v may only grow"]


def test_optional_old_self_is_there_on_create_too() -> None:
    rule = {"rule": "oldSelf.hasValue() || self.a == 0", "message": "starts at 0", "optionalOldSelf": True}
    schema = ruled(rule, a=NUMBER)
    assert found(schema, {"a": 1}) == ["spec: Invalid value: starts at 0"]
    assert found(schema, {"a": 1}, {"a": 0}) == []


def test_rule_broken_by_an_unchanged_part_only_warns() -> None:
    schema = ruled({"rule": "self.a > 0", "message": "too small"}, a=NUMBER)
    schema["properties"]["other"] = NUMBER
    verdict = check(schema, {"spec": {"a": 0}, "other": 2}, {"spec": {"a": 0}, "other": 1})
    assert verdict.causes == []
    assert verdict.warnings == ["spec: Invalid value: too small"]


def test_rules_wait_until_the_types_are_right() -> None:
    schema = ruled({"rule": "self.a > 0"}, a=NUMBER)
    causes = found(schema, {"a": "x"})
    assert len(causes) == 2
    assert "some validation rules were not checked because the object was invalid" in causes[1]


def test_values_are_typed_and_names_escaped_by_the_schema() -> None:
    schema = ruled(
        {"rule": "self.ratio < 1.5 && self.__namespace__ == 'x' && self.a__dash__b == 1"},
        {"rule": "self.when < timestamp('2027-01-01T00:00:00Z') && self.grace > duration('1m')"},
        ratio={"type": "number"},
        namespace={"type": "string"},
        when={"type": "string", "format": "date-time"},
        grace={"type": "string", "format": "duration"},
        **{"a-b": NUMBER},
    )
    value = {"ratio": 1, "namespace": "x", "a-b": 1, "when": "2026-01-01T00:00:00Z", "grace": "1h30m"}
    assert found(schema, value) == []


def test_root_rule_sees_only_names_of_the_metadata() -> None:
    schema = {
        "type": "object",
        "x-kubernetes-validations": [{"rule": "self.metadata.name == 'a' && !has(self.metadata.labels)"}],
    }
    assert check(schema, {"metadata": {"name": "a", "labels": {"x": "y"}}}).causes == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ({"rule": ""}, "rule: Required value: rule is not specified"),
        ({"rule": "self.a >"}, "compilation failed"),
        ({"rule": "true\n&& true"}, "message must be specified if rule contains line breaks"),
        ({"rule": "true", "messageExpression": "nope"}, "messageExpression: Invalid value"),
        ({"rule": "true", "messageExpression": "1"}, "messageExpression must evaluate to a string"),
        ({"rule": "1"}, "cel expression must evaluate to a bool"),
        (
            {"rule": "self.a.nope > 1"},
            "type 'int' does not support field selection\n | self.a.nope > 1\n | ......^",
        ),
        ({"rule": "self.nope > 1"}, "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^"),
        ({"rule": "foo(self)"}, "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')"),
        (
            {"rule": "true", "message": "a\nb"},
            'message: Invalid value: "a\\nb": must not contain line breaks',
        ),
        ({"rule": "true", "reason": "Nope"}, 'reason: Unsupported value: "Nope"'),
        ({"rule": "true", "fieldPath": ".zzz"}, 'fieldPath: Invalid value: ".zzz": must be a valid path'),
        ({"rule": "true", "optionalOldSelf": True}, "may not be set if oldSelf is not used in rule"),
    ],
)
def test_bad_rule_is_refused_with_the_definition(rule: Json, text: str) -> None:
    causes = [str(cause) for cause in schema_problems(ruled(rule, a=NUMBER), "s")]
    assert any(text in cause for cause in causes), causes
