"""Turns expected failures into one line on standard error with the cause and the remedy.

| exit status | meaning |
|---|---|
| 1 | what the command looked for is not so, a manifest makes no sense, or something unexpected happened |
| 2 | the command line is wrong |
| 3 | the environment is not able: a port is taken, a directory is not ours, the disk is full, no API server |
"""

import errno
import os
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
    errno.EACCES: "choose a path this user may write",
    errno.EEXIST: "a file stands where a folder is needed; choose another path",
    errno.EROFS: "choose a path on a writable disk",
}


@contextmanager
def refusals() -> Iterator[None]:
    """What starting a cluster or reaching one may fail with; the text of each has the cause and the remedy."""
    from quorate.controllers.app import SettingsError  # noqa: PLC0415 - keeps other commands fast
    from quorate.embedded.errors import ApiError  # noqa: PLC0415 - likewise
    from quorate.embedded.persistence import DataDirectoryError  # noqa: PLC0415 - likewise
    from quorate.embedded.server import AddressError  # noqa: PLC0415 - likewise
    from quorate.kube.errors import KubeError  # noqa: PLC0415 - likewise

    try:
        yield
    except (AddressError, DataDirectoryError, KubeError) as error:
        raise fail(str(error)) from error
    except SettingsError as error:
        raise fail(str(error), status=2) from error
    except ApiError as error:
        raise fail(f"the cluster cannot be set up: {error}") from error


@contextmanager
def as_one_line() -> Iterator[None]:
    """What the command line itself gets wrong, and operating system errors, which are about a path given."""
    try:
        yield
    except typer.Abort:
        sys.exit(130)  # Ctrl-C before anybody listened for it
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "quorate"
        fail(error.format_message().rstrip("."), remedy=f"see {command} --help")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # whoever read the output has seen enough; the interpreter must not flush into the pipe again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except RecursionError:
        fail("what was given is nested too deeply", remedy="no manifest needs hundreds of levels")
        sys.exit(1)
    except OSError as error:
        if not error.filename and error.errno not in _REMEDIES:
            raise
        where = f" {error.filename}" if error.filename else ""
        fail(f"{error.strerror}:{where}", remedy=_REMEDIES.get(error.errno or 0, "choose another path"))
        sys.exit(UNABLE)
