"""Label selectors, read from text or an object; caches, budgets and affinity match labels with them."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from quorate.api.podspec import LabelSelector, LabelSelectorRequirement

_SET = re.compile(r"(?P<key>[^\s=!(),]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^\s=!(),]+)\s*(?P<operator>==|=|!=)\s*(?P<value>[^\s=!(),]*)")
_EXISTS = re.compile(r"(?P<absent>!?)\s*(?P<key>[^\s=!(),]+)")
_COMMA_OUTSIDE_SET = re.compile(r",(?![^()]*\))")


class SelectorError(ValueError):
    """A selector cannot be read."""


class Requirement(NamedTuple):
    """One test of a label; `values` sort so that equal selectors are equal."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        if self.operator == "In":
            return value in self.values
        if self.operator == "NotIn":
            return value not in self.values
        return _compares(value, self.operator, self.values)


Selector = tuple[Requirement, ...]
EVERYTHING: Selector = ()


def matches(selector: Selector, labels: Mapping[str, str] | None) -> bool:
    return all(requirement.matches(labels or {}) for requirement in selector)


def parse(text: str) -> Selector:
    """Read `a=b,c in (d, e),!f` as `kubectl -l` takes it."""
    if not text.strip():
        return EVERYTHING
    return tuple(_requirement(part.strip()) for part in _COMMA_OUTSIDE_SET.split(text))


def compiled(selector: LabelSelector | None) -> Selector | None:
    """The tests of an object's selector; a missing selector selects nothing, which is `None`."""
    if selector is None:
        return None
    equal = (Requirement(key, "In", (value,)) for key, value in sorted((selector.match_labels or {}).items()))
    return (*equal, *expressions(selector.match_expressions))


def expressions(wire: list[LabelSelectorRequirement] | None) -> Selector:
    """The tests of a list of `matchExpressions`, of label selectors and node selectors alike."""
    return tuple(
        Requirement(each.key, each.operator, tuple(sorted(each.values or ()))) for each in wire or ()
    )


def _requirement(text: str) -> Requirement:
    if found := _SET.fullmatch(text):
        values = tuple(sorted(value.strip() for value in found["values"].split(",")))
        return Requirement(found["key"], "In" if found["operator"] == "in" else "NotIn", values)
    if found := _EQUAL.fullmatch(text):
        return Requirement(found["key"], "NotIn" if found["operator"] == "!=" else "In", (found["value"],))
    if found := _EXISTS.fullmatch(text):
        return Requirement(found["key"], "DoesNotExist" if found["absent"] else "Exists")
    raise SelectorError(
        f'"{text}" is not a label selector: write "key=value", "key!=value", "key in (a,b)", "key" or "!key"'
    )


def _compares(value: str | None, operator: str, bounds: tuple[str, ...]) -> bool:
    """Gt and Lt of node selectors; a value that is no number never matches."""
    try:
        number, bound = int(value or ""), int(bounds[0] if bounds else "")
    except ValueError:
        return False
    return number > bound if operator == "Gt" else operator == "Lt" and number < bound
