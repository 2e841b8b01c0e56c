import pytest

from quorate.api.podgroup import PodGroupSpec, SubGroup
from quorate.rules.tree import TreeError, from_spec
from quorate.rules.validity import validate


def errors(*groups: SubGroup) -> list[str]:
    return [str(fault) for fault in validate(PodGroupSpec(sub_groups=list(groups))).errors]


def test_a_leaf_needs_a_minimum() -> None:
    assert errors(SubGroup(name="a")) == ["spec.subGroups[0].minMember: subgroup a: minMember is required"]


def test_a_leaf_refuses_a_minimum_of_children() -> None:
    assert errors(SubGroup(name="a", min_member=1, min_sub_group=0)) == [
        'spec.subGroups[0].minSubGroup: subgroup "a": minMember and minSubGroup are mutually exclusive'
    ]
    assert errors(SubGroup(name="a", min_sub_group=0)) == [
        (
            'spec.subGroups[0].minSubGroup: subgroup "a": minSubGroup cannot be set on a leaf SubGroup '
            "(no child SubGroups)"
        ),
        "spec.subGroups[0].minMember: subgroup a: minMember is required",
    ]


def test_structure_is_reported_before_minimums() -> None:
    assert errors(
        SubGroup(name="a", parent="x"), SubGroup(name="a"), SubGroup(name="b", parent="b", min_member=1)
    ) == [
        "spec.subGroups[0].parent: parent x of a was not found",
        "spec.subGroups[1].name: duplicate subgroup name a",
        "spec.subGroups[2].parent: cycle detected in subgroups",
    ]


def test_a_name_must_be_a_dns_label() -> None:
    (error,) = errors(SubGroup(name="Worker_1", min_member=1))
    assert error.startswith('spec.subGroups[0].name: "Worker_1" is not a DNS label: use')


def test_a_negative_minimum_is_refused() -> None:
    (error,) = validate(PodGroupSpec(min_member=-1)).errors
    assert str(error) == "spec.minMember: -1 is not between 0 and 2147483647"


def test_both_minimums_are_valid_where_there_are_children() -> None:
    spec = PodGroupSpec(min_member=24, min_sub_group=3, sub_groups=_replicas(4))
    assert validate(spec) == ((), ())


def test_both_minimums_are_refused_on_a_flat_gang() -> None:
    (error,) = validate(PodGroupSpec(min_member=24, min_sub_group=3)).errors
    assert error.message.startswith("minMember and minSubGroup are mutually exclusive: set minMember (24)")


def test_more_children_than_there_are_is_a_warning() -> None:
    (warning,) = validate(PodGroupSpec(min_sub_group=5, sub_groups=_replicas(4))).warnings
    assert (
        str(warning) == "spec.minSubGroup: minSubGroup (5) exceeds the number of direct child SubGroups (4)"
    )


def test_more_members_than_the_required_children_hold_is_a_warning() -> None:
    (warning,) = validate(PodGroupSpec(min_member=30, min_sub_group=3, sub_groups=_replicas(3))).warnings
    assert warning.message == (
        "minMember (30) exceeds the 24 pods that the 3 required child SubGroups hold at their minimum"
    )


def test_a_cycle_is_no_tree() -> None:
    with pytest.raises(TreeError, match="cycle detected in subgroups"):
        from_spec(PodGroupSpec(sub_groups=[SubGroup(name="a", parent="b"), SubGroup(name="b", parent="a")]))


def test_a_group_without_a_name_is_no_tree() -> None:
    with pytest.raises(TreeError, match=r"spec.subGroups\[0\].name"):
        from_spec(PodGroupSpec(sub_groups=[SubGroup(name="", min_member=1)]))


def test_a_tree_has_as_many_levels_as_the_schema_has_groups() -> None:
    chain = [SubGroup(name=f"g{at}", parent=f"g{at - 1}" if at else None) for at in range(513)]
    assert errors(*chain) == ["spec.subGroups[512].parent: g512 is more than 512 levels deep"]
    assert not errors(*chain[:511], SubGroup(name="leaf", parent="g510", min_member=1))
    assert not errors(*(SubGroup(name=f"w{at}", min_member=1) for at in range(600)))


def _replicas(count: int) -> list[SubGroup]:
    return [SubGroup(name=f"w-{index}", min_member=8) for index in range(count)]
