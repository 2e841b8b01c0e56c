"""How many instances each role of a RoleBasedGroup may have now, segment by segment.

For a coordination with sizes s, roles r that have c(r) instances of which y(r) are ready, and want d(r):

    reach(h) = min of h(r) div s(r) over the roles with h(r) < d(r); all segments if there is none
    k        = reach(c), the segments whose instances all exist
    target   = d(r)                                   if c(r) >= d(r), or the progression is Parallel
               c(r)                                   if OrderedReady waits: reach(y) < k
               max(c(r), min(d(r), (k + 1) * s(r)))   else

1. A role in several coordinations gets the smallest of its targets.
2. A coordination that waits holds every coordination it shares a role with, but not those beyond them.
3. A role that has what it wants, or more, counts for nothing in k: no finished role or coordination blocks.
4. No target is below min(c, d), so that growing never removes an instance.
5. Sizes are at least 1 and every role has a state; `rules.coordination` refuses what says otherwise.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Progression(StrEnum):
    ORDERED = "Ordered"  # the next segment follows as soon as the instances of the last one exist
    ORDERED_READY = "OrderedReady"  # the next segment waits until all before it are ready
    PARALLEL = "Parallel"  # every segment at once


@dataclass(frozen=True, slots=True)
class RoleState:
    """Instances of a role: wanted in the end, existing now, ready now."""

    desired: int
    current: int = 0
    ready: int = 0

    @property
    def is_whole(self) -> bool:
        return self.current == self.ready == self.desired


@dataclass(frozen=True, slots=True)
class Coordination:
    """Roles that grow together; `sizes` says how many instances of each make one segment."""

    name: str
    sizes: Mapping[str, int]
    progression: Progression = Progression.ORDERED_READY


@dataclass(frozen=True, slots=True)
class Wait:
    """A role is short of what the segments before the next one need; `what` is `exist` or `ready`."""

    role: str
    have: int
    need: int
    what: str

    def __str__(self) -> str:
        return f"{self.have} of {self.need} instances of role {self.role} {self.what}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one coordination is: segments whose instances exist, that are ready, that are wanted.

    `waits` are the roles that hold it now, its own or, under `held_by`, those of another coordination.
    """

    name: str
    complete: int
    ready: int
    wanted: int
    waits: tuple[Wait, ...] = ()
    held_by: str = ""

    @property
    def is_complete(self) -> bool:
        return self.ready == self.wanted

    def __str__(self) -> str:
        text = f"{self.ready}/{self.wanted} segments ready"
        if not self.waits:
            return text
        cause = f" (held by coordination {self.held_by})" if self.held_by else ""
        return f"{text}, waits: {', '.join(map(str, self.waits))}{cause}"


@dataclass(frozen=True, slots=True)
class Placement:
    """Targets of every coordinated role, and the progress of every coordination in order."""

    targets: Mapping[str, int]
    progress: tuple[Progress, ...]


States = Mapping[str, RoleState]
Count = Callable[[RoleState], int]


def place(coordinations: Sequence[Coordination], states: States) -> Placement:
    waiting = [coordination for coordination in coordinations if is_waiting(coordination, states)]
    holders = [_holder(coordination, waiting) for coordination in coordinations]
    targets: dict[str, int] = {}
    for coordination, holder in zip(coordinations, holders, strict=True):
        for role, target in _targets(coordination, states, is_held=holder is not None):
            targets[role] = min(target, targets.get(role, target))
    pairs = zip(coordinations, holders, strict=True)
    return Placement(targets, tuple(_progress(each, holder or each, states) for each, holder in pairs))


def wanted(sizes: Mapping[str, int], states: States) -> int:
    """Segments in the end; the last one may be smaller."""
    return max((-(-states[role].desired // size) for role, size in sizes.items()), default=0)


def reach(sizes: Mapping[str, int], states: States, count: Count) -> int:
    """Up to which segment every role has the instances that `count` counts."""
    short = (count(states[role]) // size for role, size in sizes.items() if _is_short(states[role], count))
    return min(short, default=wanted(sizes, states))


def ready_segments(sizes: Mapping[str, int], states: States) -> int:
    return reach(sizes, states, _ready)


def is_waiting(coordination: Coordination, states: States) -> bool:
    sizes = coordination.sizes
    if coordination.progression is not Progression.ORDERED_READY:
        return False
    if not any(_is_short(states[role], _current) for role in sizes):
        return False
    return reach(sizes, states, _ready) < reach(sizes, states, _current)


def _targets(coordination: Coordination, states: States, *, is_held: bool) -> Iterator[tuple[str, int]]:
    following = reach(coordination.sizes, states, _current) + 1
    for role, size in coordination.sizes.items():
        state = states[role]
        if state.current >= state.desired or coordination.progression is Progression.PARALLEL:
            yield role, state.desired
        elif is_held:
            yield role, state.current
        else:
            yield role, max(state.current, min(state.desired, following * size))


def _holder(coordination: Coordination, waiting: Sequence[Coordination]) -> Coordination | None:
    """Itself if it waits, else the first that waits and shares a role with it."""
    if any(each is coordination for each in waiting):
        return coordination
    return next((each for each in waiting if each.sizes.keys() & coordination.sizes.keys()), None)


def _progress(coordination: Coordination, holder: Coordination, states: States) -> Progress:
    sizes = coordination.sizes
    return Progress(
        name=coordination.name,
        complete=reach(sizes, states, _current),
        ready=reach(sizes, states, _ready),
        wanted=wanted(sizes, states),
        waits=tuple(_waits(holder, states)),
        held_by=holder.name if holder is not coordination else "",
    )


def _waits(coordination: Coordination, states: States) -> Iterator[Wait]:
    """What the next step needs: ready instances of complete segments if it is held, else the segment."""
    complete = reach(coordination.sizes, states, _current)
    if is_waiting(coordination, states):
        yield from _missing(coordination.sizes, states, complete, _ready)
        return
    yield from _missing(coordination.sizes, states, complete + 1, _current)
    if not any(_is_short(states[role], _current) for role in coordination.sizes):
        yield from _missing(coordination.sizes, states, complete, _ready)


def _missing(sizes: Mapping[str, int], states: States, segments: int, count: Count) -> Iterator[Wait]:
    for role, size in sorted(sizes.items()):
        have, need = count(states[role]), min(states[role].desired, segments * size)
        if have < need:
            yield Wait(role, have, need, "ready" if count is _ready else "exist")


def _is_short(state: RoleState, count: Count) -> bool:
    return count(state) < state.desired


def _current(state: RoleState) -> int:
    return state.current


def _ready(state: RoleState) -> int:
    return state.ready
