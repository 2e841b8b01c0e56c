from quorate.api.podspec import LabelSelector, LabelSelectorRequirement
from quorate.api.selectors import compiled, matches

LABELS = {"app": "web", "tier": "front", "index": "7"}


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
