"""Find nodes for a step of a gang: a bounded depth-first search over children, domains and packings.

1. An agenda of goals and a draft make a state; expanding the first goal yields the states after it, best
   first. Old states stay on the stack, so that backtracking is taking the next one.
2. The bulk search packs each shape in one way only. It is enough nearly always; where it fails and another
   packing could matter, the exact search tries every packing and remembers states it has seen.
3. Both stop after a number of states. A search that ended without stopping has proven that nothing fits.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Protocol

import numpy as np

from quorate.scheduling import gang, neighbours, topology
from quorate.scheduling.agenda import Add, Agenda, Choose, Draft, Found, Goal, Inside, Put, Reach, Start, Step
from quorate.scheduling.column import Column, View
from quorate.scheduling.filling import even, fill, splits
from quorate.scheduling.gates import Stop
from quorate.scheduling.snapshot import NONE, Bools, Floats, Ints
from quorate.scheduling.topology import NOBODY, Demand, Place
from quorate.scheduling.trial import Trial, distinct

State = tuple[Agenda, Draft]


NOTHING_YET = Draft()
NEIGHBOUR = 1e9  # preferred neighbours weigh more than packing and topology
HELD_SEAT = 1e12
DOMAIN = 1e3  # the rank of a domain by room weighs more than the packing of a node


class Stops(Protocol):
    """Which queue refuses a draft, whole or yet to grow."""

    def __call__(self, draft: Draft, *, is_whole: bool) -> Stop | None: ...


class Search:
    """One search over a trial that it only reads; `now` looks at what is idle, else at what will be free."""

    def __init__(
        self,
        trial: Trial,
        root: int,
        *,
        now: bool,
        is_exact: bool,
        spreads: Callable[[int], bool] | None = None,
        stops: Stops | None = None,
    ) -> None:
        self.trial = trial
        self.stop: Stop | None = None  # the last one that closed a way
        self._stops = stops
        self.now = now
        self.is_exact = is_exact
        self.lost_packings = False
        self.ran_short = False  # a queue that refuses is no lack of room: no packing helps there
        self._spreads = spreads
        self._root = root
        self._signatures: dict[int, gang.Signature] = {}

    def run(self, goals: list[Goal], limit: int) -> Found:
        """The first draft that meets all goals."""
        agenda: Agenda = None
        for goal in reversed(goals):
            agenda = (goal, agenda)
        stack: list[Iterator[State]] = [iter([(agenda, NOTHING_YET)])]
        seen: set[object] = set()
        states = 0
        while stack:
            state = next(stack[-1], None)
            if state is None:
                stack.pop()
                continue
            agenda, draft = state
            states += 1
            if states > limit:
                return Found(None, is_proven=False, states=states)
            if self._is_stopped(draft, is_whole=agenda is None):
                continue
            if agenda is None:
                return Found(draft, is_proven=True, states=states)
            if self.is_exact:
                key = _key(agenda, draft)
                if key in seen:
                    continue
                seen.add(key)
            stack.append(self._tried(agenda[0], agenda[1], draft))
        could_pack = self.lost_packings and self.ran_short
        return Found(None, is_proven=self.is_exact or not could_pack, states=states)

    def _tried(self, goal: Goal, rest: Agenda, draft: Draft) -> Iterator[State]:
        """The states after a goal; where there are none although it is no choice, room was short."""
        found = self._expand(goal, rest, draft)
        first = next(found, None)
        self.ran_short |= first is None and not isinstance(goal, Choose)
        return found if first is None else chain([first], found)

    def _is_stopped(self, draft: Draft, *, is_whole: bool) -> bool:
        """Whether a queue refuses what was put down so far: more would be refused as well."""
        stop = self._stops(draft, is_whole=is_whole) if self._stops and draft.steps else None
        self.stop = stop or self.stop
        return stop is not None

    def demands(self, goal: Start | Add) -> list[Demand]:
        """What a step cannot do without, shape by shape; nothing where it may choose."""
        if isinstance(goal, Start):
            return self._demands(goal.group, NOTHING_YET)
        shapes = np.unique(self.trial.snapshot.pods.shape[self.trial.pending(goal.leaf)]).tolist()
        views = [self._view(shape, NOTHING_YET) for shape in shapes]
        return [Demand(shapes[0], views[0], goal.count)] if len(shapes) == 1 else []

    def open_nodes(self) -> int:
        """How many nodes take any pod of the gang."""
        counts = [self.trial.column(shape, now=self.now).counts for shape in self._shapes()]
        return int((np.array(counts).sum(axis=0) > 0).sum()) if counts else 0

    def _expand(self, goal: Goal, rest: Agenda, draft: Draft) -> Iterator[State]:
        match goal:
            case Start():
                return self._start(goal, rest, draft)
            case Inside():
                return self._inside(goal, rest, draft)
            case Choose():
                return self._choose(goal, rest, draft)
            case Reach():
                return self._reach(goal, rest, draft)
            case Add():
                return self._add(goal, rest, draft)
            case Put():
                return self._put(goal, rest, draft)

    def _above(self, goal: Start | Add, rest: Agenda, draft: Draft) -> Iterator[State]:
        """Let the first group above choose its domain."""
        first, *others = goal.above
        for level in topology.tried_levels(self.trial.snapshot, first):
            domains = [()] if level == NONE else ((level, one) for one in self._every(level, goal.place))
            for chosen in domains:
                place = (*goal.place, chosen) if chosen else goal.place
                settled = replace(draft, places={**draft.places, first: place})
                yield (replace(goal, place=place, above=tuple(others)), rest), settled

    def _every(self, level: int, place: Place) -> Iterator[int]:
        return topology.candidates(self.trial, level, place, [])

    def _start(self, goal: Start, rest: Agenda, draft: Draft) -> Iterator[State]:
        if goal.above:
            yield from self._above(goal, rest, draft)
            return
        levels = topology.tried_levels(self.trial.snapshot, goal.group)
        toward = levels[0] if len(levels) > 1 else goal.toward
        for level in levels:
            if level == NONE:
                yield (Inside(goal.group, goal.place, toward), rest), draft
                continue
            for domain in self._domains(goal, level, draft):
                place = (*goal.place, (level, domain))
                yield (Inside(goal.group, place, toward if level != toward else NONE), rest), draft

    def _domains(self, goal: Start, level: int, draft: Draft) -> Iterator[int]:
        at_home = topology.home(self.trial, goal.group, level)
        if len(at_home):
            yield from at_home.tolist()
            return
        demands = self._demands(goal.group, draft)
        yield from topology.candidates(self.trial, level, goal.place, demands)

    def _inside(self, goal: Inside, rest: Agenda, draft: Draft) -> Iterator[State]:
        groups = self.trial.snapshot.groups
        if goal.group == self._root and groups.is_leaf(goal.group):
            yield from self._add(self._missing(goal, draft), rest, draft)
            return
        draft = replace(draft, places={**draft.places, goal.group: goal.place})
        if groups.is_leaf(goal.group):
            yield from self._add(self._missing(goal, draft), rest, draft)
            return
        children = gang.ordered_children(self.trial, goal.group)
        held = sum(gang.is_satisfied(self.trial, child) for child in children)
        able = [child for child in children[held:] if gang.is_eligible(self.trial, child)]
        missing = int(groups.min_subgroup[goal.group]) - held
        if missing == len(able):
            able.sort(key=self._largest, reverse=True)
        if groups.min_member[goal.group]:
            rest = (Reach(goal.group, goal.place), rest)
        yield (Choose(tuple(able), missing, goal.place, goal.toward), rest), draft

    def _missing(self, goal: Inside, draft: Draft) -> Add:
        """The members that a leaf lacks."""
        minimum = int(self.trial.snapshot.groups.min_member[goal.group])
        missing = max(minimum - self._active(goal.group, draft), 0)
        return Add(goal.group, missing, goal.place, goal.toward)

    def _choose(self, goal: Choose, rest: Agenda, draft: Draft) -> Iterator[State]:
        if goal.missing <= 0:
            yield rest, draft
            return
        if len(goal.rest) < goal.missing:
            return
        first, *others = goal.rest
        taken = replace(goal, rest=tuple(others), missing=goal.missing - 1)
        yield (Start(first, goal.place, toward=goal.toward), (taken, rest)), draft
        mine = self._signature(first)
        different = tuple(child for child in others if self._signature(child) != mine)
        yield (replace(goal, rest=different), rest), draft

    def _reach(self, goal: Reach, rest: Agenda, draft: Draft) -> Iterator[State]:
        missing = int(self.trial.snapshot.groups.min_member[goal.group] - self._active(goal.group, draft))
        if missing <= 0:
            yield rest, draft
            return
        unit = next((unit for unit in self._units(goal.group, draft) if unit not in goal.closed), None)
        if unit is None:
            return
        after = (replace(goal, closed=goal.closed | {unit}), rest)
        if not gang.is_satisfied(self.trial, unit, draft.added):
            parent = int(self.trial.snapshot.groups.parent[unit])
            # Not decided by that: once it has started it may take more.
            yield (Start(unit, *self._spot(parent, draft)), (goal, rest)), draft
        else:
            room = len(self.trial.pending(unit)) - draft.added.get(unit, 0)
            place, above = self._spot(unit, draft)
            for count in range(min(missing, room), 0, -1):
                yield (Add(unit, count, place, above=above), after), draft
        yield after, draft

    def _units(self, group: int, draft: Draft) -> Iterator[int]:
        """Leaves that may take one more member and children that may start, below a group, in order."""
        groups = self.trial.snapshot.groups
        for child in groups.children(group):
            if not gang.is_satisfied(self.trial, child, draft.added):
                if gang.is_eligible(self.trial, child):
                    yield child
            elif not groups.is_leaf(child):
                yield from self._units(child, draft)
            elif len(self.trial.pending(child)) > draft.added.get(child, 0):
                yield child

    def _add(self, goal: Add, rest: Agenda, draft: Draft) -> Iterator[State]:
        if goal.above:
            yield from self._above(goal, rest, draft)
            return
        for parts in self._mixes(goal, draft):
            if len(parts) == 1:
                yield from self._put(Put(goal.leaf, *parts[0], goal.place, goal.toward), rest, draft)
                continue
            agenda = rest
            for shape, count in reversed(parts):
                agenda = (Put(goal.leaf, shape, count, goal.place, goal.toward), agenda)
            yield agenda, draft

    def _mixes(self, goal: Add, draft: Draft) -> Iterator[list[tuple[int, int]]]:
        """Which shapes make up the count: the first members in order, then every other mix."""
        shapes = self.trial.snapshot.pods.shape[self.trial.pending(goal.leaf)].tolist()
        if shapes and shapes.count(shapes[0]) == len(shapes):
            if len(shapes) - draft.used.get((goal.leaf, shapes[0]), 0) >= goal.count:
                yield [(shapes[0], goal.count)] if goal.count else []
            return
        left = {shape: shapes.count(shape) - draft.used.get((goal.leaf, shape), 0) for shape in set(shapes)}
        order = list(dict.fromkeys(shapes))
        first: dict[int, int] = {}
        skipped = {shape: draft.used.get((goal.leaf, shape), 0) for shape in order}
        for shape in shapes:
            if skipped[shape]:
                skipped[shape] -= 1
            elif sum(first.values()) < goal.count:
                first[shape] = first.get(shape, 0) + 1
        if sum(first.values()) < goal.count:
            return
        yield list(first.items())
        if len(order) > 1:
            for mix in _compositions(order, left, goal.count):
                if dict(mix) != first:
                    yield mix

    def _put(self, goal: Put, rest: Agenda, draft: Draft) -> Iterator[State]:
        view = self._view(goal.shape, draft)
        if not (goal.place or self.is_exact) and self._is_plain(goal):
            yield from self._packed(goal, rest, draft, view.fill(goal.count))
            return
        nodes = topology.nodes_of(self.trial.snapshot, goal.place) if goal.place else self._every_node
        counts, scores = view.counts(nodes), self._scores(goal, view.column)[nodes]
        if goal.shape in self.trial.coupled:
            there = self._occupants(draft)
            counts = np.where(neighbours.allowed(self.trial.snapshot, goal.shape, there)[nodes], counts, 0)
            near = neighbours.preferred(self.trial.snapshot, goal.shape, there)[nodes]
            scores = scores + NEIGHBOUR * near
            if not neighbours.is_by_host(self.trial.snapshot, goal.shape):
                scores = np.where(counts > 0, scores, -np.inf)
                yield from self._put_one(goal, rest, draft, nodes, scores)
                return
            if neighbours.is_alone_on_node(self.trial.snapshot, goal.shape):
                counts = np.minimum(counts, 1)
        if int(counts.sum()) < goal.count:
            return
        if self.is_exact:
            order = np.flatnonzero(counts)
            order = order[np.argsort(-scores[order], kind="stable")]
            twins = self._twins(nodes[order], draft)
            for at, taken in splits(counts, order, twins, goal.count):
                step = Step(goal.leaf, goal.shape, nodes[at], taken)
                after = self._extended(draft, step, is_last=rest is None)
                if self._is_stopped(after, is_whole=rest is None):
                    return  # other packings ask the queue for the same
                yield rest, after
            return
        pack = even if self._is_spread(goal.shape) else fill
        found = pack(counts, scores, goal.count)
        yield from self._packed(goal, rest, draft, found and (nodes[found[0]], found[1]))

    def _packed(
        self, goal: Put, rest: Agenda, draft: Draft, found: tuple[Ints, Ints] | None
    ) -> Iterator[State]:
        """The one state after a bulk packing."""
        if found is not None:
            self.lost_packings |= rest is not None
            yield rest, self._extended(draft, Step(goal.leaf, goal.shape, *found), is_last=rest is None)

    def _put_one(self, goal: Put, rest: Agenda, draft: Draft, nodes: Ints, scores: Floats) -> Iterator[State]:
        """One pod at a time: where it goes decides where the next may go."""
        self.lost_packings |= rest is not None
        later = (replace(goal, count=goal.count - 1), rest) if goal.count > 1 else rest
        for at in np.argsort(-scores, kind="stable").tolist():
            if scores[at] == -np.inf:
                return
            step = Step(goal.leaf, goal.shape, nodes[at : at + 1], np.array([1]))
            yield later, self._extended(draft, step, is_last=later is None)

    def _occupants(self, draft: Draft) -> neighbours.Occupants:
        drafted = ((step.shape, step.nodes, step.counts) for step in draft.steps)
        return neighbours.occupants(self.trial.snapshot, self.trial.state, self.trial.node, drafted)

    def _is_plain(self, goal: Put) -> bool:
        """Whether nothing but the column decides where the pods go."""
        return (
            not self._is_spread(goal.shape)
            and goal.toward == NONE
            and goal.shape not in self.trial.coupled
            and not len(self._held_seats(goal.leaf))
        )

    def _is_spread(self, shape: int) -> bool:
        return self._spreads is not None and self._spreads(shape)

    def _view(self, shape: int, draft: Draft) -> View:
        column = self.trial.column(shape, now=self.now)
        if not len(draft.touched):
            return View.untouched(column)
        return View(column, draft.touched, self.trial.counts(shape, draft.left, draft.touched))

    def _extended(self, draft: Draft, step: Step, *, is_last: bool) -> Draft:
        """The draft with one more step; after the last one nobody asks what is free."""
        if is_last:
            return replace(draft, steps=(*draft.steps, step))
        touched = distinct([draft.touched, step.nodes])
        left = self._free(touched, draft)
        request = self.trial.snapshot.requests[step.shape]
        left[:, np.searchsorted(touched, step.nodes)] -= request[:, None] * step.counts
        total = int(step.counts.sum())
        added = dict(draft.added)
        row = step.leaf
        while row != NONE:
            added[row] = added.get(row, 0) + total
            row = int(self.trial.snapshot.groups.parent[row])
        key = (step.leaf, step.shape)
        used = {**draft.used, key: draft.used.get(key, 0) + total}
        return Draft(touched, left, added, used, draft.places, (*draft.steps, step))

    def _free(self, nodes: Ints, draft: Draft) -> Ints:
        """What the draft leaves free on the nodes, [R, nodes], as an array of its own."""
        free = self.trial.free(nodes, now=self.now).copy()
        if len(draft.touched) and len(nodes):
            at = np.minimum(np.searchsorted(draft.touched, nodes), len(draft.touched) - 1)
            inside = draft.touched[at] == nodes
            free[:, inside] = draft.left[:, at[inside]]
        return free

    def _scores(self, goal: Put, column: Column) -> Floats:
        scores = self._drawn(goal, column.scores)
        if goal.toward == NONE:
            return scores
        level = self.trial.snapshot.levels[goal.toward]
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
        if not self.trial.snapshot.pods.has_nominated:
            return NOBODY
        held = self.trial.snapshot.pods.nominated[self.trial.pending(leaf)]
        found: Ints = held[held != NONE]
        return found

    def _shapes(self) -> list[int]:
        shapes: list[int] = np.unique(self.trial.snapshot.pods.shape[self.trial.pending(self._root)]).tolist()
        return shapes

    def _twins(self, order: Ints, draft: Draft) -> Bools:
        """Whether a node of the order is the same in everything as the one before it."""
        domains = [level.of_node[order][None] for level in self.trial.snapshot.levels]
        masks = [self.trial.mask(shape)[order][None].astype(np.int64) for shape in self._shapes()]
        table = np.concatenate([self._free(order, draft), *domains, *masks])
        same: Bools = np.append([False], (table[:, 1:] == table[:, :-1]).all(axis=0))
        return same[: len(order)]

    def _demands(self, group: int, draft: Draft) -> list[Demand]:
        """What the group cannot do without, shape by shape, the largest first."""
        needed: dict[int, int] = {}
        for leaf in self._needed_leaves(group):
            missing = int(self.trial.snapshot.groups.min_member[leaf] - self._active(leaf, draft))
            shapes = np.unique(self.trial.snapshot.pods.shape[self.trial.pending(leaf)])
            if missing > 0 and len(shapes) == 1:
                needed[int(shapes[0])] = needed.get(int(shapes[0]), 0) + missing
        ranked = sorted(needed.items(), key=lambda item: -item[1] * int(self.trial.weight(item[0])))
        return [Demand(shape, self._view(shape, draft), count) for shape, count in ranked]

    def _needed_leaves(self, group: int) -> Iterator[int]:
        groups = self.trial.snapshot.groups
        if groups.is_leaf(group):
            yield group
            return
        children = list(groups.children(group))
        if len(children) == groups.min_subgroup[group]:
            for child in children:
                yield from self._needed_leaves(child)

    def _largest(self, group: int) -> int:
        """The size of the largest member still to be placed below a group."""
        shapes = np.unique(self.trial.snapshot.pods.shape[self.trial.pending(group)])
        return max((self.trial.weight(int(shape)) for shape in shapes), default=0)

    def _active(self, group: int, draft: Draft) -> int:
        return int(self.trial.active[group]) + draft.added.get(group, 0)

    def _spot(self, group: int, draft: Draft) -> tuple[Place, tuple[int, ...]]:
        """Where a group below settled ones belongs, and which groups on the way have yet to choose."""
        groups, above, row = self.trial.snapshot.groups, list[int](), group
        while row != NONE and row not in draft.places:
            is_bound = groups.required[row] != NONE or groups.preferred[row] != NONE
            if is_bound and not self._active(row, draft):
                above.insert(0, row)
            row = int(groups.parent[row])
        place = topology.place_of(self.trial, group) if row == NONE else draft.places[row]
        return place, tuple(above)

    def _signature(self, group: int) -> gang.Signature:
        if group not in self._signatures:
            self._signatures[group] = gang.signature(self.trial, group)
        return self._signatures[group]

    @cached_property
    def _every_node(self) -> Ints:
        return np.arange(len(self.trial.snapshot.nodes.names))


def _key(agenda: Agenda, draft: Draft) -> object:
    free = draft.touched.tobytes(), draft.left.tobytes()
    return agenda, free, tuple(sorted(draft.used.items())), tuple(sorted(draft.places.items()))


def _compositions(order: list[int], left: dict[int, int], count: int) -> Iterator[list[tuple[int, int]]]:
    """Every way to make the count of the shapes that are left."""
    if count == 0:
        yield []
        return
    if not order or sum(left[shape] for shape in order) < count:
        return
    shape, *others = order
    for many in range(min(left[shape], count), -1, -1):
        for tail in _compositions(others, left, count - many):
            yield [(shape, many), *tail] if many else tail
