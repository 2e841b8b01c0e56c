"""What a gang's tree of groups means: who belongs where, when it is satisfied, and what its core is.

Members are counted per leaf; `active` ones are bound or succeeded. The scheduler asks the same of its arrays, and
what else it needs: which unit starts next (`scheduling.growth`), and which one goes first (`scheduling.victims`).

1. A leaf is satisfied with `minMember` active members.
2. A group with children is satisfied when K of them are (all where `minSubGroup` is unset) and, where it has
   a `minMember` too, that many members below it are active.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from quorate.api.podgroup import PodGroup, PodGroupSpec, TopologyConstraint
from quorate.rules.validity import Cause, Fault, validate

ROOT = ""

Counts = Mapping[str, int]


class TreeError(ValueError):
    """The groups of a PodGroup form no tree."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = faults


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A node of the tree; a leaf (`children` empty) holds members."""

    name: str
    parent: str | None = None
    children: tuple[str, ...] = ()
    minimum_members: int = 0
    minimum_children: int = 0
    topology: TopologyConstraint | None = None

    @property
    def is_leaf(self) -> bool:
        return not self.children


class Tree(NamedTuple):
    """Groups by name, parents before children and siblings in the order of the spec."""

    groups: dict[str, Group]

    @property
    def root(self) -> Group:
        return self.groups[ROOT]

    @property
    def leaves(self) -> tuple[Group, ...]:
        return tuple(group for group in self.groups.values() if group.is_leaf)

    def children(self, group: Group) -> Iterator[Group]:
        return (self.groups[name] for name in group.children)

    def upward(self, name: str) -> Iterator[Group]:
        """The group itself, then its ancestors up to the root."""
        at: str | None = name
        while at is not None:
            group = self.groups[at]
            yield group
            at = group.parent

    def leaves_below(self, name: str) -> list[str]:
        """Leaves of a subtree in order; a leaf is its own."""
        pending, found = [name], []
        while pending:
            group = self.groups[pending.pop()]
            if group.is_leaf:
                found.append(group.name)
            pending.extend(reversed(group.children))
        return found


def build(podgroup: PodGroup) -> Tree:
    """The tree of a PodGroup; raises `TreeError` where admission was bypassed."""
    return from_spec(podgroup.spec)


def from_spec(spec: PodGroupSpec) -> Tree:
    broken = tuple(fault for fault in validate(spec).errors if fault.cause is Cause.STRUCTURE)
    if broken:
        raise TreeError(broken)
    children: dict[str, list[str]] = {ROOT: []}
    for sub in spec.sub_groups or ():
        children.setdefault(sub.parent or ROOT, []).append(sub.name)
    groups = {ROOT: _root(spec, tuple(children[ROOT]))}
    named = {sub.name: sub for sub in spec.sub_groups or ()}
    pending = list(reversed(children[ROOT]))
    while pending:
        sub = named[pending.pop()]
        below = tuple(children.get(sub.name, ()))
        groups[sub.name] = Group(
            name=sub.name,
            parent=sub.parent or ROOT,
            children=below,
            minimum_members=sub.min_member or 0,
            minimum_children=len(below) if sub.min_sub_group is None else sub.min_sub_group,
            topology=sub.topology_constraint,
        )
        pending.extend(reversed(below))
    return Tree(groups)


def _root(spec: PodGroupSpec, children: tuple[str, ...]) -> Group:
    unset = 0 if children else 1
    return Group(
        name=ROOT,
        children=children,
        minimum_members=unset if spec.min_member is None else spec.min_member,
        minimum_children=len(children) if spec.min_sub_group is None else spec.min_sub_group,
        topology=spec.topology_constraint,
    )


def satisfied(tree: Tree, active: Counts) -> dict[str, bool]:
    """For each group whether its minimums hold; the gang is satisfied when `ROOT` is."""
    members: dict[str, int] = {}
    holds: dict[str, bool] = {}
    for group in reversed(tree.groups.values()):
        if group.is_leaf:
            members[group.name] = active.get(group.name, 0)
        else:
            members[group.name] = sum(members[name] for name in group.children)
        held = sum(holds[name] for name in group.children)
        holds[group.name] = members[group.name] >= group.minimum_members and held >= group.minimum_children
    return {name: holds[name] for name in tree.groups}


def core(tree: Tree, active: Counts) -> dict[str, int]:
    """Active members by leaf that a semi-preemptible gang may not lose; leaves with none are left out."""
    holds = satisfied(tree, active)
    needs: dict[str, dict[str, int]] = {}
    for group in reversed(tree.groups.values()):
        if group.is_leaf:
            needs[group.name] = {group.name: min(group.minimum_members, active.get(group.name, 0))}
            continue
        children = sorted(group.children, key=lambda name: not holds[name])
        need: dict[str, int] = {}
        for name in children[: group.minimum_children]:
            need |= needs[name]
        _raise_extras(tree, need, active, children, group.minimum_members)
        needs[group.name] = need
    return {leaf: count for leaf, count in needs[ROOT].items() if count}


def _raise_extras(tree: Tree, need: dict[str, int], have: Counts, groups: list[str], minimum: int) -> None:
    """Add members below the groups in order until the minimum is reached."""
    short = minimum - sum(need.values())
    for leaf in (leaf for name in groups for leaf in tree.leaves_below(name)):
        if short <= 0:
            return
        more = min(short, have.get(leaf, 0) - need.get(leaf, 0))
        need[leaf] = need.get(leaf, 0) + more
        short -= more
