"""When a pod that failed takes its whole group with it, and how long that waits if it happens again and again.

A group is recreated as one: its leader and all workers go, then all come again. The first time is at once, later
ones wait as `backoff` says, and meanwhile the pods stay where they are. A group that has another revision starts
counting anew. Pods that were deleted, evicted or preempted are nobody's failure: they are not counted and wait for
nothing.
"""

from typing import NamedTuple

from quorate.api.core import Pod
from quorate.api.labels import POD_GROUP_NAME, RESTART_BACKOFF
from quorate.api.lws import GroupRestarts, LeaderWorkerSet
from quorate.api.timestamps import epoch, text
from quorate.workloads.backoff import Backoff
from quorate.workloads.lws.groups import LEADER, Group, has_restarted, revision_of

BACKOFF = Backoff(10, 300)
AFTER_START = "RecreateGroupAfterStart"
POLICIES = {"RecreateGroupOnPodRestart", AFTER_START}


class Call(NamedTuple):
    """The pod that takes its group with it, and why; a `failure` is counted."""

    pod: Pod
    why: str
    is_failure: bool


def called(
    group: Group, policy: str, *, after_start: bool = False, starts_whole: bool = False
) -> Call | None:
    """The first pod that takes the group with it; a group that is leaving anyway needs none.

    `starts_whole`: no pod runs before all exist, so where the leader runs a worker that misses was lost.
    """
    if group.is_leaving or not group.exists:
        return None
    leader = group.leader
    is_starting = (after_start or policy == AFTER_START) and _is_starting(group)
    if is_starting or policy not in POLICIES:  # workers are replaced one by one, a leader takes all with it
        return _call(leader) if leader is not None and leader.is_finished else None
    calls = (_call(pod) for index, pod in sorted(group.pods.items()) if _belongs(group, index, pod))
    return next((call for call in calls if call), None) or (_loss(group) if starts_whole else None)


def _is_starting(group: Group) -> bool:
    is_pending = any(pod.status.phase == "Pending" for pod in group.pods.values())
    return is_pending or len(group.pods) != group.size


def _belongs(group: Group, index: int, pod: Pod) -> bool:
    return index == LEADER or revision_of(pod) == group.revision


def _call(pod: Pod) -> Call | None:
    name = pod.metadata.name
    if pod.is_deleting:
        return Call(pod, f"pod {name} is being deleted", is_failure=False)
    if has_restarted(pod):
        return Call(pod, f"a container of pod {name} restarted", is_failure=True)
    if pod.is_finished:
        return Call(pod, f"pod {name} {pod.status.phase.lower()}", is_failure=True)
    return None


def _loss(group: Group) -> Call | None:
    leader = group.leader
    if leader is None or leader.status.phase != "Running" or not leader.metadata.annotation(POD_GROUP_NAME):
        return None
    lost = next((index for index in range(1, group.size) if index not in group.pods), None)
    return Call(leader, f"worker {lost} is gone", is_failure=False) if lost else None


def backoff_of(item: LeaderWorkerSet) -> Backoff:
    """What the set says of delays, as in `30/600`."""
    base, _, longest = item.metadata.annotation(RESTART_BACKOFF).partition("/")
    if not (base.isdecimal() and longest.isdecimal()):
        return BACKOFF
    return Backoff(int(base), int(longest))


def counted(record: GroupRestarts | None, group: Group, now: float, backoff: Backoff = BACKOFF) -> int:
    """Recreations that still count against the group."""
    if record is None or record.revision != group.revision or is_forgotten(record, now, backoff):
        return 0
    return record.count


def is_forgotten(record: GroupRestarts, now: float, backoff: Backoff = BACKOFF) -> bool:
    return not backoff.is_recent(now - epoch(record.last))


def due(record: GroupRestarts | None, group: Group, now: float, backoff: Backoff = BACKOFF) -> float:
    """When the group may be recreated."""
    count = counted(record, group, now, backoff)
    return now + backoff.remaining(count, now - epoch(record.last)) if record is not None and count else now


def again(group: Group, times: int, now: float) -> GroupRestarts:
    """What is noted of a group that is recreated after so many times before."""
    return GroupRestarts(group=group.index, revision=group.revision, count=times + 1, last=text(now))
