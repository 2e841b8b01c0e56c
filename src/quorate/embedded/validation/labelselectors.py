"""Rules of label selectors inside objects, and whether one matches a set of labels."""

from collections.abc import Mapping

from quorate.api.meta import Json
from quorate.embedded.causes import Cause, forbidden, invalid, required
from quorate.embedded.selectors import Requirement
from quorate.embedded.validation import names

_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent"}


def label_selector(selector: Json | None, path: str) -> list[Cause]:
    found: list[Cause] = []
    for key, value in ((selector or {}).get("matchLabels") or {}).items():
        found += [invalid(f"{path}.matchLabels", key, message) for message in names.label_key(key)]
        found += [invalid(f"{path}.matchLabels", value, message) for message in names.label_value(value)]
    for index, term in enumerate((selector or {}).get("matchExpressions") or ()):
        found += _expression(term, f"{path}.matchExpressions[{index}]")
    return found


def _expression(term: Json, path: str) -> list[Cause]:
    operator, values = term.get("operator", ""), term.get("values") or []
    found: list[Cause] = []
    if operator in {"In", "NotIn"}:
        if not values:
            detail = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(required(f"{path}.values", detail))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{path}.values", detail))
    else:
        found.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    key = term.get("key", "")
    found += [invalid(f"{path}.key", key, message) for message in names.label_key(key)]
    for index, value in enumerate(values):
        found += [invalid(f"{path}.values[{index}]", value, message) for message in names.label_value(value)]
    return found


def requirements(selector: Json | None) -> tuple[Requirement, ...]:
    """The selector as terms that all must match; no selector gives no terms."""
    selector = selector or {}
    equal = [
        Requirement(key, "in", frozenset({value}))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    terms = [
        Requirement(term["key"], _OPERATORS[term["operator"]], frozenset(term.get("values") or ()))
        for term in selector.get("matchExpressions") or ()
    ]
    return (*equal, *terms)


def selects(selector: Json | None, labels: Mapping[str, str]) -> bool:
    return all(term.matches(labels) for term in requirements(selector))


def is_empty(selector: Json) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")
