"""Waiting for a state of the world in tests of real time: look often, give up with what was seen last."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(look: Callable[[], T], *, until: Callable[[T], object] = bool, within: float = 30) -> T:
    """Look until what is seen holds; the last look is in the failure."""
    deadline = time.monotonic() + within
    while True:
        seen = look()
        if until(seen):
            return seen
        assert time.monotonic() < deadline, f"not so within {within} s; last seen: {seen!r}"
        time.sleep(0.05)
