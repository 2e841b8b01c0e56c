"""The groups of a set as its pods show them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.timestamps import epoch
from quorate.workloads.lws.names import place_of

LEADER = 0
# how long a group may take to get ready before a rollout counts it as sick
SICK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Group:
    """Pods by their index, the leader's is 0. Without a leader that stays, a group is leaving."""

    index: int
    pods: Mapping[int, Pod] = field(default_factory=dict)

    @property
    def leader(self) -> Pod | None:
        return self.pods.get(LEADER)

    @property
    def exists(self) -> bool:
        return bool(self.pods)

    @property
    def is_leaving(self) -> bool:
        return self.exists and (self.leader is None or self.leader.is_deleting)

    @property
    def revision(self) -> str:
        """Of its leader; pods of another one are left from an earlier group of that name."""
        return revision_of(self.leader) if self.leader else ""

    @property
    def size(self) -> int:
        """What it was made with, whatever the set says now."""
        text = self.leader.metadata.annotation(labels.LWS_SIZE) if self.leader else ""
        return int(text) if text.isdecimal() else len(self.pods)

    @property
    def is_ready(self) -> bool:
        serving = sum(is_serving(pod) and revision_of(pod) == self.revision for pod in self.pods.values())
        return self.leader is not None and serving == self.size == len(self.pods)

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


def observe(name: str, uid: str, pods: Iterable[Pod]) -> dict[int, Group]:
    """The groups of the set by index, from the pods that it controls."""
    found: dict[int, dict[int, Pod]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        place = place_of(name, pod.metadata.name)
        if owner is not None and owner.uid == uid and place is not None:
            found.setdefault(place.group, {})[place.index] = pod
    return {index: Group(index, members) for index, members in sorted(found.items())}
