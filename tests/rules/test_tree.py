from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.api.podgroup import PodGroupSpec, SubGroup
from quorate.rules import tree as rules
from quorate.rules.tree import ROOT, Tree, Unit, Victim


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


def test_spec_order_is_not_string_order() -> None:
    tree = replicas(12, 1, 3)
    unit = rules.next_unit(tree, {}, {f"w-{index}": 1 for index in range(12)})
    assert unit == Unit(ROOT, {"w-0": 1, "w-1": 1, "w-2": 1})


def test_a_child_without_enough_members_is_passed_over() -> None:
    tree = replicas(3, 2, 2)
    unit = rules.next_unit(tree, {}, {"w-0": 1, "w-1": 2, "w-2": 2})
    assert unit == Unit(ROOT, {"w-1": 2, "w-2": 2})


def test_a_gang_without_enough_members_does_not_start() -> None:
    assert rules.next_unit(replicas(2, 2), {}, {"w-0": 2, "w-1": 1}) is None


def test_children_that_hold_members_are_completed_first() -> None:
    tree = replicas(3, 2, 1)
    unit = rules.next_unit(tree, {"w-2": 1}, {"w-0": 2, "w-1": 2, "w-2": 2})
    assert unit == Unit(ROOT, {"w-2": 1})


def test_a_satisfied_gang_grows_by_whole_children_then_by_single_members() -> None:
    tree = replicas(2, 2, 1)
    found = rules.units(tree, {"w-0": 2}, {"w-0": 3, "w-1": 2})
    assert found == [Unit("w-1", {"w-1": 2}), Unit("w-0", {"w-0": 1})]


def test_siblings_grow_evenly() -> None:
    tree = replicas(2, 2)
    found = rules.units(tree, {"w-0": 3, "w-1": 2}, {"w-0": 4, "w-1": 4})
    assert found == [Unit("w-1", {"w-1": 1}), Unit("w-0", {"w-0": 1})]


def test_a_member_minimum_above_the_children_starts_more_members() -> None:
    tree = replicas(2, 2, 1, 3)
    assert rules.next_unit(tree, {}, {"w-0": 3, "w-1": 2}) == Unit(ROOT, {"w-0": 3})
    assert rules.next_unit(tree, {}, {"w-0": 2, "w-1": 2}) == Unit(ROOT, {"w-0": 2, "w-1": 2})


def test_extras_go_before_optional_children_before_the_gang() -> None:
    tree = replicas(2, 2, 1)
    assert rules.next_victim(tree, {"w-0": 3, "w-1": 2}) == Victim("w-0", {"w-0": 1})
    assert rules.next_victim(tree, {"w-0": 2, "w-1": 2}) == Victim("w-1", {"w-1": 2})
    assert rules.next_victim(tree, {"w-0": 2}) == Victim(ROOT, {"w-0": 2}, is_whole_gang=True)
    assert rules.next_victim(tree, {}) is None


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
    assert rules.next_unit(tree, {}, everything) == Unit(ROOT, core)
    assert rules.next_victim(tree, everything, protected=core) == Victim("decode-1", {"decode-1": 4})
    assert rules.next_victim(tree, core, protected=core) is None


def test_a_chain_as_long_as_the_schema_allows_is_read() -> None:
    links = [SubGroup(name="g0")]
    links += [SubGroup(name=f"g{i}", parent=f"g{i - 1}") for i in range(1, 511)]
    tree = rules.from_spec(PodGroupSpec(sub_groups=[*links, leaf("last", 2, "g510")]))
    assert rules.satisfied(tree, {"last": 2})[ROOT] is True
    assert rules.next_unit(tree, {}, {"last": 2}) == Unit(ROOT, {"last": 2})


@st.composite
def gangs(draw: st.DrawFn) -> tuple[Tree, dict[str, int], dict[str, int]]:
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
    live = {leaf.name: draw(st.integers(0, 4)) for leaf in tree.leaves}
    active = {name: draw(st.integers(0, count)) for name, count in live.items()}
    return tree, active, live


@given(gangs())
@settings(max_examples=300, deadline=None)
def test_a_started_unit_satisfies_its_group_with_members_that_exist(
    gang: tuple[Tree, dict[str, int], dict[str, int]],
) -> None:
    tree, active, live = gang
    for unit in rules.units(tree, active, live):
        after = {name: active[name] + unit.members.get(name, 0) for name in active}
        assert all(after[name] <= live[name] for name in after)
        assert rules.satisfied(tree, after)[unit.group]


@given(gangs())
@settings(max_examples=300, deadline=None)
def test_victims_never_break_a_satisfied_gang_and_never_touch_the_core(
    gang: tuple[Tree, dict[str, int], dict[str, int]],
) -> None:
    tree, active, _ = gang
    core = rules.core(tree, active)
    assert rules.satisfied(tree, core)[ROOT] == rules.satisfied(tree, active)[ROOT]
    left = dict(active)
    while victim := rules.next_victim(tree, left, protected=core):
        before = rules.satisfied(tree, left)[ROOT]
        left = {name: left[name] - victim.members.get(name, 0) for name in left}
        assert all(left[name] >= core.get(name, 0) for name in left)
        assert victim.is_whole_gang or rules.satisfied(tree, left)[ROOT] == before
