"""The blocks of all gangs end to end, kept from one snapshot to the next.

What changed is put in between what did not, so that a snapshot costs the changes and a few copies of memory.
Indices count inside each gang still; `assembly` moves them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from quorate.plan import Ref
from quorate.scheduling.encode.gangs import GROUP_COLUMNS, LIVE, POD_COLUMNS, WHOLE_COLUMNS, Block
from quorate.scheduling.encode.pods import Key
from quorate.scheduling.snapshot import Floats, Ints, Problem

T = TypeVar("T")
N = TypeVar("N", bound=np.generic)


class _Run(NamedTuple):
    """Gangs that stay, and the blocks that come after them."""

    start: int
    end: int
    blocks: list[Block]


@dataclass(frozen=True, eq=False)
class Joined:
    """Gangs sorted by key; a table has one row for each column name."""

    keys: list[Key] = field(default_factory=list)
    refs: list[Ref] = field(default_factory=list)
    queues: list[str] = field(default_factory=list)
    composites: list[Key | None] = field(default_factory=list)
    whole: Floats = field(default_factory=lambda: np.empty((len(WHOLE_COLUMNS), 0)))
    names: list[str] = field(default_factory=list)  # of groups
    groups: Ints = field(default_factory=lambda: np.empty((len(GROUP_COLUMNS), 0), dtype=np.int64))
    pod_refs: list[Ref] = field(default_factory=list)
    pods: Ints = field(default_factory=lambda: np.empty((len(POD_COLUMNS), 0), dtype=np.int64))
    first_group: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # [gangs + 1]
    first_pod: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # [gangs + 1]
    problems: Mapping[Key, tuple[Problem, ...]] = field(default_factory=dict)

    @property
    def active(self) -> Ints:
        """How many active members each gang has."""
        found: Ints = self.groups[LIVE, self.first_group[:-1]]
        return found

    def replaced(self, changed: Mapping[Key, Block | None]) -> "Joined":
        """With new blocks in place of those of the same keys; None takes one out."""
        runs = _runs(self.keys, changed)
        every = np.arange(len(self.keys) + 1)
        gangs, groups, pods = (_spans(runs, at) for at in (every, self.first_group, self.first_pod))
        problems = {key: found for key, found in self.problems.items() if key not in changed}
        problems |= {key: block.problems for key, block in changed.items() if block and block.problems}
        return Joined(
            keys=_list(self.keys, gangs, lambda block: (block.key,)),
            refs=_list(self.refs, gangs, lambda block: (block.ref,)),
            queues=_list(self.queues, gangs, lambda block: (block.queue,)),
            composites=_list(self.composites, gangs, lambda block: (block.composite,)),
            whole=_table(self.whole, gangs, lambda block: np.array([block.whole], dtype=np.float64)),
            names=_list(self.names, groups, lambda block: block.names),
            groups=_table(self.groups, groups, lambda block: block.groups),
            pod_refs=_list(self.pod_refs, pods, lambda block: block.refs),
            pods=_table(self.pods, pods, lambda block: block.pods),
            first_group=_starts(self.first_group, gangs, lambda block: len(block.groups)),
            first_pod=_starts(self.first_pod, gangs, lambda block: len(block.pods)),
            problems=problems,
        )


def _runs(keys: list[Key], changed: Mapping[Key, Block | None]) -> list[_Run]:
    runs = [_Run(0, 0, [])]
    at = 0
    for key in sorted(changed):
        row = bisect_left(keys, key, at)
        if row > at:
            runs.append(_Run(at, row, []))
        block = changed[key]
        if block is not None:
            runs[-1].blocks.append(block)
        at = row + (row < len(keys) and keys[row] == key)
    return [*runs, _Run(at, len(keys), [])]


def _spans(runs: Sequence[_Run], starts: Ints) -> list[_Run]:
    """The runs in the rows of a finer table."""
    return [_Run(int(starts[run.start]), int(starts[run.end]), run.blocks) for run in runs]


def _list(old: list[T], runs: Sequence[_Run], of_block: Callable[[Block], Iterable[T]]) -> list[T]:
    new: list[T] = []
    for run in runs:
        new += old[run.start : run.end]
        for block in run.blocks:
            new += of_block(block)
    return new


def _table(
    old: np.ndarray[tuple[int, ...], np.dtype[N]],
    runs: Sequence[_Run],
    of_block: Callable[[Block], np.ndarray[tuple[int, ...], np.dtype[N]]],
) -> np.ndarray[tuple[int, ...], np.dtype[N]]:
    """Blocks hold rows, which is how many small ones are joined fastest; the table holds columns."""
    parts = []
    for run in runs:
        parts.append(old[:, run.start : run.end])
        if run.blocks:
            parts.append(np.concatenate([of_block(block) for block in run.blocks]).T)
    return np.concatenate(parts, axis=1)


def _starts(old: Ints, runs: Sequence[_Run], size: Callable[[Block], int]) -> Ints:
    sizes = np.diff(old)
    parts = []
    for run in runs:
        parts.append(sizes[run.start : run.end])
        parts.append(np.array([size(block) for block in run.blocks], dtype=np.int64))
    return np.concatenate([[0], np.cumsum(np.concatenate(parts))]).astype(np.int64)
