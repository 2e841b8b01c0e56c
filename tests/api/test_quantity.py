import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorate.api.quantity import QuantityError, canonical, milli, units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1000), ("0.5", 500), ("500m", 500), ("+2", 2000), ("-1500m", -1500), (".5", 500), ("5.", 5000),
        ("1u", 1), ("1n", 1), ("1001u", 2), ("-1n", -1), ("1k", 10**6), ("1Ki", 1_024_000),
        ("1.5Gi", 1610612736000), ("2e3", 2_000_000), ("2E-3", 2), ("1E", 10**21), ("1Ei", 1024**6 * 1000),
        ("12e6", 12 * 10**9), (2, 2000), (0.25, 250), ("0", 0),
    ],
)  # fmt: skip
def test_every_form_is_read_in_thousandths(text: str | float, expected: int) -> None:
    assert milli(text) == expected


def test_whole_units_round_away_from_zero() -> None:
    assert [units("1500m"), units("1n"), units("-1500m"), units("1Ki")] == [2, 1, -2, 1024]


@pytest.mark.parametrize(
    "text", ["", "1 Gi", "Gi", "1gi", "1e", "--1", "1.2.3", "0x10", "1e99999", "True", "nan"]
)
def test_a_text_that_is_no_quantity_is_named(text: str) -> None:
    with pytest.raises(
        QuantityError, match='is not a quantity: write a number with an optional suffix, as in "500m"'
    ):
        milli(text)


@given(st.integers(0, 10**18), st.booleans())
def test_canonical_text_reads_back_unchanged(amount: int, binary: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    assert milli(canonical(amount, binary=binary)) == amount


def test_canonical_text_is_what_kubernetes_prints() -> None:
    assert canonical(1500) == "1500m"
    assert canonical(2000) == "2"
    assert canonical(2_000_000) == "2k"
    assert canonical(1024 * 1024 * 1000, binary=True) == "1Mi"
    assert canonical(0) == "0"
