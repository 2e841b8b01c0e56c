"""What a gang's tree of groups means: satisfied, core, next unit to start, next victim.

The scheduler, status, admission and the grouper ask here and nowhere else. Members are counted per leaf:
`active` are bound or succeeded ones, `live` all that exist and may run (active ones included).

1. A leaf is satisfied with `minMember` active members.
2. A group with children is satisfied when K of them are (all where `minSubGroup` is unset) and, where it has
   a `minMember` too, that many members below it are active.
3. Which K: satisfied ones, then those that hold members, then the order of the spec; never one whose live
   members cannot meet its minimum.
4. Taking a unit never leaves a group that was satisfied below its minimum, the victim itself apart.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

import msgspec

from quorate.api.podgroup import PodGroup, PodGroupSpec, TopologyConstraint
from quorate.rules.validity import Cause, Fault, validate

ROOT = ""

Counts = Mapping[str, int]
Growth = tuple[int, Fraction]


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


class Unit(NamedTuple):
    """What starts together: the group it belongs to, and how many members of each leaf."""

    group: str
    members: dict[str, int]


class Victim(NamedTuple):
    """What is taken together: members of each leaf of the group."""

    group: str
    members: dict[str, int]
    is_whole_gang: bool = False


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
    rank = {name: (not holds[name],) for name in tree.groups}
    needs = _needs(tree, active, rank, whole_children=False)
    return {leaf: count for leaf, count in needs[ROOT].items() if count}


def next_unit(tree: Tree, active: Counts, live: Counts) -> Unit | None:
    """The unit to start first; None when nothing more can start with the members that exist."""
    return next(iter(units(tree, active, live)), None)


def units(tree: Tree, active: Counts, live: Counts) -> list[Unit]:
    """All units that may start next, in order of preference.

    Below its minimum the gang starts as one unit. Above it optional children come first, each as a whole,
    then single members, so that siblings grow evenly: the least grown in proportion to its minimum first.
    """
    eligible = _eligible(tree, live)
    holds = satisfied(tree, active)
    busy = {name: any(active.get(leaf, 0) for leaf in tree.leaves_below(name)) for name in tree.groups}
    rank = {name: (not eligible[name], not holds[name], not busy[name]) for name in tree.groups}
    needs = _needs(tree, live, rank, whole_children=True)
    found: list[tuple[list[Growth], Unit]] = []
    grown: dict[str | None, list[Growth] | None] = {None: []}
    for group in tree.groups.values():
        above = grown[group.parent]
        path = None if above is None else [*above, growth(group, active, holds)]
        grown[group.name] = path if holds[group.name] else None
        if path is None:
            continue
        if not holds[group.name] and eligible[group.name]:
            found.append((path, Unit(group.name, _missing(needs[group.name], active))))
        if holds[group.name] and group.is_leaf and live.get(group.name, 0) > active.get(group.name, 0):
            found.append((path, Unit(group.name, {group.name: 1})))
    return [unit for _, unit in sorted(found, key=lambda each: each[0])]


def growth(group: Group, active: Counts, holds: Mapping[str, bool]) -> Growth:
    """Sorts siblings for growing: unsatisfied ones, then the least grown, then those without a minimum."""
    if not holds[group.name]:
        return (0, Fraction(0))
    minimum = group.minimum_members if group.is_leaf else group.minimum_children
    if not minimum:
        return (2, Fraction(0))
    have = active.get(group.name, 0) if group.is_leaf else sum(holds[name] for name in group.children)
    return (1, Fraction(have, minimum))


def next_victim(tree: Tree, active: Counts, *, protected: Counts | None = None) -> Victim | None:
    """The unit to take first: an extra, else an optional child, else the gang; None if nothing may be taken.

    `protected` members (the core of a semi-preemptible gang) are never taken.
    """
    kept = protected or {}
    holds = satisfied(tree, active)
    if holds[ROOT]:
        partial = _spare_member(tree, active, holds, kept) or _spare_child(tree, active, holds, kept)
        if partial is not None:
            return partial
    rest = {leaf.name: active.get(leaf.name, 0) for leaf in tree.leaves if active.get(leaf.name, 0)}
    if not rest or any(kept.values()):
        return None
    return Victim(ROOT, rest, is_whole_gang=True)


def _spare_member(tree: Tree, active: Counts, holds: Mapping[str, bool], kept: Counts) -> Victim | None:
    for leaf in reversed(tree.leaves):
        have = active.get(leaf.name, 0)
        if have <= max(leaf.minimum_members, kept.get(leaf.name, 0)):
            continue
        taken = {leaf.name: 1}
        if _still_holds(tree, active, holds, leaf.name, taken):
            return Victim(leaf.name, taken)
    return None


def _spare_child(tree: Tree, active: Counts, holds: Mapping[str, bool], kept: Counts) -> Victim | None:
    """Deepest first, then last in the spec; a child that is broken anyway goes before a satisfied sibling."""
    depth = {name: sum(1 for _ in tree.upward(name)) for name in tree.groups}
    groups = list(reversed(tree.groups))
    last_first = sorted(groups, key=lambda name: (-depth[name], holds[name]))
    for name in last_first:
        taken = {leaf: active[leaf] for leaf in tree.leaves_below(name) if active.get(leaf, 0)}
        if name == ROOT or not taken or any(kept.get(leaf, 0) for leaf in taken):
            continue
        parent = tree.groups[name].parent
        if parent is not None and _still_holds(tree, active, holds, parent, taken):
            return Victim(name, taken)
    return None


def _still_holds(
    tree: Tree, active: Counts, holds: Mapping[str, bool], name: str, taken: Mapping[str, int]
) -> bool:
    """Whether the group and all above it that were satisfied stay so without the taken members."""
    after = satisfied(tree, {**active, **{leaf: active[leaf] - count for leaf, count in taken.items()}})
    return all(after[group.name] or not holds[group.name] for group in tree.upward(name))


def _eligible(tree: Tree, live: Counts) -> dict[str, bool]:
    """Whether each group could be satisfied by the members that exist."""
    reach: dict[str, int] = {}
    eligible: dict[str, bool] = {}
    for group in reversed(tree.groups.values()):
        able = [name for name in group.children if eligible[name]]
        reach[group.name] = sum(reach[name] for name in able) if able else 0
        if group.is_leaf:
            reach[group.name] = live.get(group.name, 0)
        enough = reach[group.name] >= group.minimum_members
        eligible[group.name] = enough and len(able) >= group.minimum_children
    return eligible


def _needs(
    tree: Tree, have: Counts, rank: Mapping[str, tuple[bool, ...]], *, whole_children: bool
) -> dict[str, dict[str, int]]:
    """For each group the members that satisfy it, by leaf, out of those there are."""
    needs: dict[str, dict[str, int]] = {}
    for group in reversed(tree.groups.values()):
        if group.is_leaf:
            needs[group.name] = {group.name: min(group.minimum_members, have.get(group.name, 0))}
            continue
        children = sorted(group.children, key=lambda name: rank[name])
        chosen, rest = children[: group.minimum_children], children[group.minimum_children :]
        need: dict[str, int] = {}
        for name in chosen:
            need |= needs[name]
        _raise_extras(tree, need, have, chosen, group.minimum_members)
        for name in rest:
            if sum(need.values()) >= group.minimum_members:
                break
            if whole_children:
                need |= needs[name]
            _raise_extras(tree, need, have, [name], group.minimum_members)
        needs[group.name] = need
    return needs


def _raise_extras(tree: Tree, need: dict[str, int], have: Counts, groups: list[str], minimum: int) -> None:
    """Add members below the groups in order until the minimum is reached."""
    short = minimum - sum(need.values())
    for leaf in (leaf for name in groups for leaf in tree.leaves_below(name)):
        if short <= 0:
            return
        more = min(short, have.get(leaf, 0) - need.get(leaf, 0))
        need[leaf] = need.get(leaf, 0) + more
        short -= more


def _missing(need: Mapping[str, int], active: Counts) -> dict[str, int]:
    short = {leaf: count - active.get(leaf, 0) for leaf, count in need.items()}
    return {leaf: count for leaf, count in short.items() if count > 0}
