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
