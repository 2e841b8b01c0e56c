import pytest

from quorate.rules.evictable import evictable_pods


@pytest.mark.parametrize(
    ("text", "pods"),
    [
        ("0", 0),
        ("3", 3),
        ("9", 4),
        ("50%", 2),
        ("49%", 1),
        ("300%", 4),
        ("-1", None),
        ("a", None),
        ("", None),
    ],
)
def test_an_amount_is_a_number_or_a_percentage_rounded_down(text: str, pods: int | None) -> None:
    assert evictable_pods(text, 4) == pods
