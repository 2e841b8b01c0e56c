"""Groupers beyond those we know: installed plugins, and the file of `--grouping-file`."""

from importlib.metadata import entry_points
from pathlib import Path

from quorate.cli.failures import fail
from quorate.cli.optionfile import from_file
from quorate.grouping.mapping import MappingError, parse_mapping
from quorate.grouping.plugins import ENTRY_POINTS, PluginError, joined, load
from quorate.grouping.subject import Extensions


def extensions(file: Path | None) -> Extensions:
    """The file wins over plugins, and both over what is built in."""
    try:
        plugins = load(entry_points(group=ENTRY_POINTS))
    except PluginError as error:
        raise fail(str(error), remedy="uninstall the package or mend it") from error
    if file is None:
        return plugins
    return joined(plugins, from_file("--grouping-file", file, parse_mapping, MappingError))
