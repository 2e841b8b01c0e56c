"""Server-side printing: the Table that kubectl asks for in place of a list, with the columns people know.

One printer per kind in one table; custom kinds print by their definition.
"""

from collections.abc import Iterable
from typing import Protocol

from quorate.api.meta import Json
from quorate.embedded.tables import access, cluster, custom, network, pods, workloads
from quorate.embedded.tables.printer import Printer

_PRINTERS: dict[tuple[str, str], Printer] = {
    **pods.PRINTERS,
    **workloads.PRINTERS,
    **cluster.PRINTERS,
    **network.PRINTERS,
    **access.PRINTERS,
}
_API_VERSION = "meta.k8s.io/v1"
_FINISHED = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


class Printed(Protocol):
    """What printing needs to know of a resource; `registry.Resource` is one."""

    @property
    def group(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def definition(self) -> Json | None: ...


def table(
    resource: Printed,
    objects: Iterable[Json],
    *,
    include: str,
    now: float,
    metadata: Json | None = None,
    headers: bool = True,
) -> Json:
    """A Table of the objects.

    `include` is the includeObject of the request: None, Metadata (also if empty) or Object. `metadata` is
    that of the list, or empty. Watches leave the headers out after their first event.
    """
    printer = _printer(resource)
    return {
        "kind": "Table",
        "apiVersion": _API_VERSION,
        "metadata": metadata or {},
        "columnDefinitions": [column.definition for column in printer.columns] if headers else [],
        # Go's nil: only kinds with a printer of their own begin with an empty list.
        "rows": [_row(printer, resource, obj, include, now) for obj in objects]
        or ([] if printer is not custom.PLAIN else None),
    }


def _printer(resource: Printed) -> Printer:
    if resource.definition is not None:
        return custom.printer(resource.definition)
    return _PRINTERS.get((resource.group, resource.kind), custom.PLAIN)


def _row(printer: Printer, resource: Printed, obj: Json, include: str, now: float) -> Json:
    row: Json = {"cells": printer.cells(obj, now)}
    phase = (obj.get("status") or {}).get("phase") if resource.kind == "Pod" else None
    if phase in _FINISHED:
        reason = {"reason": phase, "message": _FINISHED[phase]}
        row["conditions"] = [{"type": "Completed", "status": "True", **reason}]
    if include in {"Object", "None"}:
        row["object"] = obj if include == "Object" else None
    else:
        row["object"] = {
            "kind": "PartialObjectMetadata",
            "apiVersion": _API_VERSION,
            "metadata": obj["metadata"],
        }
    return row
