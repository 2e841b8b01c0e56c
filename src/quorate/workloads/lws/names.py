"""Names of a LeaderWorkerSet's pods: `<set>-<group>` for a leader, `<set>-<group>-<index>` for a worker."""

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """Where a pod stands in its set; index 0 is the leader."""

    group: int
    index: int


def leader_name(name: str, group: int) -> str:
    return f"{name}-{group}"


def worker_name(name: str, group: int, index: int) -> str:
    return f"{name}-{group}-{index}"


def pod_name(name: str, place: Place) -> str:
    return worker_name(name, place.group, place.index) if place.index else leader_name(name, place.group)


@lru_cache(maxsize=1 << 16)  # asked for every pod of a set in every pass
def place_of(name: str, pod: str) -> Place | None:
    """The place of a pod of that name in the set; `None` if it is not named as the set's pods are."""
    if not pod.startswith(f"{name}-"):
        return None
    parts = pod.removeprefix(f"{name}-").split("-")
    if len(parts) > 2 or not all(_is_canonical(part) for part in parts):
        return None
    return Place(int(parts[0]), int(parts[1]) if len(parts) == 2 else 0)


def _is_canonical(number: str) -> bool:
    return number.isascii() and number.isdecimal() and str(int(number)) == number
