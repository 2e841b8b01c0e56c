"""Values as Go prints them, for messages that a real server makes with %v."""

from typing import Any


def go_value(value: Any) -> str:
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case list():
            return f"[{' '.join(go_value(item) for item in value)}]"
        case dict():
            return f"map[{' '.join(f'{name}:{go_value(value[name])}' for name in sorted(value))}]"
        case _:
            return str(value)


def json_kind(value: Any) -> str:
    """What Go's JSON decoder calls a value that it cannot use."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
