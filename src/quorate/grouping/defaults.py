"""Per-kind defaults for priority and preemptibility, as an administrator writes them into a ConfigMap."""

from collections.abc import Iterable
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


@dataclass(frozen=True, slots=True)
class KindDefaults:
    """The entries by `Kind.group` and by `Kind`; `problem` says what could not be read."""

    entries: tuple[KindDefault, ...] = ()
    problem: str = ""

    def find(self, owner: Owner) -> KindDefault | None:
        """The entry for the exact group and kind, else the one that names only the kind."""
        exact = (owner.kind, owner.group)
        return next(
            (
                found
                for wanted in (exact, (owner.kind, ""))
                for found in self.entries
                if _names(found) == wanted
            ),
            None,
        )

    def priority(self, chain: Iterable[Owner]) -> str:
        """The priority of the nearest owner whose kind has one."""
        return next((e.priority_name for e in map(self.find, chain) if e is not None and e.priority_name), "")

    def preemptibility(self, chain: Iterable[Owner]) -> str:
        return next(
            (e.preemptibility for e in map(self.find, chain) if e is not None and e.preemptibility), ""
        )


def _names(entry: KindDefault) -> tuple[str, str]:
    return (entry.type_name, entry.group)


def parse_defaults(text: str) -> KindDefaults:
    """Read the JSON list under `types`; what is wrong in it leaves the built-in defaults and a problem."""
    try:
        entries = msgspec.json.decode(text, type=list[KindDefault])
    except msgspec.DecodeError as error:
        return KindDefaults(problem=f"{KEY} of the defaults ConfigMap: {error}")
    known = tuple(e for e in entries if e.preemptibility in ("", *PREEMPTIBILITIES))
    wrong = next((e for e in entries if e.preemptibility not in ("", *PREEMPTIBILITIES)), None)
    problem = f"preemptibility of {wrong.type_name}: {wrong.preemptibility!r} is not one" if wrong else ""
    return KindDefaults(known, problem)
