"""PodGroups that the grouper made and in which nobody is any more: they go, after a while in which pods may return."""

from collections.abc import Container, Iterable
from typing import NamedTuple

from quorate.api.core import Pod
from quorate.api.podgroup import PodGroup
from quorate.controllers.kinship import gang_of
from quorate.grouping.writes import is_made_here
from quorate.kube.cache import Cache

# pods that are recreated find their PodGroup, with what people changed in it
PATIENCE_SECONDS = 30.0


class Empties(NamedTuple):
    """`due` may go now; `wait_seconds` is when to look again, None for never."""

    due: tuple[PodGroup, ...] = ()
    wait_seconds: float | None = None


class EmptyGroups:
    def __init__(self, pods: Cache[Pod], groups: Cache[PodGroup]) -> None:
        self._since: dict[str, float] = {}
        self._members = pods.index(gang_of)
        self._by_owner = groups.index(owner_uids)

    def below(self, owners: Iterable[str], now: float, kept: Container[str] = ()) -> Empties:
        """Of the PodGroups that belong to these objects (by uid), the empty ones; `kept` ones await their pods."""
        found = {group.metadata.uid: group for uid in owners for group in self._by_owner[uid]}
        empty = {
            uid: group
            for uid, group in found.items()
            if group.metadata.key not in kept and not self._members[group.metadata.key]
        }
        for uid in found.keys() - empty.keys():
            self._since.pop(uid, None)
        left = {uid: PATIENCE_SECONDS - (now - self._since.setdefault(uid, now)) for uid in empty}
        due = tuple(group for uid, group in empty.items() if left[uid] <= 0)
        for group in due:
            del self._since[group.metadata.uid]
        return Empties(due, min((seconds for seconds in left.values() if seconds > 0), default=None))


def owner_uids(group: PodGroup) -> list[str]:
    """Whose the PodGroup is, by uid; nobody's if people made it or if it is going already."""
    if not is_made_here(group) or group.metadata.deletion_timestamp:
        return []
    return [owner.uid for owner in group.metadata.owner_references or ()]
