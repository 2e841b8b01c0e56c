"""On small clusters the answer is exact: what starts is what trying every placement says can start."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.gang_start import run
from tests.fakes.drawn import EXAMPLES
from tests.fakes.exhaustive import can_start

Json = dict[str, Any]

LEVEL = st.sampled_from([None, None, "zone", "rack"])


@st.composite
def leaves(draw: st.DrawFn, name: str) -> Json:
    members = draw(st.integers(0, 3))
    leaf = {"name": name, "members": members, "gpus": draw(st.integers(1, 3))}
    return _at(draw, {**leaf, "minMember": draw(st.integers(0, 3))})


@st.composite
def groups(draw: st.DrawFn, name: str, room: int, depth: int) -> Json:
    """A tree of so many leaves at most."""
    count = draw(st.integers(1, min(room, 3)))
    children = []
    for number in range(count):
        mine = room // count
        is_tree = depth and mine > 1 and draw(st.booleans())
        inner = groups(f"{name}-{number}", mine, depth - 1) if is_tree else leaves(f"{name}-{number}")
        children.append(draw(inner))
    group: Json = {"name": name, "children": children}
    if draw(st.booleans()):
        group["minSubGroup"] = draw(st.integers(0, count))
    if draw(st.integers(0, 3)) == 0:
        group["minMember"] = draw(st.integers(0, 5))
    return _at(draw, group)


def _at(draw: st.DrawFn, group: Json) -> Json:
    level = draw(LEVEL)
    return {**group, "level": level} if level else group


@st.composite
def worlds(draw: st.DrawFn) -> Json:
    nodes = [
        {
            "name": f"n{number}",
            "gpus": draw(st.integers(0, 6)),
            "zone": draw(st.sampled_from(["z0", "z0", "z1"])),
            "rack": draw(st.sampled_from(["r0", "r1"])),
        }
        for number in range(draw(st.integers(1, 3)))
    ]
    return {"nodes": nodes, "gang": draw(groups("w", 4, 2))}


@settings(max_examples=EXAMPLES, deadline=None)
@given(worlds())
def test_a_gang_starts_exactly_where_some_placement_starts_it(world: Json) -> None:
    outcome = run({**world, "expect": {"starts": can_start(world)}}, {})
    assert outcome.verdict == "passed", outcome.detail
