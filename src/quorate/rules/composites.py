"""Names of the composites in which instances of a RoleBasedGroup start: controller and grouper ask here."""

from zlib import crc32

LONGEST = 48  # so that `-segment-99999` still makes a label value


def composite_name(beginning: str, segment: int) -> str:
    """People count segments from 1, code from 0."""
    return f"{beginning}-segment-{segment + 1}"


def beginning_of(*names: str) -> str:
    """A beginning for the composites of a group, or of a team in it; long ones are cut and told apart."""
    whole = "-".join(names)
    if len(whole) <= LONGEST:
        return whole
    return f"{whole[: LONGEST - 9].rstrip('-')}-{crc32(whole.encode()):08x}"
