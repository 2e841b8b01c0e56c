"""Turns expected failures into one line on standard error with the cause and the remedy.

| exit status | meaning |
|---|---|
| 1 | the command ran and what it looked for is not so, or something unexpected happened |
| 2 | the command line is wrong |
| 3 | the environment is not able: a port is taken, a directory is not ours, the disk is full, no API server |
"""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

UNABLE = 3


def fail(message: str, *, remedy: str = "", status: int = UNABLE) -> typer.Exit:
    """Print one line; what comes back is to be raised."""
    line = " ".join(message.split())
    print(f"quorate: {line}" + (f"; {remedy}" if remedy else ""), file=sys.stderr)
    return typer.Exit(status)


_REMEDIES = {
    errno.ENOSPC: "free some space or choose another --data-dir",
    errno.EADDRINUSE: "choose another --port, or 0 for any free one",
    errno.EACCES: "choose a path this user may write",
    errno.EROFS: "choose a path on a writable disk",
}


@contextmanager
def as_one_line() -> Iterator[None]:
    """Operating system errors that reach the command line are causes with known remedies, not tracebacks."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        where = f" {error.filename}" if error.filename else ""
        fail(f"{error.strerror}{where}", remedy=_REMEDIES[error.errno])
        sys.exit(UNABLE)
    except KeyboardInterrupt:
        sys.exit(130)
