"""The rows of custom kinds, from the additionalPrinterColumns of their definition, and of kinds without columns."""

from collections.abc import Sequence
from typing import Any

import msgspec

from quorate.api.meta import Json
from quorate.embedded.tables.age import since
from quorate.embedded.tables.paths import find
from quorate.embedded.tables.printer import NAME, Cell, Column, Printer, columns, name

_AGE_PATH = ".metadata.creationTimestamp"
_NUMBERS = {"integer": int, "number": float}


def printer(definition: Json) -> Printer:
    """The printer of one served version; name and age where the definition names no columns."""
    named = definition.get("additionalPrinterColumns") or ()
    paths = [(column["jsonPath"], column["type"]) for column in named]
    if not paths:
        return Printer(columns(NAME, "Age"), lambda obj, now: _row(obj, now, ((_AGE_PATH, "date"),)))
    return Printer((NAME, *map(_column, named)), lambda obj, now: _row(obj, now, paths))


def _created(obj: Json, _now: float) -> list[Cell]:
    return [name(obj), obj["metadata"].get("creationTimestamp", "")]


# Built-in kinds without columns of their own show when they were made, not how old they are.
PLAIN = Printer((NAME, Column("Created At", "date")), _created)


def _column(column: Json) -> Column:
    described = column.get("description")
    return Column(
        column["name"],
        column["type"],
        column.get("priority", 0),
        column.get("format", ""),
        described or f"Custom resource definition column (in JSONPath format): {column['jsonPath']}",
    )


def _row(obj: Json, now: float, paths: Sequence[tuple[str, str]]) -> list[Cell]:
    return [name(obj), *(_cell(find(path, obj), kind, now) for path, kind in paths)]


def _cell(found: list[Any], kind: str, now: float) -> Cell:
    if not found or found[0] is None:
        return None
    value = found[0]
    if kind == "string":
        return value if isinstance(value, str) else _shown(value)
    if kind == "date":
        return _date(value, now)
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _NUMBERS[kind](value) if kind in _NUMBERS else None


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _date(value: Any, now: float) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        return since(value, now)
    except ValueError:
        return "<invalid>"
