"""What admission would say of a file: every error and warning, each document seen beside the others.

Kinds of which the file has no object are taken as unknown, so that a file of workloads is not told that the
queues of its cluster are missing.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from quorate.admission.judges import judge_of
from quorate.admission.surroundings import Surroundings
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.core import PRIORITY_CLASS, PriorityClass
from quorate.api.meta import Json, Kind, Object
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.api.topology import TOPOLOGY, Topology
from quorate.rules.validity import Cause, Fault

Shape = TypeVar("Shape", bound=Object)


class Remark(NamedTuple):
    """One thing said of one document of the file."""

    document: int
    name: str
    is_error: bool
    fault: Fault

    def __str__(self) -> str:
        return f"{self.name}: {'error' if self.is_error else 'warning'}: {self.fault}"


def lint(documents: Sequence[Json]) -> Iterator[Remark]:
    around = _surroundings(documents)
    for index, document in enumerate(documents):
        if missing := next(
            (name for name in ("apiVersion", "kind") if not _is_text(document.get(name))), None
        ):
            yield Remark(
                index, _name(document), True, Fault(missing, "an object begins with it", Cause.VALUE)
            )
            continue
        judge = judge_of(str(document.get("apiVersion", "")), str(document.get("kind", "")))
        if judge is None:
            continue
        found = judge(document, None, around)
        name = _name(document)
        yield from (Remark(index, name, True, fault) for fault in found.errors)
        yield from (Remark(index, name, False, fault) for fault in found.warnings)


def _surroundings(documents: Sequence[Json]) -> Surroundings:
    return Surroundings(
        queues=_known(documents, QUEUE, Queue),
        topologies=_known(documents, TOPOLOGY, Topology),
        priority_classes=_known(documents, PRIORITY_CLASS, PriorityClass),
        podgroups=_known(documents, POD_GROUP, PodGroup),
        composites=_known(documents, COMPOSITE_POD_GROUP, CompositePodGroup),
    )


def _known(documents: Iterable[Json], kind: Kind, shape: type[Shape]) -> dict[str, Shape] | None:
    found: dict[str, Shape] = {}
    for document in documents:
        group = str(document.get("apiVersion", "")).rpartition("/")[0]
        if (group, document.get("kind")) != (kind.group, kind.kind):
            continue
        try:
            read = msgspec.convert(document, shape)
        except msgspec.ValidationError:
            continue  # its own document is told what is wrong
        found[read.metadata.key] = read
    return found or None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _name(document: Json) -> str:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{document.get('kind') or 'object'} {name or 'without a name'}"
