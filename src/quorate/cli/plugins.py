"""Functions of installed packages, found by entry point; one that cannot be used is one line that names it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer

from quorate.cli.failures import fail


@dataclass(frozen=True)
class Plugin:
    name: str
    where: str  # the entry point, for messages
    function: Callable[..., Any]

    def refused(self, why: str) -> typer.Exit:
        return _unusable(self.where, why)


def installed(group: str) -> list[Plugin]:
    """What packages offer under the entry points of a group, in the order of their names."""
    return [_loaded(point) for point in sorted(entry_points(group=group), key=lambda at: (at.name, at.value))]


def _loaded(point: EntryPoint) -> Plugin:
    where = f"entry point {point.name} of {point.group} ({point.value})"
    try:
        function = point.load()
    except Exception as error:  # not our code: whatever its import raises is its own failure
        raise _unusable(where, f"{type(error).__name__}: {error}") from error
    if not callable(function):
        raise _unusable(where, "this is no function")
    return Plugin(point.name, where, function)


def _unusable(where: str, why: str) -> typer.Exit:
    return fail(f"{where}: {why}", remedy="uninstall the package or mend it")
