"""A request path as the resource it names, read by splitting it rather than by a table of routes."""

from typing import NamedTuple
from urllib.parse import unquote

# Below /namespaces/NAME these are parts of the namespace itself, not resources inside it.
_OF_NAMESPACE = frozenset({"status", "finalize"})


class ResourcePath(NamedTuple):
    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse(path: str) -> ResourcePath | None:
    """The resource, or None where the path names something else (discovery, health, nonsense)."""
    parts = path.split("/")[1:]
    if "%" in path:
        parts = [unquote(part) for part in parts]
    if parts and not parts[-1]:
        parts.pop()
    if len(parts) >= 3 and parts[0] == "api":
        return _below("", parts[1], parts[2:])
    if len(parts) >= 4 and parts[0] == "apis":
        return _below(parts[1], parts[2], parts[3:])
    return None


def _below(group: str, version: str, parts: list[str]) -> ResourcePath | None:
    if not all(parts):
        return None
    namespace = ""
    if parts[0] == "namespaces" and len(parts) >= 3 and parts[2] not in _OF_NAMESPACE:
        namespace, parts = parts[1], parts[2:]
    elif parts[0] == "watch":
        return None
    name = parts[1] if len(parts) > 1 else ""
    return ResourcePath(group, version, parts[0], namespace, name, "/".join(parts[2:]))
