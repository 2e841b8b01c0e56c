import pytest

from quorate.rules.dependencies import DependencyError, levels


def test_a_level_needs_only_what_came_before() -> None:
    needs = {"d": ["b", "c"], "a": [], "c": ["a"], "b": ["a"]}
    assert levels(needs) == [["a"], ["b", "c"], ["d"]]


@pytest.mark.parametrize("needs", [{"a": ["a"]}, {"z": [], "a": ["b"], "b": ["c"], "c": ["b"]}])
def test_a_circle_names_one_of_its_roles(needs: dict[str, list[str]]) -> None:
    with pytest.raises(DependencyError, match=r"cycle detected for role '[abc]'"):
        levels(needs)


def test_a_role_before_a_circle_is_not_blamed() -> None:
    with pytest.raises(DependencyError, match="cycle detected for role 'b'"):
        levels({"a": ["b"], "b": ["b"]})


def test_an_unknown_role_is_named() -> None:
    with pytest.raises(DependencyError, match=r"role \[a\] with dependency role \[x\] not found in rbg"):
        levels({"a": ["x"]})
