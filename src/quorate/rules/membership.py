"""Which leaf a pod is a member of, and what it counts as there; the scheduler and status ask here."""

from enum import StrEnum

from quorate.api.core import Pod
from quorate.api.labels import SUB_GROUP_NAME
from quorate.rules.tree import ROOT, Tree


class MemberState(StrEnum):
    PENDING = "pending"  # exists, on no node
    STARTING = "starting"  # has a node, does not run yet
    RUNNING = "running"
    SUCCEEDED = "succeeded"  # counts as active: a gang that is finishing is not broken
    FAILED = "failed"
    STOPPING = "stopping"  # being deleted: still holds its node, counts for nothing


ACTIVE = frozenset({MemberState.STARTING, MemberState.RUNNING, MemberState.SUCCEEDED})
HOLDING = frozenset({MemberState.STARTING, MemberState.RUNNING})


def leaf_of(tree: Tree, pod: Pod) -> str | None:
    """The pod's leaf; None where it names none of the leaves, and so is not scheduled."""
    if tree.root.is_leaf:
        return ROOT
    group = tree.groups.get(pod.metadata.label(SUB_GROUP_NAME))
    return group.name if group is not None and group.is_leaf else None


def state_of(pod: Pod) -> MemberState:
    if pod.status.phase == "Succeeded":
        return MemberState.SUCCEEDED
    if pod.status.phase == "Failed":
        return MemberState.FAILED
    if pod.is_deleting:
        return MemberState.STOPPING
    if pod.status.phase == "Running":
        return MemberState.RUNNING
    return MemberState.STARTING if pod.spec.node_name else MemberState.PENDING


def stray_text(tree: Tree, pod: Pod) -> str:
    """What a pod is told that names no leaf of its gang."""
    name = pod.metadata.label(SUB_GROUP_NAME)
    known = ", ".join(leaf.name for leaf in tree.leaves)
    if not name:
        return f"label {SUB_GROUP_NAME} is missing: set it to one of {known}"
    return f'label {SUB_GROUP_NAME} is "{name}", which is no group that holds pods: set it to one of {known}'
