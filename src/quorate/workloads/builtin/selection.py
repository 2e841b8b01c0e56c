"""Label selectors as they stand in an object, tested against labels without decoding the object."""

from collections.abc import Mapping

from quorate.api.meta import Json
from quorate.api.selectors import Requirement

Labels = Mapping[str, str]


def matches(selector: Json | None, labels: Labels | None) -> bool:
    """An absent selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    has = labels or {}
    wanted = selector.get("matchLabels") or {}
    if any(has.get(key) != value for key, value in wanted.items()):
        return False
    return all(expression_holds(item, has) for item in selector.get("matchExpressions") or ())


def expression_holds(expression: Json, labels: Labels) -> bool:
    """One requirement of a label or node selector."""
    values = tuple(expression.get("values") or ())
    return Requirement(expression["key"], expression["operator"], values).matches(labels)
