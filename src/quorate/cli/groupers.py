"""Groupers beyond those we know: installed plugins, and the file of `--grouping-file`."""

from pathlib import Path

from quorate.cli.optionfile import from_file
from quorate.cli.plugins import installed
from quorate.grouping.mapping import MappingError, group_kind, parse_mapping
from quorate.grouping.paths import PathError
from quorate.grouping.plugins import guarded, joined
from quorate.grouping.subject import Extensions, Rules


def extensions(file: Path | None) -> Extensions:
    """The file wins over plugins, and both over what is built in."""
    plugins = _plugins()
    if file is None:
        return plugins
    return joined(plugins, from_file("--grouping-file", file, parse_mapping, MappingError))


def _plugins() -> Extensions:
    kinds: dict[tuple[str, str], Rules] = {}
    for plugin in installed("quorate.groupers"):
        try:
            kind = group_kind(plugin.name)
        except PathError as error:
            raise plugin.refused(str(error)) from error
        if kind in kinds:
            raise plugin.refused("another package groups this kind too")
        kinds[kind] = guarded(plugin.function, plugin.name)
    return Extensions(kinds)
