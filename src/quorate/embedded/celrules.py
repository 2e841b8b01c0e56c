"""x-kubernetes-validations: the rules of a schema compiled once, checked on each create and update.

A rule sees `self`, and `oldSelf` where the old value can be told to be the same part; rules that use `oldSelf`
are skipped without one unless they take it as optional. A rule broken by a part that did not change is a
warning, not a refusal.
"""

import re
from typing import Any, NamedTuple

from cel import OptionalValue

from quorate.api.meta import Json
from quorate.embedded import causes
from quorate.embedded.causes import Cause
from quorate.embedded.cel import CompileError, EvaluationError, Expression, compiled
from quorate.embedded.celvalues import Converter, converter, undefined_field
from quorate.embedded.schemavalues import ABSENT, old_field, old_item

VALIDATIONS = "x-kubernetes-validations"
_VARIABLES = frozenset({"self", "oldSelf"})
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_FIELD_PART = re.compile(r"\.([\w-]+)|\['([^']+)'\]")
_FIELD_PATH = re.compile(rf"(?:{_FIELD_PART.pattern})+")


class Rule(NamedTuple):
    """One entry of x-kubernetes-validations."""

    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str
    field: str
    is_old_optional: bool

    @property
    def is_transition(self) -> bool:
        return "oldSelf" in self.expression.variables


class Rules(NamedTuple):
    """The rules of one schema and of what is below it; parts without any are left out."""

    schema: Json
    own: tuple[Rule, ...]
    convert: Converter | None
    fields: dict[str, "Rules"]
    values: "Rules | None"
    items: "Rules | None"


class Verdict(NamedTuple):
    """What broken rules come to."""

    causes: list[Cause]
    warnings: list[str]


def compile_rules(schema: Json, problems: list[Cause], path: str = "") -> Rules | None:
    """The rules at and below a schema; those that do not compile go to `problems`."""
    own = [
        rule
        for index, entry in enumerate(schema.get(VALIDATIONS) or ())
        if (rule := _rule(schema, entry, f"{path}.{VALIDATIONS}[{index}]", problems)) is not None
    ]
    fields = {
        name: rules
        for name, child in (schema.get("properties") or {}).items()
        if (rules := compile_rules(child, problems, f"{path}.properties[{name}]")) is not None
    }
    values, items = schema.get("additionalProperties"), schema.get("items")
    below = (
        compile_rules(values, problems, f"{path}.additionalProperties") if isinstance(values, dict) else None
    )
    each = compile_rules(items, problems, f"{path}.items") if isinstance(items, dict) else None
    if not (own or fields or below or each):
        return None
    return Rules(schema, tuple(own), converter(schema) if own else None, fields, below, each)


def _rule(schema: Json, entry: Json, path: str, problems: list[Cause]) -> Rule | None:
    source = entry.get("rule", "").strip()
    if not source:
        problems.append(causes.required(f"{path}.rule", "rule is not specified"))
        return None
    _check_texts(schema, entry, path, problems)
    expression = _compiled(
        schema, entry, ("rule", bool, "cel expression must evaluate to a bool"), path, problems
    )
    kind = ("messageExpression", str, "messageExpression must evaluate to a string")
    message_expression = _compiled(schema, entry, kind, path, problems)
    if expression is None:
        return None
    optional = bool(entry.get("optionalOldSelf"))
    if optional and "oldSelf" not in expression.variables:
        why = "may not be set if oldSelf is not used in rule"
        problems.append(causes.invalid(f"{path}.optionalOldSelf", value=True, detail=why))
    return Rule(
        expression,
        entry.get("message", "").strip() or f"failed rule: {source}",
        message_expression,
        entry.get("reason") or "FieldValueInvalid",
        entry.get("fieldPath", "").strip(),
        optional,
    )


def _check_texts(schema: Json, entry: Json, path: str, problems: list[Cause]) -> None:
    message, reason, field = (entry.get(member) or "" for member in ("message", "reason", "fieldPath"))
    if "\n" in entry["rule"].strip() and not message.strip():
        why = "message must be specified if rule contains line breaks"
        problems.append(causes.required(f"{path}.message", why))
    if "\n" in message.strip():
        problems.append(causes.invalid(f"{path}.message", message, "must not contain line breaks"))
    if reason and reason not in _REASONS:
        problems.append(causes.not_supported(f"{path}.reason", reason, _REASONS))
    if field and not _leads_somewhere(schema, field):
        problems.append(causes.invalid(f"{path}.fieldPath", field, "must be a valid path"))


def _leads_somewhere(schema: Json, field: str) -> bool:
    """Whether a path of names, plain or in brackets, leads to a part of the schema."""
    if not _FIELD_PATH.fullmatch(field):
        return False
    node: Any = schema
    for name, quoted in _FIELD_PART.findall(field):
        properties, values = node.get("properties") or {}, node.get("additionalProperties")
        node = properties.get(name or quoted, values if quoted else None)
        if not isinstance(node, dict):
            return False
    return True


def _compiled(
    schema: Json, entry: Json, kind: tuple[str, type, str], path: str, problems: list[Cause]
) -> Expression | None:
    member, result, otherwise = kind
    text = (entry.get(member) or "").strip()
    if not text:
        return None
    try:
        expression = compiled(text, _VARIABLES)
        undefined_field(schema, text)
    except CompileError as error:
        problems.append(causes.invalid(f"{path}.{member}", _as_printed(entry), str(error)))
        return None
    if not _yields(expression, result):
        problems.append(causes.invalid(f"{path}.{member}", _as_printed(entry), otherwise))
        return None
    return expression


def _yields(expression: Expression, result: type) -> bool:
    """Whether the value is of the type, as far as it can be known before there is anything to judge."""
    if expression.variables:
        return True
    try:
        return isinstance(expression.evaluate({}), result)
    except EvaluationError:
        return True


def _as_printed(entry: Json) -> Json:
    """A rule as the real server prints it: its Go struct, with Go's names."""
    return {
        "Rule": entry.get("rule", ""),
        "Message": entry.get("message", ""),
        "MessageExpression": entry.get("messageExpression", ""),
        "Reason": entry.get("reason"),
        "FieldPath": entry.get("fieldPath", ""),
        "OptionalOldSelf": entry.get("optionalOldSelf"),
    }


def check_rules(rules: Rules | None, value: Any, old: Any = ABSENT) -> Verdict:
    """What the rules say of a whole object, and of its change from the old one."""
    verdict = Verdict([], [])
    if rules is not None:
        _check(rules, value, old, "", verdict)
    return verdict


def _check(rules: Rules, value: Any, old: Any, path: str, verdict: Verdict) -> None:
    if value is None:
        return
    if rules.own:
        _check_own(rules, (value, old), path, verdict)
    if isinstance(value, dict):
        for name, child in value.items():
            if name in rules.fields:
                below = f"{path}.{name}" if path else name
                _check(rules.fields[name], child, old_field(old, name), below, verdict)
            elif rules.values is not None:
                _check(rules.values, child, old_field(old, name), f"{path}[{name}]", verdict)
    elif isinstance(value, list) and rules.items is not None:
        for index, item in enumerate(value):
            _check(rules.items, item, old_item(rules.schema, old, item), f"{path}[{index}]", verdict)


def _check_own(rules: Rules, pair: tuple[Any, Any], path: str, verdict: Verdict) -> None:
    value, old = pair
    has_old = old is not ABSENT and old is not None
    current = _seen(rules, value, path)
    before = _seen(rules, old, path) if has_old else None
    for rule in rules.own:
        variables: Json = {"self": current}
        if rule.is_old_optional:
            variables["oldSelf"] = OptionalValue.of(before) if has_old else OptionalValue.none()
        elif has_old:
            variables["oldSelf"] = before
        elif rule.is_transition:
            continue
        cause = _broken(rule, rules.schema, (value, variables), path)
        if cause is None:
            continue
        if has_old and not rule.is_transition and value == old:
            verdict.warnings.append(str(cause))
        else:
            verdict.causes.append(cause)


def _seen(rules: Rules, value: Any, path: str) -> Any:
    """The value as rules see it; of the root's metadata they see only the names."""
    if isinstance(value, dict) and "metadata" in value and (not path or "apiVersion" in value):
        metadata = value["metadata"] or {}
        names = {name: metadata[name] for name in ("name", "generateName") if name in metadata}
        value = {**value, "metadata": names}
    return value if rules.convert is None else rules.convert(value)


def _broken(rule: Rule, schema: Json, state: tuple[Any, Json], path: str) -> Cause | None:
    """The cause of a broken rule, None where it holds."""
    value, variables = state
    kind = schema.get("type", "")
    try:
        result = rule.expression.evaluate(variables)
    except EvaluationError as error:
        return causes.invalid(path or "<nil>", kind, _unevaluated(rule, str(error)))
    if result is True:
        return None
    field = f"{path}{'' if rule.field.startswith('[') or not path else '.'}{rule.field.removeprefix('.')}"
    where = (field if rule.field else path) or "<nil>"
    return _refusal(rule, (kind, value), where, _detail(rule, variables))


def _refusal(rule: Rule, of: tuple[str, Any], where: str, detail: str) -> Cause:
    kind, value = of
    match rule.reason:
        case "FieldValueForbidden":
            return causes.forbidden(where, detail)
        case "FieldValueRequired":
            return causes.required(where, detail)
        case "FieldValueDuplicate":
            return causes.duplicate(where, value)
        case _ if kind in {"object", "array"}:
            return Cause("FieldValueInvalid", where, f"Invalid value: {detail}")
        case _:
            return causes.invalid(where, value, detail)


def _unevaluated(rule: Rule, why: str) -> str:
    if why.startswith("no such overload"):
        return (
            f"'{why}': call arguments did not match a supported operator, "
            f"function or macro signature for rule: {_named(rule)}"
        )
    return f"{why} evaluating rule: {_named(rule)}"


def _named(rule: Rule) -> str:
    return rule.message.removeprefix("failed rule: ")


def _detail(rule: Rule, variables: Json) -> str:
    if rule.message_expression is not None:
        try:
            text = rule.message_expression.evaluate(variables)
        except EvaluationError:
            return rule.message
        if isinstance(text, str) and text.strip() and "\n" not in text:
            return text.strip()
    return rule.message
