"""The JSON paths of printer columns: fields, indexes, wildcards and filters on equality.

`custom.py` turns what they find into cells. A path that cannot be read finds nothing.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

Step = Callable[[Any], Iterator[Any]]

_PART = re.compile(
    r"""\.?\[\?\(\s*@\.(?P<field>[^=!<>\s]+)\s*(?P<operator>==|!=)\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)\s*\)\]
      | \.?\[\s*(?P<index>-?\d+)\s*\]
      | \.?\[\s*(?P<all>\*)\s*\]
      | \.?\[\s*(?P<mark>["'])(?P<key>(?:\\.|[^\\])*?)(?P=mark)\s*\]
      | \.(?P<name>(?:\\.|[^.\[\]\\])+)
    """,
    re.VERBOSE,
)


def find(path: str, obj: Any) -> list[Any]:
    """All values at the path."""
    found = [obj]
    for step in _steps(path):
        found = [value for one in found for value in step(one)]
    return found


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[Step, ...]:
    path = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    if not path.startswith((".", "[")):
        path = f".{path}"
    steps: list[Step] = []
    position = 0
    while position < len(path):
        match = _PART.match(path, position)
        if match is None:
            return (_nothing,)
        steps.append(_step(match))
        position = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    if match["field"]:
        return _filter(match["field"], match["value"], equal=match["operator"] == "==")
    if match["index"]:
        return _index(int(match["index"]))
    if match["all"] or match["name"] == "*":
        return _every
    return _field(re.sub(r"\\(.)", r"\1", match["key"] or match["name"]))


def _nothing(_value: Any) -> Iterator[Any]:
    return iter(())


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _field(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _index(number: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= number < len(value):
            yield value[number]

    return step


def _filter(field: str, wanted: str, *, equal: bool) -> Step:
    def step(value: Any) -> Iterator[Any]:
        for one in value if isinstance(value, list) else ():
            if (find(field, one)[:1] == [wanted]) is equal:
                yield one

    return step
