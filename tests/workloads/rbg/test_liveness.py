"""The whole of a group's reconcile on random groups and events: with room, everything wanted is ready and new."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.rbg_world import World, placed, role

NAMES = ("a", "b", "c")


@st.composite
def _groups(draw: st.DrawFn) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Roles that depend on earlier ones, and coordinations that agree on sizes and progression."""
    names = NAMES[: draw(st.integers(1, 3))]
    fields: dict[str, dict[str, Any]] = {
        name: {
            "size": draw(st.integers(1, 2)),
            "dependencies": [other for other in names[:at] if draw(st.booleans())],
        }
        for at, name in enumerate(names)
    }
    sizes = {name: draw(st.integers(1, 3)) for name in names}
    linked = draw(st.lists(st.sets(st.sampled_from(names), min_size=1), max_size=2))
    progression = draw(st.sampled_from(["Ordered", "OrderedReady", "Parallel"]))
    coordinations = [
        part
        for group in linked
        for part in placed({name: sizes[name] for name in sorted(group)}, progression=progression)
    ]
    return fields, coordinations


_counts = st.tuples(*[st.integers(0, 5)] * len(NAMES))
_events = st.lists(st.tuples(_counts, st.sampled_from(["1", "2"]), st.integers(0, 6)), min_size=1, max_size=3)


@given(_groups(), _events)
@settings(max_examples=40, deadline=None)
def test_any_group_under_any_events_ends_ready_and_new(
    group: tuple[dict[str, dict[str, Any]], list[dict[str, Any]]],
    events: list[tuple[tuple[int, ...], str, int]],
) -> None:
    """Each event scales and chooses an image, and comes after so many steps, wherever the group is by then."""
    fields, coordinations = group
    world, wanted = World([], coordinations), dict.fromkeys(fields, 0)
    for counts, image, steps in events:
        wanted = dict(zip(fields, counts, strict=False))
        world.roles = [role(name, wanted[name], image=image, **more) for name, more in fields.items()]
        for _ in range(steps):
            world.step()
    world.settle()
    for name, count in wanted.items():
        assert (world.told(name) if count else 0, world.ready(name)) == (count, count)
        assert len({one.revision for one in world.instances.get(f"g-{name}", {}).values()}) <= 1


@given(
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 2)),
    segments=st.integers(1, 3),
    more=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    spare=st.integers(0, 2),
    pause=st.integers(0, 6),
    rolls_first=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_what_ran_is_updated_and_runs_whatever_else_finds_no_room(
    sizes: tuple[int, int],
    segments: int,
    more: tuple[int, int],
    spare: int,
    pause: int,
    rolls_first: bool,  # noqa: FBT001 - drawn
) -> None:
    """Instances of the second role are two pods; there is room for what runs and a little more."""
    before = sizes[0] * segments, sizes[1] * segments
    after = before[0] + more[0], before[1] + more[1]

    def roles(counts: tuple[int, int], image: str) -> list[dict[str, Any]]:
        return [role("a", counts[0], image=image), role("b", counts[1], size=2, image=image)]

    world = World(
        roles(before, "1"), placed({"a": sizes[0], "b": sizes[1]}), room=before[0] + 2 * before[1] + spare
    )
    world.settle()
    world.roles = roles(before, "2") if rolls_first else roles(after, "1")
    for _ in range(pause):
        world.step()
    world.roles = roles(after, "2")
    world.settle()
    for name, count in (("a", before[0]), ("b", before[1])):
        found = [world.instances[f"g-{name}"][at] for at in range(count)]
        assert all(one.ready for one in found)
        assert len({one.revision for one in found}) == 1
