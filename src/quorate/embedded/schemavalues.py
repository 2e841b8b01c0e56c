"""Values of custom objects against their OpenAPI schema, with the words of the real server.

On an update, a part that has not changed is not checked again, so that a tightened schema does not lock
objects that were there before. Uniqueness of lists is checked by listtypes, rules by celrules.
"""

import re
from functools import lru_cache
from typing import Any

import msgspec

from quorate.api.meta import Json
from quorate.embedded import causes, formats
from quorate.embedded.causes import Cause

ABSENT: Any = object()
# Where an error is about a whole alternative, the real server loses the path.
NOWHERE = "<nil>"


def check(schema: Json, value: Any, old: Any = ABSENT, path: str = "") -> list[Cause]:
    """What is wrong with the value; nothing where it equals the old one."""
    if old is not ABSENT and value == old:
        return []
    found: list[Cause] = []
    _check_type(schema, value, path, found)
    if value is None:
        return found
    _check_alternatives(schema, value, path, found)
    if isinstance(value, str):
        _check_string(schema, value, path, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(schema, value, path, found)
    elif isinstance(value, list):
        _check_list(schema, value, (old, path), found)
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        choices = [c if isinstance(c, str) else _shown(c) for c in schema["enum"]]
        found.append(causes.not_supported(path, value, choices))
    if isinstance(value, dict):
        _check_object(schema, value, (old, path), found)
    return found


def _invalid(path: str, value: Any, detail: str) -> Cause:
    return causes.invalid(path, value, f"{path} in body {detail}")


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _same(left: Any, right: Any) -> bool:
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def type_of(value: Any) -> str:
    """The JSON type of a value as schemas name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if -(2**63) <= value < 2**63 else "number"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _check_type(schema: Json, value: Any, path: str, found: list[Cause]) -> None:
    either = schema.get("x-kubernetes-int-or-string")
    wanted = "integer,string" if either else schema.get("type", "")
    actual = type_of(value)
    if not wanted or (actual == "null" and schema.get("nullable")):
        return
    if actual in wanted.split(",") or (wanted == "number" and actual == "integer"):
        if (
            actual == "string"
            and (name := schema.get("format"))
            and not either
            and not formats.fits(name, value)
        ):
            detail = f"{path} in body must be of type {name}: {_shown(value)}"
            found.append(causes.type_invalid(path, value, detail))
        return
    detail = f'{path} in body must be of type {wanted}: "{actual}"'
    found.append(causes.type_invalid(path, actual, detail))


def _check_alternatives(schema: Json, value: Any, path: str, found: list[Cause]) -> None:
    def composite(text: str) -> None:
        found.append(Cause("FieldValueInvalid", NOWHERE, f'Invalid value: "": "{path}" {text}'))

    if options := schema.get("anyOf"):
        failures = [check(option, value, path=path) for option in options]
        if all(failures):
            composite("must validate at least one schema (anyOf)")
            found += _fewest(failures)
    if options := schema.get("oneOf"):
        failures = [check(option, value, path=path) for option in options]
        valid = sum(not failure for failure in failures)
        if valid != 1:
            many = "Found none valid" if not valid else f"Found {valid} valid alternatives"
            composite(f"must validate one and only one schema (oneOf). {many}")
            found += _fewest(failures)
    if options := schema.get("allOf"):
        failures = [check(option, value, path=path) for option in options]
        for failure in failures:
            found += failure
        if any(failures):
            composite("must validate all the schemas (allOf)" + (". None validated" if all(failures) else ""))
    if "not" in schema and not check(schema["not"], value, path=path):
        composite("must not validate the schema (not)")


def _fewest(failures: list[list[Cause]]) -> list[Cause]:
    """What the alternative that came closest lacks."""
    fewest = min(len(failure) for failure in failures)
    return next(failure for failure in failures if len(failure) == fewest)


@lru_cache(maxsize=1024)
def go_pattern(pattern: str) -> re.Pattern[str]:
    """A Go regular expression as Python's, where the two differ in notation."""
    translated = pattern.replace(r"\z", r"\Z")
    if translated.endswith("$") and not translated.endswith(r"\$"):
        translated = translated[:-1] + r"\Z"
    return re.compile(translated, re.ASCII)


def _check_string(schema: Json, value: str, path: str, found: list[Cause]) -> None:
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    if longest is not None and len(value) > longest:
        found.append(causes.too_long(path, longest))
    if shortest is not None and len(value) < shortest:
        found.append(_invalid(path, value, f"should be at least {shortest} chars long"))
    pattern = schema.get("pattern")
    if pattern and not go_pattern(pattern).search(value):
        found.append(_invalid(path, value, f"should match '{pattern}'"))


def _number(value: float) -> str:
    """As Go's %v prints a number."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e21 else repr(value)


def _check_number(schema: Json, value: float, path: str, found: list[Cause]) -> None:
    if schema.get("type") == "integer" and not float(value).is_integer():
        why = f"Checked value must be of type integer (default format) in {path}"
        found.append(Cause("FieldValueInvalid", NOWHERE, f'Invalid value: "": {why}'))
    multiple, high, low = schema.get("multipleOf"), schema.get("maximum"), schema.get("minimum")
    if multiple and not float(value / multiple).is_integer():
        found.append(_invalid(path, value, f"should be a multiple of {_number(multiple)}"))
    if high is not None:
        exclusive = schema.get("exclusiveMaximum", False)
        if value > high or (exclusive and value == high):
            words = "less than" if exclusive else "less than or equal to"
            found.append(_invalid(path, value, f"should be {words} {_number(high)}"))
    if low is not None:
        exclusive = schema.get("exclusiveMinimum", False)
        if value < low or (exclusive and value == low):
            words = "greater than" if exclusive else "greater than or equal to"
            found.append(_invalid(path, value, f"should be {words} {_number(low)}"))


def _check_list(schema: Json, value: list[Any], where: tuple[Any, str], found: list[Cause]) -> None:
    old, path = where
    most, least = schema.get("maxItems"), schema.get("minItems")
    items = schema.get("items")
    if items:
        known = _by_key(schema, old)
        keys = schema.get("x-kubernetes-list-map-keys", ())
        for index, item in enumerate(value):
            before = known.get(_key(item, keys), ABSENT) if known else ABSENT
            found += check(items, item, before, f"{path}[{index}]")
    if least is not None and len(value) < least:
        found.append(_invalid(path, len(value), f"should have at least {least} items"))
    if most is not None and len(value) > most:
        found.append(causes.too_many(path, len(value), most))


def _by_key(schema: Json, old: Any) -> dict[str, Any]:
    """Items of the old list that can be told apart; only a list of maps has such."""
    if not isinstance(old, list) or schema.get("x-kubernetes-list-type") != "map":
        return {}
    keys = schema.get("x-kubernetes-list-map-keys", ())
    return {_key(item, keys): item for item in old}


def _key(item: Any, keys: list[str]) -> str:
    return _shown([item.get(key) for key in keys]) if isinstance(item, dict) else ""


def old_item(schema: Json, old: Any, item: Any) -> Any:
    """The old list's item with the same keys, ABSENT if there is none or items cannot be told apart."""
    return _by_key(schema, old).get(_key(item, schema.get("x-kubernetes-list-map-keys", [])), ABSENT)


def old_field(old: Any, name: str) -> Any:
    return old.get(name, ABSENT) if isinstance(old, dict) else ABSENT


def _check_object(schema: Json, value: Json, where: tuple[Any, str], found: list[Cause]) -> None:
    old, path = where
    properties: dict[str, Json] = schema.get("properties") or {}
    values = schema.get("additionalProperties")
    most, least = schema.get("maxProperties"), schema.get("minProperties")
    if least is not None and len(value) < least:
        found.append(_invalid(path, len(value), f"should have at least {least} properties"))
    if most is not None and len(value) > most:
        found.append(causes.too_many(path, len(value), most))
    for name, child in value.items():
        below = properties.get(name, values)
        if isinstance(below, dict):
            found += check(below, child, old_field(old, name), f"{path}.{name}" if path else name)
    found.extend(
        causes.required(f"{path}.{name}" if path else name)
        for name in schema.get("required", ())
        if name not in value
    )
