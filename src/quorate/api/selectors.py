"""Label selectors of objects: budgets, affinity and workloads match labels with them."""

from collections.abc import Mapping
from typing import NamedTuple

from quorate.api.podspec import LabelSelector, LabelSelectorRequirement


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


def matches(selector: Selector, labels: Mapping[str, str] | None) -> bool:
    return all(requirement.matches(labels or {}) for requirement in selector)


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


def _compares(value: str | None, operator: str, bounds: tuple[str, ...]) -> bool:
    """Gt and Lt of node selectors; a value that is no number never matches."""
    try:
        number, bound = int(value or ""), int(bounds[0] if bounds else "")
    except ValueError:
        return False
    return number > bound if operator == "Gt" else operator == "Lt" and number < bound
