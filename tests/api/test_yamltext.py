import msgspec
import pytest

from quorate.api.yamltext import UnreadableError, parsed


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    size: int = 0


def test_an_empty_text_has_nothing_set() -> None:
    assert parsed("", Shape) == Shape()
    assert parsed("size: 2", Shape) == Shape(2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\n", "this is not YAML: line 2, column 1: did not find expected ',' or ']'"),
        ("size: \0", "this is not YAML: unacceptable character"),
        ("size: two", "size: Expected `int`, got `str`"),
        ("colour: red", "the file: Object contains unknown field `colour`"),
        ("- 1", "the file: Expected `object`, got `array`"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(UnreadableError) as found:
        parsed(text, Shape)
    assert str(found.value).startswith(message)
    assert "\n" not in str(found.value)
