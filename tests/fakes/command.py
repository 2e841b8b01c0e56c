"""The `quorate` command run to its end inside the test's process."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from quorate.cli.main import main


class Ended(NamedTuple):
    """How a command left and what it printed."""

    status: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line that a refusal is."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self
        return lines[0]


Quorate = Callable[..., Ended]


def runner(captured: pytest.CaptureFixture[str]) -> Quorate:
    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as left:
            main(list(arguments))
        code = left.value.code
        return Ended(code if isinstance(code, int) else 0, *captured.readouterr())

    return run
