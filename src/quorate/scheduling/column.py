"""How many more pods of one shape each node takes, and how good each node is for one.

A `Trial` keeps a `Column` for each shape and updates it for touched nodes only; with it go the sum of each domain
and the best of each block of nodes, so that neither a domain nor a node is looked for among all. A `View` is a
column as a draft has left it.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from quorate.scheduling.filling import fill
from quorate.scheduling.snapshot import NONE, Floats, Ints, Level

BLOCK = 64  # nodes
NOWHERE = -np.inf


class Column:
    def __init__(self, counts: Ints, scores: Floats, position: int) -> None:
        self.counts = counts
        self.scores = scores
        self.position = position  # how much of the trial's touch log is in it
        self.total = int(counts.sum())
        self._is_shared = False  # another fork reads the arrays too
        self._rooms: dict[int, tuple[Ints, Ints]] = {}  # by level: domain of each node, sum of each domain
        # scores of nodes with room by block, best of each block
        self._ranks: tuple[Floats, Floats] | None = None

    def share(self) -> "Column":
        """The same column for a fork: whoever writes first copies."""
        self._is_shared = True
        twin = object.__new__(Column)
        twin.__dict__.update(self.__dict__, position=0, _rooms=dict(self._rooms))
        return twin

    def update(self, nodes: Ints, counts: Ints, scores: Floats, position: int) -> None:
        """Take over what has become of some nodes, each named once."""
        if self._is_shared:
            self._own()
        gained = counts - self.counts[nodes]
        self.counts[nodes], self.scores[nodes] = counts, scores
        self.total += int(gained.sum())
        self.position = position
        for of_node, sums in self._rooms.values():
            np.add.at(sums, of_node[nodes], gained)
        if self._ranks is not None:
            ranked, tops = self._ranks
            ranked.reshape(-1)[nodes] = np.where(counts > 0, scores, NOWHERE)
            blocks = nodes // BLOCK
            tops[blocks] = ranked[blocks].max(axis=1)

    def _own(self) -> None:
        self._is_shared = False
        self.counts, self.scores = self.counts.copy(), self.scores.copy()
        self._rooms = {level: (of_node, sums.copy()) for level, (of_node, sums) in self._rooms.items()}
        if self._ranks is not None:
            ranked, tops = self._ranks
            self._ranks = ranked.copy(), tops.copy()

    def rooms(self, row: int, level: Level) -> Ints:
        """How many pods each domain of a level takes; the last cell is for nodes outside."""
        if row not in self._rooms:
            weights = self.counts.astype(np.float64)
            sums = np.bincount(level.of_node + 1, weights=weights, minlength=len(level.domains) + 1)
            self._rooms[row] = level.of_node, np.roll(sums, NONE).astype(np.int64)
        return self._rooms[row][1]

    @property
    def ranks(self) -> tuple[Floats, Floats]:
        if self._ranks is None:
            blocks = -(-len(self.counts) // BLOCK)
            ranked = np.full(blocks * BLOCK, NOWHERE)
            ranked[: len(self.counts)] = np.where(self.counts > 0, self.scores, NOWHERE)
            self._ranks = ranked.reshape(blocks, BLOCK), ranked.reshape(blocks, BLOCK).max(axis=1)
        return self._ranks


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A column, and what a draft leaves of its counts on the nodes it touched."""

    column: Column
    touched: Ints  # sorted
    left: Ints

    @classmethod
    def untouched(cls, column: Column) -> Self:
        none = np.empty(0, dtype=np.int64)
        return cls(column, none, none)

    @property
    def total(self) -> int:
        return self.column.total - self._lost()

    def _lost(self) -> int:
        return int((self.column.counts[self.touched] - self.left).sum()) if len(self.touched) else 0

    def all_counts(self) -> Ints:
        """The counts of every node; not to be written to."""
        if not len(self.touched):
            return self.column.counts
        counts = self.column.counts.copy()
        counts[self.touched] = self.left
        return counts

    def counts(self, nodes: Ints) -> Ints:
        """The counts of some nodes, which are sorted."""
        counts = self.column.counts[nodes]
        if len(self.touched) and len(nodes):
            at = np.minimum(np.searchsorted(nodes, self.touched), len(nodes) - 1)
            inside = nodes[at] == self.touched
            counts[at[inside]] = self.left[inside]
        return counts

    def rooms(self, row: int, level: Level) -> Ints:
        """How many pods each domain of a level takes."""
        rooms = self.column.rooms(row, level)
        if len(self.touched):
            rooms = rooms.copy()
            np.add.at(rooms, level.of_node[self.touched], self.left - self.column.counts[self.touched])
        return rooms[:-1]

    def fill(self, k: int) -> tuple[Ints, Ints] | None:
        """`filling.fill` over all nodes; few nodes are found block by block."""
        if self.total < k:
            return None
        ranked, tops = self.column.ranks
        tops, rows, left = tops.copy(), dict[int, Floats](), dict[int, int]()
        for node, count in zip(self.touched.tolist(), self.left.tolist(), strict=True):
            left[node] = count
            if not count:
                self._hide(node, ranked, tops, rows)
        nodes: list[int] = []
        taken: list[int] = []
        while k and len(nodes) <= len(tops) // 8 + 8:
            block = int(tops.argmax())
            node = block * BLOCK + int(rows.get(block, ranked[block]).argmax())
            count = min(k, left.get(node) or int(self.column.counts[node]))
            nodes.append(node)
            taken.append(count)
            k -= count
            self._hide(node, ranked, tops, rows)
        if not k:
            return np.array(nodes, dtype=np.int64), np.array(taken, dtype=np.int64)
        return fill(self.all_counts(), self.column.scores, k + sum(taken))

    @staticmethod
    def _hide(node: int, ranked: Floats, tops: Floats, rows: dict[int, Floats]) -> None:
        block = node // BLOCK
        if block not in rows:
            rows[block] = ranked[block].copy()
        rows[block][node - block * BLOCK] = NOWHERE
        tops[block] = rows[block].max()
