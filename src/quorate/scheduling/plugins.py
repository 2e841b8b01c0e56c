"""Filters and scorers of other packages; docs/scheduling.md shows how to write one.

A filter is `(snapshot, shape) -> bool[nodes]`: where pods of a shape may go at all.
A scorer is `(trial, shape, nodes) -> float[nodes]`: what is added to the score of nodes.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from quorate.scheduling.policy import Filter, Policy, Scorer
from quorate.scheduling.snapshot import Bools, Floats, Ints, Snapshot
from quorate.scheduling.trial import Trial

Plugin = tuple[str, Callable[..., Any]]  # where it was found, for messages, and the function


class PluginError(ValueError):
    """What a function answered means nothing; the message says where it was found."""


def extended(policy: Policy, *, filters: Iterable[Plugin], scorers: Iterable[Plugin]) -> Policy:
    """The policy with the functions of installed packages, in their order."""
    more = tuple(_filter(where, function) for where, function in filters)
    scores = tuple(_scorer(where, function) for where, function in scorers)
    return replace(policy, filters=(*policy.filters, *more), scorers=(*policy.scorers, *scores))


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
