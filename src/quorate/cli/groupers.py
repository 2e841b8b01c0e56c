"""Groupers beyond those we know: installed plugins, and the file of `--grouping-file`."""

from importlib.metadata import entry_points
from pathlib import Path

from quorate.cli.failures import fail
from quorate.grouping.mapping import MappingError, parse_mapping
from quorate.grouping.plugins import ENTRY_POINTS, PluginError, joined, load
from quorate.grouping.subject import Extensions


def extensions(file: Path | None) -> Extensions:
    """The file wins over plugins, and both over what is built in."""
    try:
        plugins = load(entry_points(group=ENTRY_POINTS))
    except PluginError as error:
        raise fail(str(error), remedy="uninstall the package or mend it") from error
    return plugins if file is None else joined(plugins, _mapped(file))


def _mapped(file: Path) -> Extensions:
    try:
        return parse_mapping(file.read_text())
    except FileNotFoundError as error:
        raise fail(f"--grouping-file {file}: no such file", status=2) from error
    except (MappingError, UnicodeDecodeError) as error:
        raise fail(f"--grouping-file {file}: {error}", status=2) from error
