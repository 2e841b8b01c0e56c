"""How composites stand above each other, and the names of those in which instances of a RoleBasedGroup start."""

from collections.abc import Callable
from zlib import crc32

LONGEST = 48  # so that `-segment-99999` still makes a label value
MOST_LEVELS = 64


def composite_name(beginning: str, segment: int) -> str:
    """People count segments from 1, code from 0."""
    return f"{beginning}-segment-{segment + 1}"


def beginning_of(*names: str) -> str:
    """A beginning for the composites of a group, or of a team in it; long ones are cut and told apart."""
    whole = "-".join(names)
    if len(whole) <= LONGEST:
        return whole
    return f"{whole[: LONGEST - 9].rstrip('-')}-{crc32(whole.encode()):08x}"


def way_up_fault(name: str, parent_of: Callable[[str], str]) -> str:
    """Why there is no top above a composite of a namespace; nothing where all is well."""
    line, at = [name], parent_of(name)
    while at:
        line.append(at)
        if at in line[:-1]:
            return f"parents form a circle: {' -> '.join(line)}"
        if len(line) > MOST_LEVELS:
            return f"more than {MOST_LEVELS} composites stand above each other"
        at = parent_of(at)
    return ""
