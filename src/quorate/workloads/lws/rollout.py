"""How a changed template reaches the groups of a set: which groups go next, and how many there should be.

`n` groups are wanted, `u` of them may be unavailable, `s` may exist beyond them, so at most `b = n + s`. A
group is fit if it is ready and updated. From the partition on, groups belong to the newest revision.
`advance` is upstream's decision table over the two numbers that its leader StatefulSet holds. `decide` reads
those numbers from the groups that exist, so that nothing is remembered between two passes, and adds two rules:

1. Nothing ready is removed unless `n - u` groups stay ready without it.
2. Nothing is made beyond `b`; a group that is leaving still counts.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from quorate.api.lws import LeaderWorkerSetSpec
from quorate.workloads.builtin.amounts import resolve


class Pace(NamedTuple):
    """The numbers of a rollout; percentages are resolved."""

    replicas: int
    unavailable: int
    surge: int
    partition: int = 0

    @property
    def bound(self) -> int:
        return self.replicas + self.surge

    @property
    def lowest_ready(self) -> int:
        return self.replicas - self.unavailable


class GroupState(NamedTuple):
    is_ready: bool
    is_updated: bool

    @property
    def is_fit(self) -> bool:
        return self.is_ready and self.is_updated


class Seen(NamedTuple):
    """A place for a group: what is there. A group that is leaving cannot be counted on any more.

    `is_sick`: it is not ready and had its time. `is_early`: it was removed out of turn, to be made new.
    """

    exists: bool = False
    is_ready: bool = False
    is_updated: bool = False
    is_leaving: bool = False
    is_sick: bool = False
    is_early: bool = False

    @property
    def stays(self) -> bool:
        return self.exists and not self.is_leaving

    @property
    def counts(self) -> bool:
        return self.stays and self.is_ready


class Extent(NamedTuple):
    """Groups below `replicas` exist, those from `partition` on in the newest revision."""

    partition: int
    replicas: int


class Moves(NamedTuple):
    """Places to fill (with the newest revision, or with the one before) and to clear now.

    `early` are to be remembered: below the partition, and yet to be made new.
    """

    partition: int
    replicas: int
    make_new: tuple[int, ...] = ()
    make_old: tuple[int, ...] = ()
    remove: tuple[int, ...] = ()
    early: tuple[int, ...] = ()


def pace_of(spec: LeaderWorkerSetSpec) -> Pace:
    rolling = spec.rollout_strategy.rolling_update_configuration
    n = spec.replicas
    unavailable = resolve(rolling.max_unavailable, n, up=False)
    surge = min(resolve(rolling.max_surge, n, up=True), n)
    return Pace(n, unavailable, surge, max(0, rolling.partition))


def unfit_count(groups: Sequence[GroupState], replicas: int) -> int:
    """Wanted groups that are not ready and updated; those that do not exist are not either."""
    return replicas - sum(group.is_fit for group in groups[:replicas])


def ready_tail(groups: Sequence[GroupState]) -> int:
    """Fit groups from the highest down."""
    return next((at for at, group in enumerate(reversed(groups)) if not group.is_fit), len(groups))


def wanted_groups(pace: Pace, unfit: int) -> int:
    """How many: n + max(0, unfit - u) once the unfit fit into the surge, else b."""
    if unfit > pace.surge:
        return pace.bound
    return pace.replicas + max(0, unfit - pace.unavailable)


def next_partition(groups: Sequence[GroupState], partition: int, step: int) -> int:
    """From base = R - tail - step, one higher for each group below it that is not ready; never moves up."""
    base = max(0, len(groups) - ready_tail(groups) - step)
    place = base + sum(not group.is_ready for group in groups[:base])
    for at in range(min(place, len(groups) - 1), base - 1, -1):
        # what is not ready or new already costs nothing
        if groups[at].is_ready and not groups[at].is_updated:
            break
        place = at
    return min(place, partition)


def advance(
    pace: Pace,
    groups: Sequence[GroupState],
    now: Extent | None,
    *,
    revision_changed: bool = False,
    replicas_changed: bool = False,
) -> Extent:
    """The next partition and number of groups; `now` is None before there is any group."""
    found = _advance(pace, groups, now, revision_changed, replicas_changed)
    return found._replace(partition=max(found.partition, pace.partition))


def _advance(  # noqa: PLR0911 - upstream's table, the first line that holds
    pace: Pace,
    groups: Sequence[GroupState],
    now: Extent | None,
    revision_changed: bool,  # noqa: FBT001 - facts, not switches
    replicas_changed: bool,  # noqa: FBT001
) -> Extent:
    n = pace.replicas
    if now is None:
        return Extent(0, n)
    wanted = wanted_groups(pace, unfit_count(groups, n))
    if revision_changed and now.replicas < n:
        return Extent(now.replicas, n)
    if revision_changed:
        return Extent(min(n, now.replicas), wanted_groups(pace, n))
    if now == (0, n):
        return now
    if now.replicas < n:
        return Extent(now.partition, n)
    if replicas_changed:
        return Extent(min(now.partition, pace.bound), wanted)
    step = pace.unavailable + pace.surge - (pace.bound - now.replicas)
    return Extent(next_partition(groups, now.partition, step), wanted)


def decide(pace: Pace, seen: Sequence[Seen], *, is_paused: bool = False) -> Moves:
    """What to do about the groups that exist; `seen` ends with the highest of them."""
    places = [*seen, *[Seen()] * (pace.replicas - len(seen))]
    frontier = frontier_of(places[: pace.replicas])
    extent = _halted(pace, places, frontier) if is_paused else _next_extent(pace, places, frontier)
    early = {at for at, place in enumerate(places) if place.is_early and not place.stays}
    due = {*range(extent.partition, max(len(places), extent.replicas)), *early}
    remove = tuple(_removals(pace, places, extent.replicas, due))
    if not remove and not is_paused:
        remove = _stuck(pace, places, frontier)
    missing = tuple(_missing(pace, places, extent.replicas))
    return Moves(
        *extent,
        make_new=tuple(at for at in missing if at in due),
        make_old=tuple(at for at in missing if at not in due),
        remove=remove,
        early=tuple(sorted({*early, *(at for at in remove if at < min(frontier, extent.partition))})),
    )


def frontier_of(places: Sequence[Seen]) -> int:
    """Groups from here on are of the newest revision, or missing."""
    old = [at for at, place in enumerate(places) if place.stays and not place.is_updated]
    return old[-1] + 1 if old else 0


def _next_extent(pace: Pace, places: Sequence[Seen], frontier: int) -> Extent:
    beginning = max(frontier, pace.partition)
    if frontier <= pace.partition:  # all are updated; surge that is ready stays as long as it is needed
        return Extent(beginning, pace.replicas)
    states = [_state(place, at, beginning, pace.partition) for at, place in enumerate(places)]
    return advance(pace, states, Extent(frontier, len(places)))


def _halted(pace: Pace, places: Sequence[Seen], frontier: int) -> Extent:
    """While paused the number of groups is kept, and each keeps its revision."""
    replicas = max(pace.replicas, min(len(places), pace.bound))
    staying = [place for place in places if place.stays]
    has_begun = any(place.is_updated for place in staying) or not staying
    return Extent(frontier if has_begun else replicas, replicas)


def _state(place: Seen, at: int, frontier: int, partition: int) -> GroupState:
    """A group held back by the partition is as new as it should be; a missing one is what it will become."""
    is_updated = place.is_updated if place.stays else at >= frontier
    return GroupState(place.counts, is_updated or at < partition)


def _stuck(pace: Pace, places: Sequence[Seen], frontier: int) -> tuple[int, ...]:
    """Where all new groups are ready, old ones that are sick use the budget up: the highest goes early."""
    if not all(place.counts for place in places[frontier : pace.replicas]):
        return ()
    return tuple(at for at in range(pace.partition, frontier) if places[at].is_sick)[-1:]


def _missing(pace: Pace, places: Sequence[Seen], replicas: int) -> Iterator[int]:
    room = pace.bound - sum(place.exists for place in places)
    missing = [at for at in range(replicas) if at >= len(places) or not places[at].exists]
    yield from missing[: max(0, room)]


def _removals(pace: Pace, places: Sequence[Seen], replicas: int, due: Collection[int]) -> Iterator[int]:
    """Beyond the bound at once, beyond what is wanted and old ones as long as enough stay ready."""
    ready = sum(place.counts for place in places)
    staying = [at for at in range(len(places) - 1, -1, -1) if places[at].stays]
    over = [at for at in staying if at >= replicas]
    old = [at for at in staying if at < replicas and at in due and not places[at].is_updated]
    for at in [*over, *sorted(old, key=lambda at: places[at].is_ready)]:
        if not places[at].is_ready:
            yield at
        elif at >= pace.bound or ready > pace.lowest_ready:
            ready -= 1
            yield at
