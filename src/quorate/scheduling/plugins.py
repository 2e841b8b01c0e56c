"""Filters and scorers of other packages, found by entry point; docs/scheduling.md shows how to write one.

`quorate.filters` names functions `(snapshot, shape) -> bool[nodes]`: where pods of a shape may go at all.
`quorate.scorers` names functions `(trial, shape, nodes) -> float[nodes]`: what is added to the score of nodes.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from quorate.scheduling.policy import Filter, Policy, Scorer
from quorate.scheduling.snapshot import Bools, Floats, Ints, Snapshot
from quorate.scheduling.trial import Trial

FILTERS = "quorate.filters"
SCORERS = "quorate.scorers"


class PluginError(ValueError):
    """The message names the entry point and what is wrong with it."""


class Point(Protocol):
    """What is read of an `importlib.metadata.EntryPoint`."""

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...

    def load(self) -> Any: ...


def extended(policy: Policy, filters: Iterable[Point], scorers: Iterable[Point]) -> Policy:
    """The policy with the functions of installed packages, in the order of their names."""
    more = tuple(_filter(where, function) for where, function in _loaded(FILTERS, filters))
    scores = tuple(_scorer(where, function) for where, function in _loaded(SCORERS, scorers))
    return replace(policy, filters=(*policy.filters, *more), scorers=(*policy.scorers, *scores))


def _loaded(group: str, points: Iterable[Point]) -> list[tuple[str, Callable[..., Any]]]:
    found = []
    for point in sorted(points, key=lambda point: (point.name, point.value)):
        where = f"entry point {point.name} of {group} ({point.value})"
        try:
            function = point.load()
        except (ImportError, AttributeError) as error:
            raise PluginError(f"{where}: {error}") from error
        if not callable(function):
            raise PluginError(f"{where}: this is no function")
        found.append((where, function))
    return found


def _filter(where: str, function: Callable[..., Any]) -> Filter:
    def mask(snapshot: Snapshot, shape: int) -> Bools:
        found = np.asarray(function(snapshot, shape))
        if found.dtype != np.bool_ or found.shape != (len(snapshot.nodes.names),):
            raise PluginError(f"{where}: must return one bool for each node, got {found.dtype}{found.shape}")
        return found

    return mask


def _scorer(where: str, function: Callable[..., Any]) -> Scorer:
    def total(trial: Trial, shape: int, nodes: Ints | slice) -> Floats:
        found = np.asarray(function(trial, shape, nodes), dtype=np.float64)
        wanted = trial.idle[0][nodes].shape
        if found.shape != wanted or not np.isfinite(found).all():
            raise PluginError(f"{where}: must return one finite number for each node, got {found.shape}")
        return found

    return total
