"""Optional field access, `a.?b.c` and `a[?k]`, which the CEL engine cannot parse, as calls of a function.

`rewritten` turns `a.?b.c` into `optionalSelect(optionalSelect(a, "b"), "c")`; as in CEL, once a chain is
optional, the plain accesses that follow are so too.
"""

import re
from typing import Any

from cel import OptionalValue

SELECT = "optionalSelect"

_MARK = re.compile(r"\.\?|\[\?")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_NAME = re.compile(r"\s*(\w+)")
_PLAIN = re.compile(r"\.(\w+)(?!\w|\s*\()")
_CLOSED_BY = {")": "(", "]": "["}


def select(value: Any, key: Any) -> Any:
    """The optional value of a key of a map or index of a list, either of which may be optional itself."""
    if isinstance(value, OptionalValue):
        if not value.has_value():
            return value
        value = value.value()
    if isinstance(value, dict):
        return OptionalValue.of(value[key]) if key in value else OptionalValue.none()
    inside = isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value)
    return OptionalValue.of(value[key]) if inside else OptionalValue.none()


def rewritten(source: str) -> str:
    """The expression without optional syntax."""
    while (mark := _MARK.search(_masked(source))) is not None:
        start = _chain_start(_masked(source), mark.start())
        key, end = _key(source, mark)
        call = f"{SELECT}({source[start : mark.start()]}, {key})"
        while (plain := _PLAIN.match(source, end)) is not None:
            call, end = f'{SELECT}({call}, "{plain[1]}")', plain.end()
        source = source[:start] + call + source[end:]
    return source


def _masked(source: str) -> str:
    """The expression with its texts blanked out, so that nothing in them is taken for syntax."""
    return _STRING.sub(lambda text: '"' + "_" * (len(text[0]) - 2) + '"', source)


def _key(source: str, mark: re.Match[str]) -> tuple[str, int]:
    """The key that follows the mark, as an expression, and where the access ends."""
    if mark[0] == ".?":
        name = _NAME.match(source, mark.end())
        return (f'"{name[1]}"', name.end()) if name else ('""', mark.end())
    masked, depth = _masked(source), 1
    end = mark.end()
    while end < len(masked) and depth:
        depth += {"[": 1, "]": -1}.get(masked[end], 0)
        end += 1
    return source[mark.end() : end - 1], end


def _chain_start(masked: str, end: int) -> int:
    """Where the chain of names, calls and indexes begins that ends here."""
    position = end
    while position > 0:
        character = masked[position - 1]
        if character in _CLOSED_BY:
            position = _opening(masked, position - 1)
        elif character.isalnum() or character in '_."':
            position -= 1
        else:
            break
    return position


def _opening(masked: str, closing: int) -> int:
    depth = 0
    for position in range(closing, -1, -1):
        depth += (masked[position] in ")]") - (masked[position] in "([")
        if depth == 0:
            return position
    return 0
