"""Segments under every order of events, up to a bound: they always get where they should, and never lose a pod."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.workloads.segments import Coordination, Progression, RoleState, place
from tests.workloads.segments_model import (
    Explored,
    Instance,
    Model,
    Status,
    World,
    explore,
    statuses_by_segment,
    unready_segments,
)

ORDERED, ORDERED_READY, PARALLEL = Progression
PAIR = {"a": 2, "b": 1}
CHAIN = ({"a": 2, "b": 1}, {"b": 1, "c": 1})
APART = ({"a": 2}, {"b": 1})
ROOM = 99
MOST_STATES = 100_000


def _model(sizes: tuple[dict[str, int], ...], progression: Progression, capacity: int = ROOM) -> Model:
    names = tuple(sorted({name for each in sizes for name in each}))
    found = tuple(Coordination(f"c{at}", each, progression) for at, each in enumerate(sizes))
    return Model(names, found, capacity)


@pytest.mark.parametrize("progression", Progression)
@pytest.mark.parametrize(
    ("sizes", "desired", "scales", "failures"),
    [
        ((PAIR,), (4, 2), ((5, 1),), 1),
        (({"a": 1, "b": 1},), (3, 1), ((1, 2),), 2),
        (CHAIN, (2, 2, 1), ((2, 1, 2),), 1),
        (APART, (2, 2), ((2, 1),), 1),
        pytest.param((PAIR,), (5, 3), ((6, 2), (2, 3)), 2, marks=pytest.mark.nightly),
        pytest.param(CHAIN, (3, 3, 2), ((4, 2, 3),), 1, marks=pytest.mark.nightly),
        pytest.param(APART, (4, 3), ((2, 4),), 1, marks=pytest.mark.nightly),
    ],
)
def test_every_order_of_events_ends_with_what_is_desired(
    progression: Progression,
    sizes: tuple[dict[str, int], ...],
    desired: tuple[int, ...],
    scales: tuple[tuple[int, ...], ...],
    failures: int,
) -> None:
    model = _model(sizes, progression)
    _all_end_as_desired(model, model.start(desired, scales=scales, failures=failures))


@pytest.mark.parametrize(
    ("sizes", "desired", "more", "failures"),
    [
        ((PAIR,), (2, 1), (3, 2), 1),
        (APART, (2, 1), (3, 1), 1),
        (CHAIN, (2, 1, 1), (3, 1, 1), 0),
        pytest.param(({"a": 1, "b": 1},), (2, 1), (3, 2), 1, marks=pytest.mark.nightly),
        pytest.param(CHAIN, (2, 1, 1), (3, 1, 1), 1, marks=pytest.mark.nightly),
        pytest.param((PAIR,), (2, 1), (4, 2), 0, marks=pytest.mark.nightly),
        pytest.param(CHAIN, (2, 1, 1), (3, 2, 1), 0, marks=pytest.mark.nightly),
        pytest.param((PAIR,), (4, 2), (6, 3), 0, marks=pytest.mark.nightly),
    ],
)
def test_failing_scaling_and_rolling_at_any_moment_end_with_the_new_revision(
    sizes: tuple[dict[str, int], ...], desired: tuple[int, ...], more: tuple[int, ...], failures: int
) -> None:
    model = _model(sizes, ORDERED_READY)
    first = model.start(desired, running=desired, scales=(more,), rolls=1, failures=failures)
    _all_end_as_desired(model, first)


@pytest.mark.parametrize(("rolls", "failures"), [(2, 0), (1, 1)])
def test_an_update_or_its_roll_back_takes_down_one_segment_at_a_time(rolls: int, failures: int) -> None:
    """A failure may cost a second segment; in a cluster that is full, too, everything is new in the end."""
    model = _model((PAIR,), ORDERED_READY, capacity=6)
    found = _all_end_as_desired(model, model.start((4, 2), running=(4, 2), rolls=rolls, failures=failures))
    assert max(len(unready_segments(model, world)) for world in found.ends if world.revision) <= 1 + failures


@pytest.mark.parametrize("progression", [ORDERED, ORDERED_READY])
def test_a_segment_without_room_waits_whole_while_the_others_run(progression: Progression) -> None:
    """Room for two segments of three and a bit: whatever happens, two run, and of the third nothing does."""
    model = _model((PAIR,), progression, capacity=8)
    found = explore(model, model.start((6, 3), running=(2, 1), failures=1), MOST_STATES)
    for world, end in found.ends.items():
        assert statuses_by_segment(model, end) in WHOLE, (world, end)


# as the cluster chose, two of three
WHOLE = [[{Status.READY}, {Status.READY}, {Status.WAITS}], [{Status.READY}, {Status.WAITS}, {Status.READY}]]


def test_running_segments_roll_while_a_new_one_has_no_room() -> None:
    model = _model((PAIR,), ORDERED_READY, capacity=6)
    found = explore(model, model.start((6, 3), running=(4, 2), rolls=1), MOST_STATES)
    for end in found.ends.values():
        running = {*end.roles[0][:4], *end.roles[1][:2]}
        assert running == {Instance(end.revision, Status.READY)}


def _all_end_as_desired(model: Model, first: World) -> Explored:
    found = explore(model, first, MOST_STATES)
    for world, end in found.ends.items():
        assert model.is_done(end), (world, end)
    return found


@st.composite
def _configurations(draw: st.DrawFn) -> tuple[list[Coordination], dict[str, RoleState]]:
    """Up to four roles of any totals, sizes and states, in up to three coordinations that agree."""
    names = "abcd"[: draw(st.integers(1, 4))]
    sizes = {name: draw(st.integers(1, 9)) for name in names}
    progression = draw(st.sampled_from(Progression))
    groups = draw(st.lists(st.sets(st.sampled_from(names), min_size=1), min_size=1, max_size=3))
    found = [
        Coordination(f"c{at}", {name: sizes[name] for name in sorted(group)}, progression)
        for at, group in enumerate(groups)
    ]
    states = {}
    for name in sorted(set().union(*groups)):
        current = draw(st.integers(0, 60))
        states[name] = RoleState(draw(st.integers(0, 60)), current, draw(st.integers(0, current)))
    return found, states


def _reaches_desired(configuration: tuple[list[Coordination], dict[str, RoleState]]) -> None:
    coordinations, states = configuration
    for _ in range(sum(state.desired for state in states.values()) + 3):
        targets = place(coordinations, states).targets
        for name, state in states.items():
            assert min(state.current, state.desired) <= targets[name] <= state.desired
        following = {
            name: RoleState(state.desired, targets[name], targets[name]) for name, state in states.items()
        }
        if following == states:
            break
        states = following
    assert all(state.current == state.desired for state in states.values()), states


@given(_configurations())
@settings(max_examples=300, deadline=None)
def test_every_configuration_reaches_what_is_desired(
    configuration: tuple[list[Coordination], dict[str, RoleState]],
) -> None:
    _reaches_desired(configuration)


@pytest.mark.nightly
@given(_configurations())
@settings(max_examples=100_000, deadline=None)
def test_a_hundred_thousand_configurations_reach_what_is_desired(
    configuration: tuple[list[Coordination], dict[str, RoleState]],
) -> None:
    _reaches_desired(configuration)
