"""The members of a gang, counted by leaf and state; the PodGroup's status is made from these counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from quorate.api.core import Pod
from quorate.api.podgroup import GroupStatus
from quorate.rules.membership import ACTIVE, HOLDING, MemberState, leaf_of, state_of
from quorate.rules.podresources import Amounts, requested
from quorate.rules.tree import ROOT, Group, Tree
from quorate.status.amounts import total


class Member(NamedTuple):
    pod: Pod
    leaf: str
    state: MemberState
    asks: Amounts

    @property
    def holds_node(self) -> bool:
        """Those on their way out included."""
        is_leaving = self.state is MemberState.STOPPING and bool(self.pod.spec.node_name)
        return is_leaving or self.state in HOLDING


class Roll(NamedTuple):
    """Members in order of age, and the pods that name no leaf."""

    members: tuple[Member, ...]
    strays: tuple[Pod, ...]

    def count(self, *states: MemberState) -> int:
        return sum(member.state in states for member in self.members)

    def by_leaf(self, states: frozenset[MemberState]) -> dict[str, int]:
        return Counter(member.leaf for member in self.members if member.state in states)


def roll(tree: Tree, pods: Sequence[Pod]) -> Roll:
    oldest_first = sorted(pods, key=lambda pod: (pod.metadata.creation_timestamp, pod.metadata.name))
    placed = [(pod, leaf_of(tree, pod)) for pod in oldest_first]
    members = tuple(
        Member(pod, leaf, state_of(pod), requested(pod.spec)) for pod, leaf in placed if leaf is not None
    )
    return Roll(members, tuple(pod for pod, leaf in placed if leaf is None))


def table(tree: Tree, found: Roll, holds: Mapping[str, bool]) -> list[GroupStatus]:
    """One row a group in the order of the spec; inner rows sum the rows below them."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in tree.groups}
    for member in found.members:
        for group in tree.upward(member.leaf):
            counts[group.name][member.state] += 1
    return [_row(group, counts[group.name], satisfied=holds[name]) for name, group in tree.groups.items()]


def requests(found: Roll) -> Amounts:
    """What all members that have not ended ask for."""
    wanting = HOLDING | {MemberState.PENDING}
    return total(member.asks for member in found.members if member.state in wanting)


def holdings(found: Roll) -> Amounts:
    """What members hold on nodes."""
    return total(member.asks for member in found.members if member.holds_node)


def core_holdings(found: Roll, core: Mapping[str, int]) -> Amounts:
    """What the core holds: of each leaf its oldest active members; ended ones hold nothing."""
    left = dict(core)
    parts = []
    for member in found.members:
        if member.state in ACTIVE and left.get(member.leaf, 0):
            left[member.leaf] -= 1
            parts.append(member.asks if member.holds_node else {})
    return total(parts)


def _row(group: Group, counts: Counter[str], *, satisfied: bool) -> GroupStatus:
    return GroupStatus(
        name=group.name or ROOT,
        min_member=group.minimum_members if group.is_leaf or group.minimum_members else None,
        min_sub_group=None if group.is_leaf else group.minimum_children,
        satisfied=satisfied,
        pending=counts[MemberState.PENDING],
        starting=counts[MemberState.STARTING],
        running=counts[MemberState.RUNNING],
        succeeded=counts[MemberState.SUCCEEDED],
        failed=counts[MemberState.FAILED],
    )
