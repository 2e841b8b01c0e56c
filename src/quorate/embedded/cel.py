"""CEL expressions: compiled once, evaluated on JSON values with the functions that Kubernetes offers.

`celrules` uses this for x-kubernetes-validations, webhooks for matchConditions. Of types only the
fields that are read from `self` are checked before evaluation; what else does not fit is found when the rule runs.
There is no cost budget; the limit on the length of an expression stands in for it.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

import cel
from cel import stdlib

from quorate.api.meta import Json
from quorate.embedded import celoptional
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
    return {**context.functions, **FUNCTIONS, celoptional.SELECT: celoptional.select}


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]


_LIBRARY = _library()


@lru_cache(maxsize=4096)
def compiled(source: str, known: frozenset[str]) -> Expression:
    """The expression over the known variables; CompileError says what is wrong with it."""
    if len(source) > LONGEST:
        raise CompileError(f"the expression is longer than {LONGEST} characters")
    try:
        program = cel.compile(celoptional.rewritten(source))
    except ValueError as error:
        raise CompileError(f"compilation failed: {_shown(error)}") from None
    bound = set(_MACRO_VARIABLE.findall(source))
    for name in program.variables():
        if name not in known and name not in bound and name not in _TYPES:
            raise located(
                source, _place(rf"\b{name}\b", source), f"undeclared reference to '{name}' (in container '')"
            )
    used = program.functions()
    for name in used:
        if name.isidentifier() and name not in _OFFERED:
            place = _place(rf"(?<=\b{name})\s*\(", source)
            raise located(source, place, f"undeclared reference to '{name}' (in container '')")
    # Namespaced functions are reported by their last part only, so offer those that share it.
    functions = {name: call for name, call in _LIBRARY.items() if _last_part(name) in used}
    return Expression(source, program, functions, frozenset(program.variables()) & known)


def _place(pattern: str, source: str) -> int:
    match = re.search(pattern, source)
    return match.start() if match else 0


def located(source: str, start: int, why: str) -> CompileError:
    """An error at a place in the source, shown with its line as cel-go shows it."""
    line = source[:start].count("\n") + 1
    column = start - (source.rfind("\n", 0, start) + 1)
    text = source.split("\n")[line - 1]
    return CompileError(
        f"compilation failed: ERROR: <input>:{line}:{column + 1}: {why}\n | {text}\n | {'.' * column}^"
    )


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


def _shown(error: Exception) -> str:
    """The engine's own report, with its line marked in the way of cel-go."""
    text = str(error)
    start = text.find("ERROR:")
    return text[start:].replace("\n|", "\n |") if start >= 0 else text


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
            return _FRAME.sub("", str(error)).partition(". Check")[0]


# What the engine wraps around the error of a function.
_FRAME = re.compile(r"^Function '\w+' error: Python function call failed: \w+: ")
