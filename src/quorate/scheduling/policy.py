"""The settings of a cycle, and what third parties may add to it.

A filter narrows where pods of a shape may go, a scorer orders nodes: arrays in, arrays out, one call per
shape and cycle for filters, refreshed for touched nodes for scores. Further ones are added as tuples, not by
flags.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from quorate.scheduling import fit, score
from quorate.scheduling.minruntime import Method
from quorate.scheduling.snapshot import GPU, Bools, Floats, Ints, Snapshot
from quorate.scheduling.trial import Trial

Filter = Callable[[Snapshot, int], Bools]
Scorer = Callable[[Trial, int, Ints | slice], Floats]


class Action(StrEnum):
    """What a cycle tries, in the order of the policy."""

    ALLOCATE = "allocate"  # idle room, or room that is being freed
    CONSOLIDATE = "consolidation"  # move others so that fragments join
    RECLAIM = "reclaim"  # take from queues beyond their share
    PREEMPT = "preempt"  # take from lower priorities of the same queue
    EVICT_STALE = "stalegangeviction"  # end gangs that stay below their minimum


class Spread(StrEnum):
    """Kinds of pods that are packed or spread each for itself."""

    GPU = "gpu"  # pods that ask for GPUs
    CPU = "cpu"  # all others


@dataclass(frozen=True)
class Policy:
    actions: tuple[Action, ...] = tuple(Action)
    filters: tuple[Filter, ...] = (fit.static_mask,)
    scorers: tuple[Scorer, ...] = ()  # beside the packing or spreading of `spread`
    spread: frozenset[Spread] = frozenset()  # kinds of pods for which nodes take turns
    usage_factor: float = 1.0  # k: how much recorded usage weighs in the division of shares
    staleness_grace: float = 60.0  # seconds, where a gang states none
    reclaim_min_runtime: Method = Method.LCA  # where the search for a victim's protection starts
    saturation_multiplier: float = 1.0  # >1: a queue beyond its share must be that much worse off to take
    evicted_per_requested: float = inf  # nobody causes evictions of more than so many times what it asks for
    moved_units: int = 128  # consolidation moves at most so many units for one gang
    moving_tries: int = 8  # and tries so many sets of them
    bulk_limit: int = 2_000  # states of a search that packs in one way
    exact_limit: int = 20_000  # states of a search that tries every packing
    exact_nodes: int = 64  # with more nodes in question, every packing is too many

    def spreads(self, snapshot: Snapshot, shape: int) -> bool:
        """Whether pods of the shape are spread."""
        kind = Spread.GPU if snapshot.requests[shape, GPU] else Spread.CPU
        return kind in self.spread


def new_trial(snapshot: Snapshot, policy: Policy) -> Trial:
    """A trial that filters and scores as the policy says."""

    def mask(snapshot: Snapshot, shape: int) -> Bools:
        first, *others = (one(snapshot, shape) for one in policy.filters)
        for other in others:
            first = first & other
        return first

    def total(trial: Trial, shape: int, nodes: Ints | slice) -> Floats:
        base = score.spread if policy.spread and policy.spreads(snapshot, shape) else score.binpack
        found = base(trial, shape, nodes)
        for one in policy.scorers:
            found = found + one(trial, shape, nodes)
        return found

    return Trial(snapshot, mask, total)
