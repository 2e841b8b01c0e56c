"""Reads YAML that people write, and says in one line what is wrong with it and where."""

from typing import TypeVar

import msgspec
import yaml

T = TypeVar("T")


class UnreadableError(ValueError):
    """The text is no YAML, or not of the wanted shape; the message names the place."""


def parsed(text: str, shape: type[T]) -> T:
    """The text as a value of the shape; an empty text is one with nothing set."""
    try:
        tree = yaml.load(text, Loader=yaml.CSafeLoader)
        return msgspec.convert({} if tree is None else tree, shape)
    except yaml.YAMLError as error:
        raise UnreadableError(f"this is not YAML: {fault(error)}") from error
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        raise UnreadableError(f"{where.strip('`.') or 'the file'}: {what}") from error


def fault(error: yaml.YAMLError) -> str:
    """As in "line 2, column 1: did not find expected ',' or ']'"."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return " ".join(str(error).split())
