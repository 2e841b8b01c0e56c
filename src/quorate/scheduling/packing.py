"""How the pods of one shape go on nodes: filled, spread, one by one beside others, or in every way there is.

`placement` asks for the states after a `Put`; nodes are ordered by score, and seats held earlier come first.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Protocol

import numpy as np

from quorate.scheduling import neighbours, topology
from quorate.scheduling.agenda import Agenda, Draft, Put, State, Step
from quorate.scheduling.column import Column, View
from quorate.scheduling.filling import even, fill, splits
from quorate.scheduling.gates import Stop
from quorate.scheduling.snapshot import NONE, Bools, Floats, Ints
from quorate.scheduling.topology import NOBODY
from quorate.scheduling.trial import Trial, distinct

NEIGHBOUR = 1e9  # preferred neighbours weigh more than packing and topology
HELD_SEAT = 1e12
DOMAIN = 1e3  # the rank of a domain by room weighs more than the packing of a node


class Stops(Protocol):
    """Which queue refuses a draft, whole or yet to grow."""

    def __call__(self, draft: Draft, *, is_whole: bool) -> Stop | None: ...


class IsStopped:
    """Whether a queue refuses what was put down so far: more would be refused as well.

    Not a method of the search: an object that packs and searches for each other would keep its trial until the
    garbage collector comes.
    """

    def __init__(self, stops: Stops | None) -> None:
        self.stop: Stop | None = None  # the last one
        self._stops = stops

    def __call__(self, draft: Draft, *, is_whole: bool) -> bool:
        stop = self._stops(draft, is_whole=is_whole) if self._stops and draft.steps else None
        self.stop = stop or self.stop
        return stop is not None


class Packing:
    """`lost` says that a pack was chosen where another one might have left better room for the rest."""

    def __init__(
        self,
        trial: Trial,
        root: int,
        *,
        now: bool,
        is_exact: bool,
        spreads: Callable[[int], bool] | None,
        is_stopped: IsStopped,
    ) -> None:
        self.lost = False
        self._trial = trial
        self._root = root
        self._now = now
        self._is_exact = is_exact
        self._spreads = spreads
        self._is_stopped = is_stopped

    def put(self, goal: Put, rest: Agenda, draft: Draft) -> Iterator[State]:
        view = self.view(goal.shape, draft)
        if not (goal.place or self._is_exact) and self._is_plain(goal):
            yield from self._packed(goal, rest, draft, view.fill(goal.count))
            return
        nodes = topology.nodes_of(self._trial.snapshot, goal.place) if goal.place else self._every_node
        counts, scores = view.counts(nodes), self._scores(goal, view.column)[nodes]
        if goal.shape in self._trial.coupled:
            there = self._occupants(draft)
            counts = np.where(neighbours.allowed(self._trial.snapshot, goal.shape, there)[nodes], counts, 0)
            near = neighbours.preferred(self._trial.snapshot, goal.shape, there)[nodes]
            scores = scores + NEIGHBOUR * near
            if not neighbours.is_by_host(self._trial.snapshot, goal.shape):
                scores = np.where(counts > 0, scores, -np.inf)
                yield from self._put_one(goal, rest, draft, nodes, scores)
                return
            if neighbours.is_alone_on_node(self._trial.snapshot, goal.shape):
                counts = np.minimum(counts, 1)
        if int(counts.sum()) < goal.count:
            return
        if self._is_exact:
            order = np.flatnonzero(counts)
            order = order[np.argsort(-scores[order], kind="stable")]
            yield from self._every_pack(goal, rest, draft, nodes[order], counts[order])
            return
        pack = even if self._is_spread(goal.shape) else fill
        found = pack(counts, scores, goal.count)
        yield from self._packed(goal, rest, draft, found and (nodes[found[0]], found[1]))

    def _packed(
        self, goal: Put, rest: Agenda, draft: Draft, found: tuple[Ints, Ints] | None
    ) -> Iterator[State]:
        """The one state after a bulk packing."""
        if found is not None:
            self.lost |= rest is not None
            yield rest, self._extended(draft, Step(goal.leaf, goal.shape, *found), is_last=rest is None)

    def _every_pack(
        self, goal: Put, rest: Agenda, draft: Draft, nodes: Ints, counts: Ints
    ) -> Iterator[State]:
        """A state for each way to put the pods on nodes in this order."""
        twins = self._twins(nodes, draft)
        for at, taken in splits(counts, np.arange(len(nodes)), twins, goal.count):
            step = Step(goal.leaf, goal.shape, nodes[at], taken)
            after = self._extended(draft, step, is_last=rest is None)
            if self._is_stopped(after, is_whole=rest is None):
                return  # other packings ask the queue for the same
            yield rest, after

    def _put_one(self, goal: Put, rest: Agenda, draft: Draft, nodes: Ints, scores: Floats) -> Iterator[State]:
        """One pod at a time: where it goes decides where the next may go."""
        self.lost |= rest is not None
        later = (replace(goal, count=goal.count - 1), rest) if goal.count > 1 else rest
        for at in np.argsort(-scores, kind="stable").tolist():
            if scores[at] == -np.inf:
                return
            step = Step(goal.leaf, goal.shape, nodes[at : at + 1], np.array([1]))
            yield later, self._extended(draft, step, is_last=later is None)

    def _occupants(self, draft: Draft) -> neighbours.Occupants:
        drafted = ((step.shape, step.nodes, step.counts) for step in draft.steps)
        trial = self._trial
        return neighbours.occupants(trial.snapshot, trial.state, trial.node, drafted, now=self._now)

    def _is_plain(self, goal: Put) -> bool:
        """Whether nothing but the column decides where the pods go."""
        return (
            not self._is_spread(goal.shape)
            and goal.toward == NONE
            and goal.shape not in self._trial.coupled
            and not len(self._held_seats(goal.leaf))
        )

    def _is_spread(self, shape: int) -> bool:
        return self._spreads is not None and self._spreads(shape)

    def view(self, shape: int, draft: Draft) -> View:
        column = self._trial.column(shape, now=self._now)
        if not len(draft.touched):
            return View.untouched(column)
        return View(column, draft.touched, self._trial.counts(shape, draft.left, draft.touched))

    def _extended(self, draft: Draft, step: Step, *, is_last: bool) -> Draft:
        """The draft with one more step; after the last one nobody asks what is free."""
        if is_last:
            return replace(draft, steps=(*draft.steps, step))
        touched = distinct([draft.touched, step.nodes])
        left = self._free(touched, draft)
        request = self._trial.snapshot.requests[step.shape]
        left[:, np.searchsorted(touched, step.nodes)] -= request[:, None] * step.counts
        total = int(step.counts.sum())
        added = dict(draft.added)
        row = step.leaf
        while row != NONE:
            added[row] = added.get(row, 0) + total
            row = int(self._trial.snapshot.groups.parent[row])
        key = (step.leaf, step.shape)
        used = {**draft.used, key: draft.used.get(key, 0) + total}
        return Draft(touched, left, added, used, draft.places, (*draft.steps, step))

    def _free(self, nodes: Ints, draft: Draft) -> Ints:
        """What the draft leaves free on the nodes, [R, nodes], as an array of its own."""
        free = self._trial.free(nodes, now=self._now).copy()
        if len(draft.touched) and len(nodes):
            at = np.minimum(np.searchsorted(draft.touched, nodes), len(draft.touched) - 1)
            inside = draft.touched[at] == nodes
            free[:, inside] = draft.left[:, at[inside]]
        return free

    def _scores(self, goal: Put, column: Column) -> Floats:
        scores = self._drawn(goal, column.scores)
        if goal.toward == NONE:
            return scores
        level = self._trial.snapshot.levels[goal.toward]
        room = column.rooms(goal.toward, level)[:-1]
        rank = np.append(np.argsort(np.argsort(room, kind="stable")) + 1, 0)
        ranked: Floats = scores + DOMAIN * rank[level.of_node]
        return ranked

    def _drawn(self, goal: Put, scores: Floats) -> Floats:
        """Draw pods to the seats that a former cycle held for them."""
        held = self._held_seats(goal.leaf)
        if not len(held):
            return scores
        scores = scores.copy()
        scores[held] += HELD_SEAT
        return scores

    def _held_seats(self, leaf: int) -> Ints:
        """Nodes that a former cycle held for members of a leaf."""
        if not self._trial.snapshot.pods.has_nominated:
            return NOBODY
        held = self._trial.snapshot.pods.nominated[self._trial.pending(leaf)]
        found: Ints = held[held != NONE]
        return found

    def _twins(self, order: Ints, draft: Draft) -> Bools:
        """Whether a node of the order is the same in everything as the one before it."""
        domains = [level.of_node[order][None] for level in self._trial.snapshot.levels]
        masks = [
            self._trial.mask(shape)[order][None].astype(np.int64)
            for shape in shapes_below(self._trial, self._root)
        ]
        table = np.concatenate([self._free(order, draft), *domains, *masks])
        same: Bools = np.append([False], (table[:, 1:] == table[:, :-1]).all(axis=0))
        return same[: len(order)]

    @cached_property
    def _every_node(self) -> Ints:
        return np.arange(len(self._trial.snapshot.nodes.names))


def shapes_below(trial: Trial, group: int) -> list[int]:
    """The shapes of the members that wait below a group."""
    shapes: list[int] = np.unique(trial.snapshot.pods.shape[trial.pending(group)]).tolist()
    return shapes
