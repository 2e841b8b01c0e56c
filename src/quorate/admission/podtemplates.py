"""What reviews read in pod templates. The schema has its say later: whatever is of another form is passed over here."""

from collections.abc import Iterator

from quorate.api.meta import Json


def containers(template: Json | None) -> Iterator[tuple[str, Json]]:
    """Each container with its place in the template, init containers last."""
    spec = object_at(template or {}, "spec")
    for part in ("containers", "initContainers"):
        for at, container in enumerate(objects_at(spec, part)):
            yield f"spec.{part}[{at}]", container


def object_at(tree: Json, name: str) -> Json:
    """The object that stands there, else an empty one."""
    found = tree.get(name)
    return found if isinstance(found, dict) else {}


def objects_at(tree: Json, name: str) -> list[Json]:
    """The objects in the list that stands there."""
    found = tree.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
