from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.api.podgroup import PodGroupSpec, SubGroup
from quorate.rules import tree as rules
from quorate.rules.tree import ROOT, Tree


def leaf(name: str, minimum: int, parent: str | None = None) -> SubGroup:
    return SubGroup(name=name, parent=parent, min_member=minimum)


def replicas(count: int, size: int, required: int | None = None, members: int | None = None) -> Tree:
    groups = [leaf(f"w-{index}", size) for index in range(count)]
    return rules.from_spec(PodGroupSpec(sub_groups=groups, min_sub_group=required, min_member=members))


def test_a_flat_gang_needs_one_member_by_default() -> None:
    tree = rules.from_spec(PodGroupSpec())
    assert rules.satisfied(tree, {})[ROOT] is False
    assert rules.satisfied(tree, {ROOT: 1})[ROOT] is True


def test_three_of_four_replicas_satisfy_the_gang() -> None:
    tree = replicas(4, 8, 3)
    assert rules.satisfied(tree, {"w-0": 8, "w-2": 8, "w-3": 8})[ROOT] is True
    assert rules.satisfied(tree, {"w-0": 8, "w-2": 8, "w-3": 7})[ROOT] is False


def test_both_minimums_must_hold() -> None:
    tree = replicas(2, 2, 1, 5)
    assert rules.satisfied(tree, {"w-0": 4})[ROOT] is False
    assert rules.satisfied(tree, {"w-0": 5})[ROOT] is True


def test_the_grove_example_keeps_28_pods() -> None:
    spec = PodGroupSpec(
        min_member=28,
        min_sub_group=2,
        sub_groups=[
            SubGroup(name="prefill", min_member=24, min_sub_group=3),
            *(leaf(f"prefill-{index}", 8, "prefill") for index in range(4)),
            SubGroup(name="decode", min_member=4, min_sub_group=1),
            *(leaf(f"decode-{index}", 4, "decode") for index in range(2)),
        ],
    )
    tree = rules.from_spec(spec)
    everything = {leaf.name: leaf.minimum_members for leaf in tree.leaves}
    core = {"prefill-0": 8, "prefill-1": 8, "prefill-2": 8, "decode-0": 4}
    assert rules.core(tree, everything) == core


def test_a_chain_as_long_as_the_schema_allows_is_read() -> None:
    links = [SubGroup(name="g0")]
    links += [SubGroup(name=f"g{i}", parent=f"g{i - 1}") for i in range(1, 511)]
    tree = rules.from_spec(PodGroupSpec(sub_groups=[*links, leaf("last", 2, "g510")]))
    assert rules.satisfied(tree, {"last": 2})[ROOT] is True
    assert rules.core(tree, {"last": 3}) == {"last": 2}


@st.composite
def gangs(draw: st.DrawFn) -> tuple[Tree, dict[str, int]]:
    count = draw(st.integers(1, 9))
    parents = [None if i == 0 else draw(st.sampled_from([None, *range(i)])) for i in range(count)]
    inner = set(parents)
    small = st.integers(0, 3)
    groups = [
        SubGroup(
            name=f"g{i}",
            parent=None if parents[i] is None else f"g{parents[i]}",
            min_member=draw(st.none() | small) if i in inner else draw(small),
            min_sub_group=draw(st.none() | small) if i in inner else None,
        )
        for i in range(count)
    ]
    spec = PodGroupSpec(
        sub_groups=groups, min_member=draw(st.none() | small), min_sub_group=draw(st.none() | small)
    )
    tree = rules.from_spec(spec)
    return tree, {leaf.name: draw(st.integers(0, 4)) for leaf in tree.leaves}


@given(gangs())
@settings(max_examples=300, deadline=None)
def test_the_core_is_enough_and_none_of_it_is_spare(gang: tuple[Tree, dict[str, int]]) -> None:
    tree, active = gang
    core = rules.core(tree, active)
    assert all(count <= active[leaf] for leaf, count in core.items())
    assert rules.satisfied(tree, core)[ROOT] == rules.satisfied(tree, active)[ROOT]
