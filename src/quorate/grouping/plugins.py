"""Groupers of other packages: one function a kind, found by entry point.

The entry point `CustomJob.example.com` of the group `quorate.groupers` names the function that takes a
`Subject` and answers a `Shape`. A function that fails holds up the pods of its kind only.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from quorate.grouping.errors import GroupingError, MalformedError
from quorate.grouping.mapping import group_kind
from quorate.grouping.paths import PathError
from quorate.grouping.subject import Extensions, Rules, Shape, Subject

ENTRY_POINTS = "quorate.groupers"


class PluginError(ValueError):
    """The message names the entry point."""


class Point(Protocol):
    """What is read of an `importlib.metadata.EntryPoint`."""

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...

    def load(self) -> Any: ...


def load(points: Iterable[Point]) -> Extensions:
    kinds: dict[tuple[str, str], Rules] = {}
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        where = f"entry point {point.name} of {ENTRY_POINTS} ({point.value})"
        try:
            named = group_kind(point.name)
            function = point.load()
        except (PathError, ImportError, AttributeError) as error:
            raise PluginError(f"{where}: {error}") from error
        if not callable(function):
            raise PluginError(f"{where}: this is no function; it must take a Subject and return a Shape")
        if named in kinds:
            raise PluginError(f"{where}: another package groups this kind too; uninstall one of them")
        kinds[named] = guarded(function, point.name)
    return Extensions(kinds)


def guarded(function: Rules, name: str) -> Rules:
    """The function, with every failure of it as a refusal that names it."""

    def rules(subject: Subject) -> Shape:
        try:
            shape = function(subject)
        except GroupingError:
            raise
        except Exception as error:  # not our code: whatever it raises is its own failure
            raise MalformedError(
                f"the grouper of {name} failed: {type(error).__name__}: {error}; report it to its authors"
            ) from error
        if not isinstance(shape, Shape):
            raise MalformedError(
                f"the grouper of {name} returned {type(shape).__name__}, not a Shape; report it to its authors"
            )
        return shape

    return rules


def joined(*extensions: Extensions) -> Extensions:
    """All of them; where two know a kind, the later one wins."""
    kinds: dict[tuple[str, str], Rules] = {}
    wrappers: frozenset[tuple[str, str]] = frozenset()
    for each in extensions:
        kinds |= each.kinds
        wrappers |= each.wrappers
    return Extensions(kinds, wrappers)
