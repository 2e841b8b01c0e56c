"""Find nodes for a step of a gang: a bounded depth-first search over children, domains and packings.

1. An agenda of goals and a draft make a state; expanding the first goal yields the states after it, best
   first. Old states stay on the stack, so that backtracking is taking the next one.
2. The bulk search packs each shape in one way only. It is enough nearly always; where it fails and another
   packing could matter, the exact search tries every packing and remembers states it has seen.
3. Both stop after a number of states. A search that ended without stopping has proven that nothing fits.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from quorate.scheduling import gang, topology
from quorate.scheduling.agenda import (
    Add,
    Agenda,
    Choose,
    Draft,
    Found,
    Goal,
    Inside,
    Put,
    Reach,
    Start,
    State,
)
from quorate.scheduling.gates import Stop
from quorate.scheduling.packing import IsStopped, Packing, Stops, shapes_below
from quorate.scheduling.snapshot import NONE
from quorate.scheduling.topology import Demand, Place
from quorate.scheduling.trial import Trial

NOTHING_YET = Draft()


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
        self._is_stopped = IsStopped(stops)
        self.now = now
        self.is_exact = is_exact
        self.ran_short = False  # a queue that refuses is no lack of room: no packing helps there
        self._root = root
        self._signatures: dict[int, gang.Signature] = {}
        self._packing = Packing(
            trial, root, now=now, is_exact=is_exact, spreads=spreads, is_stopped=self._is_stopped
        )

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
        could_pack = self._packing.lost and self.ran_short
        return Found(None, is_proven=self.is_exact or not could_pack, states=states)

    def _tried(self, goal: Goal, rest: Agenda, draft: Draft) -> Iterator[State]:
        """The states after a goal; where there are none although it is no choice, room was short."""
        found = self._expand(goal, rest, draft)
        first = next(found, None)
        self.ran_short |= first is None and not isinstance(goal, Choose)
        return found if first is None else chain([first], found)

    @property
    def stop(self) -> Stop | None:
        """The last one that closed a way."""
        return self._is_stopped.stop

    def demands(self, goal: Start | Add) -> list[Demand]:
        """What a step cannot do without, shape by shape; nothing where it may choose."""
        if isinstance(goal, Start):
            return self._demands(goal.group, NOTHING_YET)
        shapes = np.unique(self.trial.snapshot.pods.shape[self.trial.pending(goal.leaf)]).tolist()
        views = [self._packing.view(shape, NOTHING_YET) for shape in shapes]
        return [Demand(shapes[0], views[0], goal.count)] if len(shapes) == 1 else []

    def open_nodes(self) -> int:
        """How many nodes take any pod of the gang."""
        counts = [
            self.trial.column(shape, now=self.now).counts for shape in shapes_below(self.trial, self._root)
        ]
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
                return self._packing.put(goal, rest, draft)

    def _above(self, goal: Start | Add, rest: Agenda, draft: Draft) -> Iterator[State]:
        """Let the first group above choose its domain."""
        first, *others = goal.above
        for level in topology.tried_levels(self.trial.snapshot, first):
            for place in [goal.place] if level == NONE else self._places(first, level, goal.place):
                settled = replace(draft, places={**draft.places, first: place})
                yield (replace(goal, place=place, above=tuple(others)), rest), settled

    def _places(self, group: int, level: int, place: Place) -> Iterator[Place]:
        """Where the members of a group are, else everywhere."""
        at_home = topology.home(self.trial, group, level).tolist()
        for domain in at_home or topology.candidates(self.trial, level, place, []):
            yield (*place, (level, domain))

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
                yield from self._packing.put(Put(goal.leaf, *parts[0], goal.place, goal.toward), rest, draft)
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

    def _demands(self, group: int, draft: Draft) -> list[Demand]:
        """What the group cannot do without, shape by shape, the largest first."""
        needed: dict[int, int] = {}
        for leaf in self._needed_leaves(group):
            missing = int(self.trial.snapshot.groups.min_member[leaf] - self._active(leaf, draft))
            waiting = Counter(self.trial.snapshot.pods.shape[self.trial.pending(leaf)].tolist())
            left = {shape: many - draft.used.get((leaf, shape), 0) for shape, many in waiting.items()}
            spare = sum(left.values()) - missing
            for shape, many in left.items():
                if missing > 0 and many > spare:
                    needed[shape] = needed.get(shape, 0) + many - spare
        ranked = sorted(needed.items(), key=lambda item: -item[1] * int(self.trial.weight(item[0])))
        return [Demand(shape, self._packing.view(shape, draft), count) for shape, count in ranked]

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
        above, row = list[int](), group
        while row != NONE and row not in draft.places:
            if topology.has_choice(self.trial.snapshot, row, is_empty=not self._active(row, draft)):
                above.insert(0, row)
            row = int(self.trial.snapshot.groups.parent[row])
        place = topology.place_of(self.trial, group) if row == NONE else draft.places[row]
        return place, tuple(above)

    def _signature(self, group: int) -> gang.Signature:
        if group not in self._signatures:
            self._signatures[group] = gang.signature(self.trial, group)
        return self._signatures[group]


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
