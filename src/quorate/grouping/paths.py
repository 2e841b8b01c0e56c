"""Paths into an object, as mapping files write them: `spec.replicas`, `metadata.labels["example.com/role"]`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(
    r"""(?:^|\.)(?P<name>[A-Za-z_][\w-]*) | \["(?P<quoted>[^"]+)"\] | \[(?P<index>\d{1,6})\]""", re.VERBOSE
)
_FORM = 'write names with dots between them, as in spec.replicas or metadata.labels["example.com/role"]'


class PathError(ValueError):
    """The message shows the text and where reading it stopped."""


@dataclass(frozen=True, slots=True)
class Path:
    text: str
    steps: tuple[str | int, ...]

    def read(self, tree: Any) -> Any:
        """What stands there, or None."""
        for step in self.steps:
            if isinstance(step, str) and isinstance(tree, Mapping):
                tree = tree.get(step)
            elif isinstance(step, int) and isinstance(tree, list):
                tree = tree[step] if step < len(tree) else None
            else:
                return None
        return tree

    def __str__(self) -> str:
        return self.text


def parse(text: str) -> Path:
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        found = _STEP.match(text, at)
        if found is None:
            raise PathError(f'"{text}" is no path: "{text[at:]}" cannot be read; {_FORM}')
        index = found["index"]
        steps.append(found["name"] or found["quoted"] or int(index))
        at = found.end()
    if not steps:
        raise PathError(f"a path is empty: {_FORM}")
    return Path(text, tuple(steps))


def first(paths: Sequence[Path], tree: Any) -> tuple[Any, str]:
    """The value at the first path that has one, and that path; None where none has."""
    for path in paths:
        value = path.read(tree)
        if value is not None:
            return value, path.text
    return None, ""
