import pytest

from quorate.api.podspec import LabelSelector, LabelSelectorRequirement
from quorate.api.selectors import SelectorError, compiled, matches, parse

LABELS = {"app": "web", "tier": "front", "index": "7"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True), ("app=web", True), ("app==web", True), ("app!=web", False), ("gone!=web", True),
        ("app in (api, web),tier", True), ("app notin (api,web)", False), ("!gone", True), ("gone", False),
        ("tier=front,app=api", False), ("gone notin (a)", True), ("app=", False),
    ],
)  # fmt: skip
def test_text_selects_as_kubectl_does(text: str, expected: bool) -> None:  # noqa: FBT001 - a parameter of the table
    assert matches(parse(text), LABELS) is expected


def test_a_text_that_is_no_selector_is_named() -> None:
    with pytest.raises(SelectorError, match='"a b" is not a label selector: write "key=value"'):
        parse("a b")


def test_both_parts_of_an_object_selector_must_hold() -> None:
    exists = LabelSelectorRequirement(key="tier", operator="Exists")
    selector = compiled(LabelSelector(match_labels={"app": "web"}, match_expressions=[exists]))
    assert selector is not None
    assert matches(selector, LABELS)
    assert not matches(selector, {"app": "web"})


def test_no_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert compiled(None) is None
    assert compiled(LabelSelector()) == ()


def test_node_selectors_compare_numbers() -> None:
    above = LabelSelectorRequirement(key="index", operator="Gt", values=["5"])
    selector = compiled(LabelSelector(match_expressions=[above]))
    assert selector is not None
    assert matches(selector, LABELS)
    assert not matches(selector, {"index": "x"})
