"""The instances of a role as their pods show them: which exist, which are ready, old, or on nodes.

Counting pods instead of reading the status of a set means that nothing here is older than the pods themselves.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from quorate.api import labels, timestamps
from quorate.api.core import Pod

REVISION = "quorate.dev/role-revision"  # annotation on pods and sets: hash of what pods are made from

Indexes = frozenset[int]


@dataclass(frozen=True)
class Instances:
    """By index; `existing` have at least a leader, `revisions` are those of all their pods."""

    existing: Indexes = frozenset()
    ready: Indexes = frozenset()
    bound: Indexes = frozenset()
    revisions: Mapping[int, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def _every_revision(self) -> frozenset[str]:
        return frozenset[str]().union(*self.revisions.values())

    def old(self, revision: str) -> Indexes:
        """Those that have a pod of another revision."""
        if self._every_revision <= {revision}:
            return frozenset()
        return frozenset(index for index, found in self.revisions.items() if found != {revision})


NOBODY = Instances()


@lru_cache(maxsize=256)
def first(count: int) -> Indexes:
    """The indexes of so many instances: sets of a thousand compare faster than they are made."""
    return frozenset(range(count))


def of_pods(pods: Iterable[Pod], size: int, ready_by: float | None = None) -> Instances:
    """`size` is for pods that do not say how large their group is; `ready_by` when they had to be ready to count."""
    groups: dict[int, list[Pod]] = defaultdict(list)
    for pod in pods:
        index = pod.metadata.label(labels.LWS_GROUP_INDEX)
        if index.isdecimal() and not pod.is_finished:
            groups[int(index)].append(pod)
    revisions = {
        index: frozenset([pod.metadata.annotation(REVISION) for pod in found])
        for index, found in groups.items()
    }
    return Instances(
        existing=frozenset(groups),
        ready=frozenset([index for index, found in groups.items() if _is_ready(found, size, ready_by)]),
        bound=frozenset([index for index, found in groups.items() if _is_bound(found)]),
        revisions=revisions,
    )


def _is_ready(pods: list[Pod], size: int, ready_by: float | None) -> bool:
    said = pods[0].metadata.annotation(labels.LWS_SIZE)
    needed = int(said) if said.isdecimal() else size
    ready = [pod for pod in pods if pod.is_ready and not pod.is_deleting]
    if ready_by is not None:
        ready = [pod for pod in ready if _ready_since(pod) <= ready_by]
    return len(ready) >= needed


def _ready_since(pod: Pod) -> float:
    condition = pod.condition("Ready")
    return (
        timestamps.epoch(condition.last_transition_time)
        if condition and condition.last_transition_time
        else 0.0
    )


def _is_bound(pods: list[Pod]) -> bool:
    return any([pod.spec.node_name for pod in pods])  # noqa: C419 - lists of one are faster than generators
