"""Why a field is refused: one `Cause` per finding, worded as apimachinery's field errors.

Validation collects causes; `errors.invalid` turns them into one 422 Status.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec


class Cause(NamedTuple):
    """One entry of `status.details.causes`."""

    reason: str
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def quoted(text: str) -> str:
    """The text as Go's %q prints it."""
    return msgspec.json.encode(text).decode()


def shown(value: Any) -> str:
    """A value as a field error shows it: JSON, which is also how Go prints strings, numbers and booleans."""
    return msgspec.json.encode(value).decode()


def _with_value(title: str, value: Any, detail: str) -> str:
    return f"{title}: {shown(value)}" + (f": {detail}" if detail else "")


def required(field: str, detail: str = "") -> Cause:
    return Cause("FieldValueRequired", field, "Required value" + (f": {detail}" if detail else ""))


def invalid(field: str, value: Any, detail: str) -> Cause:
    return Cause("FieldValueInvalid", field, _with_value("Invalid value", value, detail))


def type_invalid(field: str, value: Any, detail: str) -> Cause:
    return Cause("FieldValueTypeInvalid", field, _with_value("Invalid value", value, detail))


def not_supported(field: str, value: Any, supported: Sequence[str]) -> Cause:
    detail = f"supported values: {', '.join(quoted(item) for item in supported)}" if supported else ""
    return Cause("FieldValueNotSupported", field, _with_value("Unsupported value", value, detail))


def duplicate(field: str, value: Any) -> Cause:
    return Cause("FieldValueDuplicate", field, _with_value("Duplicate value", value, ""))


def not_found(field: str, value: Any) -> Cause:
    return Cause("FieldValueNotFound", field, _with_value("Not found", value, ""))


def forbidden(field: str, detail: str) -> Cause:
    return Cause("FieldValueForbidden", field, f"Forbidden: {detail}")


def too_long(field: str, limit: int) -> Cause:
    unit = "byte" if limit == 1 else "bytes"
    return Cause("FieldValueTooLong", field, f"Too long: may not be more than {limit} {unit}")


def too_many(field: str, actual: int, limit: int) -> Cause:
    items = "item" if limit == 1 else "items"
    detail = f"must have at most {limit} {items}"
    return Cause("FieldValueTooMany", field, f"Too many: {actual}: {detail}")
