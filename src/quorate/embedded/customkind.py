"""A custom kind by the schema of one of its versions: complete its objects, and check them.

The API server calls `schema_problems` when a CustomResourceDefinition is written, `complete` on every object it
reads, and `check` before it stores one. What is derived from a schema is kept with it.
"""

from typing import Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded import causes, listtypes, pruning, schemavalues, structural
from quorate.embedded.causes import Cause
from quorate.embedded.celrules import Rules, Verdict, check_rules, compile_rules
from quorate.embedded.schemavalues import ABSENT
from quorate.embedded.typed import Decoded, object_meta

_UNCHECKED = Cause(
    "FieldValueInvalid",
    "<nil>",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)
# With one of these a value is not of its schema's form, so rules could not be evaluated on it.
_BLOCKING = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)


class _Kept(NamedTuple):
    schema: Json  # kept so that its id is not given to another object
    rules: Rules | None


_kept: dict[int, _Kept] = {}
_MOST_KEPT = 512


def schema_problems(schema: Json, path: str) -> list[Cause]:
    """Why a definition with this schema is refused; `path` is the schema's place in it."""
    found = structural.problems(schema, path)
    compile_rules(schema, found, path)
    return found


def complete(schema: Json, tree: Json) -> Decoded:
    """The object with only known fields and with defaults, and what strict decoding would complain about."""
    complaints: list[str] = []
    whole = pruning.settled(schema, tree, complaints)
    if "metadata" in whole:
        metadata, unknown = object_meta(whole["metadata"] or {})
        whole["metadata"] = metadata
        complaints += unknown
    return Decoded(whole, sorted(complaints))


def check(schema: Json, new: Json, old: Json | None = None) -> Verdict:
    """What is wrong with an object: causes to refuse it, and warnings for what was wrong before."""
    before = ABSENT if old is None else old
    found = schemavalues.check(schema, new, before)
    found += listtypes.check_lists(schema, new)
    found += _embedded_problems(schema, new)
    if any(cause.reason in _BLOCKING for cause in found):
        return Verdict([*found, _UNCHECKED] if _rules(schema) is not None else found, [])
    verdict = check_rules(_rules(schema), new, before)
    return Verdict(found + verdict.causes, verdict.warnings)


def _embedded_problems(schema: Json, value: Any, path: str = "") -> list[Cause]:
    """Objects within the object must say what they are."""
    found: list[Cause] = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += _embedded_problems(schema.get("items") or {}, item, f"{path}[{index}]")
    elif isinstance(value, dict):
        if schema.get(pruning.EMBEDDED):
            found += [causes.required(f"{path}.{n}") for n in ("apiVersion", "kind") if not value.get(n)]
        properties: dict[str, Json] = schema.get("properties") or {}
        values = schema.get("additionalProperties")
        for name, child in value.items():
            below = properties.get(name, values)
            if isinstance(below, dict):
                found += _embedded_problems(below, child, f"{path}.{name}" if path else name)
    return found


def _rules(schema: Json) -> Rules | None:
    kept = _kept.get(id(schema))
    if kept is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        problems: list[Cause] = []
        rules = compile_rules(schema, problems)
        assert not problems, problems
        kept = _kept[id(schema)] = _Kept(schema, rules)
    return kept.rules
