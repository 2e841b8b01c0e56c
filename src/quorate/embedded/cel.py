"""CEL expressions: compiled once, evaluated on JSON values with the functions that Kubernetes offers.

`celrules` uses this for x-kubernetes-validations, webhooks for matchConditions. Types are not checked before
evaluation as a real server does: a field that the schema does not have is found when the rule runs. There is
no cost budget; the limit on the length of an expression stands in for it.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

import cel
from cel import stdlib

from quorate.api.meta import Json
from quorate.embedded.celfunctions import FUNCTIONS

LONGEST = 16_384

_MACRO_VARIABLE = re.compile(r"\.(?:all|exists|exists_one|existsOne|map|filter)\(\s*(\w+)\s*,")


class CompileError(ValueError):
    """An expression that is no CEL, or uses what is not there."""


class EvaluationError(Exception):
    """An expression that could not be evaluated on these values."""


class Expression(NamedTuple):
    """A compiled expression with the functions and variables that it uses."""

    source: str
    program: cel.Program
    functions: dict[str, Any]
    variables: frozenset[str]

    def evaluate(self, variables: Json) -> Any:
        """The value; EvaluationError with the words of cel-go where it has none."""
        try:
            return self.program.execute(cel.Context(variables, self.functions))
        except Exception as error:  # noqa: BLE001 - the engine raises builtin errors of many classes
            raise EvaluationError(_explained(error)) from None


def _library() -> dict[str, Any]:
    context = cel.Context()
    stdlib.add_stdlib_to_context(context)
    return {**context.functions, **FUNCTIONS}


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


_LIBRARY = _library()


@lru_cache(maxsize=4096)
def compiled(source: str, known: frozenset[str]) -> Expression:
    """The expression over the known variables; CompileError says what is wrong with it."""
    if len(source) > LONGEST:
        raise CompileError(f"the expression is longer than {LONGEST} characters")
    try:
        program = cel.compile(source)
    except ValueError as error:
        raise CompileError(f"compilation failed: {_first_line(error)}") from None
    bound = set(_MACRO_VARIABLE.findall(source))
    for name in program.variables():
        if name not in known and name not in bound and name not in _TYPES:
            raise CompileError(f"compilation failed: undeclared reference to '{name}' (in container '')")
    used = program.functions()
    for name in used:
        if name.isidentifier() and name not in _OFFERED:
            raise CompileError(f"compilation failed: undeclared reference to '{name}' (in container '')")
    # Namespaced functions are reported by their last part only, so offer those that share it.
    functions = {name: call for name, call in _LIBRARY.items() if _last_part(name) in used}
    return Expression(source, program, functions, frozenset(program.variables()) & known)


_TYPES = frozenset({
    "bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type", "timestamp",
    "duration", "math", "optional", "ip", "format", "base64", "sets", "strings", "lists",
})  # fmt: skip
_NATIVE = frozenset({
    "size", "contains", "startsWith", "endsWith", "matches", "int", "uint", "double", "string", "bytes", "bool",
    "dyn", "type", "timestamp", "duration", "has", "all", "exists", "exists_one", "existsOne", "map", "filter",
    "getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getHours",
    "getMinutes", "getSeconds", "getMilliseconds", "of", "none", "ofNonZeroValue", "value", "hasValue", "or",
    "orValue",
})  # fmt: skip


_OFFERED = _NATIVE | {_last_part(name) for name in _LIBRARY}


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    return next(
        (line for line in lines if line.startswith("ERROR:")), lines[0].partition(": ")[2] or lines[0]
    )


def _explained(error: Exception) -> str:
    match error:
        case KeyError():
            return f"no such key: {error.args[0]}"
        case IndexError():
            return str(error)
        case ZeroDivisionError():
            return "division by zero"
        case OverflowError():
            return "integer overflow"
        case TypeError():
            return "no such overload"
        case _:
            return str(error).partition(". Check")[0]
