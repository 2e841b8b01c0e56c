"""Reads the file that an option names; what is wrong with it is one line that names both."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from quorate.cli.failures import fail

T = TypeVar("T")


def from_file(option: str, file: Path, parse: Callable[[str], T], refusal: type[ValueError]) -> T:
    """What `parse` makes of the file; a `refusal` of its text is the user's to mend."""
    try:
        return parse(file.read_text())
    except FileNotFoundError as error:
        raise fail(f"{option} {file}: no such file", status=2) from error
    except (refusal, UnicodeDecodeError) as error:
        raise fail(f"{option} {file}: {error}", status=2) from error
