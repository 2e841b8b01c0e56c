"""How many pods of a group may be evicted at a time, as an annotation says it: a number or a percentage."""

import re

_AMOUNT = re.compile(r"(\d+)(%?)")


def evictable_pods(text: str, size: int) -> int | None:
    """The amount for a group of this size, a percentage rounded down; `None` if the text says no amount."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return None
    amount = int(found[1])
    return min(size, size * min(amount, 100) // 100 if found[2] else amount)
