"""Per-kind defaults for priority and preemptibility, as an administrator writes them into a ConfigMap."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from quorate.api.meta import Part
from quorate.api.podgroup import PREEMPTIBILITIES
from quorate.grouping.objects import Owner

KEY = "types"


class KindDefault(Part, frozen=True):
    type_name: str = ""
    group: str = ""
    priority_name: str = ""
    preemptibility: str = ""

    @property
    def names(self) -> str:
        """`Kind.group`, or `Kind` for that kind of every group; `typeName` may hold both."""
        return f"{self.type_name}.{self.group}" if self.group else self.type_name


@dataclass(frozen=True, slots=True)
class KindDefaults:
    """What the entries say; `problem` is what could not be read of them."""

    entries: tuple[KindDefault, ...] = ()
    problem: str = ""

    def find(self, owner: Owner) -> KindDefault | None:
        """The entry for the exact group and kind, else the one that names only the kind; the last one wins."""
        found = {entry.names: entry for entry in self.entries}
        return found.get(f"{owner.kind}.{owner.group}".removesuffix(".")) or found.get(owner.kind)

    def priorities(self, chain: Iterable[Owner]) -> Iterator[str]:
        """The classes of the kinds of these owners, the nearest first."""
        return (entry.priority_name for entry in map(self.find, chain) if entry and entry.priority_name)

    def preemptibility(self, chain: Iterable[Owner]) -> str:
        """That of the nearest owner whose kind has one."""
        found = (entry.preemptibility for entry in map(self.find, chain) if entry)
        return next(filter(None, found), "")


def parse_defaults(text: str) -> KindDefaults:
    """Read the JSON list under `types`; what is wrong in it leaves the built-in defaults and a problem."""
    try:
        entries = msgspec.json.decode(text, type=list[KindDefault])
    except msgspec.DecodeError as error:
        return KindDefaults(problem=f"{KEY} of the defaults ConfigMap: {error}")
    allowed = ("", *PREEMPTIBILITIES)
    wrong = [entry for entry in entries if entry.preemptibility.lower() not in allowed]
    problem = "; ".join(
        f"preemptibility of {entry.names}: {entry.preemptibility!r} is not one of {', '.join(PREEMPTIBILITIES)}"
        for entry in wrong
    )
    return KindDefaults(tuple(_readable(entry, wrong) for entry in entries), problem)


def _readable(entry: KindDefault, wrong: list[KindDefault]) -> KindDefault:
    said = "" if entry in wrong else entry.preemptibility.lower()
    return msgspec.structs.replace(entry, preemptibility=said)
