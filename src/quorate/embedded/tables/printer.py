"""What a kind's rows are made of: columns and a function that gives one object's cells.

Each printer module lists its kinds; `quorate.embedded.tables` holds them all in one table.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from quorate.api.meta import Json
from quorate.embedded.tables.age import since

Cell = str | int | float | bool | None
Cells = Callable[[Json, float], list[Cell]]


class Column(NamedTuple):
    name: str
    type: str = "string"
    # Columns of priority 1 are shown by `-o wide` only.
    priority: int = 0
    format: str = ""
    description: str = ""

    @property
    def definition(self) -> Json:
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        }


class Printer(NamedTuple):
    columns: tuple[Column, ...]
    cells: Cells


NAME = Column("Name", format="name")
CONTAINERS = (Column("Containers", priority=1), Column("Images", priority=1))
SELECTOR = Column("Selector", priority=1)
_SHOWN = 3  # items of a list in one cell


def columns(*spec: str | Column) -> tuple[Column, ...]:
    """Columns from names: a leading `#` is an integer, a leading `?` a boolean, a trailing `+` wide only."""
    return tuple(one if isinstance(one, Column) else _column(one) for one in spec)


def _column(spec: str) -> Column:
    name = spec.strip("#?+")
    kind = {"#": "integer", "?": "boolean"}.get(spec[0], "string")
    return Column(name, kind, int(spec.endswith("+")))


def name(obj: Json) -> str:
    found: str = obj["metadata"].get("name", "")
    return found


def age(obj: Json, now: float) -> str:
    return since(obj["metadata"].get("creationTimestamp"), now)


def fields(obj: Json, *path: str) -> Any:
    """The value at a path, or an empty object where a step is missing."""
    found: Any = obj
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
        if found is None:
            return {}
    return found


def count(obj: Json, *path: str) -> int:
    """The number at a path; 0 where there is none."""
    return fields(obj, *path) or 0


def text(obj: Json, *path: str, absent: str = "") -> str:
    """The text at a path, or what stands for its absence."""
    found = fields(obj, *path)
    return str(found) if found not in ({}, "") else absent


def of_containers(spec: Json) -> list[Cell]:
    """Names and images of a pod spec's containers."""
    found = spec.get("containers") or []
    return [",".join(str(one.get(field, "")) for one in found) for field in ("name", "image")]


def pairs(labels: Mapping[str, str] | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or "<none>"


def selector(value: Json | None) -> str:
    """A label selector in the short form."""
    terms = [f"{key}={one}" for key, one in ((value or {}).get("matchLabels") or {}).items()]
    for term in (value or {}).get("matchExpressions") or ():
        key, listed = term.get("key", ""), ",".join(sorted(term.get("values") or ()))
        match term.get("operator"):
            case "In":
                terms.append(f"{key} in ({listed})")
            case "NotIn":
                terms.append(f"{key} notin ({listed})")
            case "Exists":
                terms.append(key)
            case _:
                terms.append(f"!{key}")
    return ",".join(sorted(terms)) or "<none>"


def condition_is_true(conditions: Iterable[Json] | None, kind: str) -> bool:
    return any(one.get("type") == kind and one.get("status") == "True" for one in conditions or ())


def shortened(items: list[str]) -> str:
    shown = ",".join(items[:_SHOWN])
    return f"{shown} + {len(items) - _SHOWN} more..." if len(items) > _SHOWN else shown
