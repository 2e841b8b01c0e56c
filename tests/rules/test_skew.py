"""Skews: shares and counts."""

from fractions import Fraction

import pytest

from quorate.rules.skew import NO_LIMIT, Skew, SkewError, share, skew


@pytest.mark.parametrize(
    ("text", "expected"), [(" 5% ", "1/20"), ("0%", "0"), ("100%", "1"), ("2.5%", "1/40")]
)
def test_a_percentage_is_an_exact_share(text: str, expected: str) -> None:
    assert share(text) == Fraction(expected)


@pytest.mark.parametrize("text", ["5", "abc%", "150%", "-1%", "", "%", "5 %"])
def test_what_is_no_percentage_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(SkewError, match="is not a percentage"):
        share(text)


def test_a_skew_is_a_share_a_count_or_no_limit() -> None:
    assert [int(skew("5%").of(300)), int(skew(4).of(300))] == [15, 4]
    assert skew(None) == NO_LIMIT
    assert skew(3) == Skew(count=3)
    with pytest.raises(SkewError, match="negative"):
        skew(-1)
