"""The groups of a set as its pods show them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.timestamps import epoch
from quorate.workloads.lws.names import place_of

LEADER = 0
# how long a group may take to get ready before a rollout counts it as sick
SICK_SECONDS = 60.0
NOTHING: Mapping[int, "Group"] = MappingProxyType({})


@dataclass(frozen=True)
class Group:
    """Pods by their index, the leader's is 0. Without a leader that stays, a group is leaving.

    What is asked of a group is found out once: most groups of a large set are the same in the next pass.
    """

    index: int
    pods: Mapping[int, Pod] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        return bool(self.pods)

    @cached_property
    def leader(self) -> Pod | None:
        return self.pods.get(LEADER)

    @cached_property
    def is_leaving(self) -> bool:
        return self.exists and (self.leader is None or self.leader.is_deleting)

    @cached_property
    def revision(self) -> str:
        """Of its leader; pods of another one are left from an earlier group of that name."""
        return revision_of(self.leader) if self.leader else ""

    @cached_property
    def size(self) -> int:
        """What it was made with, whatever the set says now."""
        text = self.leader.metadata.annotation(labels.LWS_SIZE) if self.leader else ""
        return int(text) if text.isdecimal() else len(self.pods)

    @cached_property
    def is_ready(self) -> bool:
        """All its pods serve, and no other is there."""
        if self.leader is None or len(self.pods) != self.size:
            return False
        return all(is_serving(pod) and revision_of(pod) == self.revision for pod in self.pods.values())

    @cached_property
    def is_settled(self) -> bool:
        """It is ready, and none of its pods ever restarted: there is nothing to do about it."""
        return self.is_ready and not any(has_restarted(pod) for pod in self.pods.values())

    def sick_at(self, now: float) -> float | None:
        """When its time to get ready is over; none for a group that is ready or leaves."""
        if not self.exists or self.is_leaving or self.is_ready:
            return None
        made = (pod.metadata.creation_timestamp for pod in self.pods.values())
        return max((epoch(stamp) for stamp in made if stamp), default=now) + SICK_SECONDS


def revision_of(pod: Pod) -> str:
    return pod.metadata.label(labels.LWS_REVISION)


def is_serving(pod: Pod) -> bool:
    return pod.is_ready and pod.status.phase == "Running" and not pod.is_deleting


def has_restarted(pod: Pod) -> bool:
    statuses = [*(pod.status.container_statuses or ()), *(pod.status.init_container_statuses or ())]
    return pod.status.phase in {"Running", "Pending"} and any(found.restart_count for found in statuses)


def observe(
    name: str, uid: str, pods: Iterable[Pod], before: Mapping[int, Group] = NOTHING
) -> dict[int, Group]:
    """The groups of the set by index, from the pods that it controls; those of `before` that stayed the same."""
    found: dict[int, dict[int, Pod]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        if owner is None or owner.uid != uid:
            continue
        place = place_of(name, pod.metadata.name)
        if place is not None:
            found.setdefault(place.group, {})[place.index] = pod
    return {index: _group(index, members, before.get(index)) for index, members in sorted(found.items())}


def _group(index: int, members: dict[int, Pod], before: Group | None) -> Group:
    if before is not None and len(before.pods) == len(members):
        old = before.pods
        if all(old.get(at) is pod for at, pod in members.items()):
            return before
    return Group(index, members)
