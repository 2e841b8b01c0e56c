"""Sums of resources, as status shows them: exact inside, canonical text outside."""

from collections.abc import Iterable, Mapping

from quorate.api.podspec import Quantity, ResourceList
from quorate.api.quantity import canonical, milli

_IN_BYTES = ("memory", "ephemeral-storage", "hugepages-")


def total(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The sum in thousandths."""
    found: dict[str, int] = {}
    for part in parts:
        for name, amount in part.items():
            found[name] = found.get(name, 0) + amount
    return found


def shown(amounts: Mapping[str, int]) -> ResourceList | None:
    """As the wire has it; seats of pods are no resource that anybody is charged for."""
    visible = {name: amount for name, amount in sorted(amounts.items()) if amount and name != "pods"}
    return {
        name: canonical(amount, binary=name.startswith(_IN_BYTES)) for name, amount in visible.items()
    } or None


def read(wire: Mapping[str, Quantity] | None) -> dict[str, int]:
    return {name: milli(text) for name, text in (wire or {}).items()}
