"""Which unit of a gang starts next and which one goes first, on counts of members: what the arrays must agree with.

`active` members hold a node, `live` ones exist and may run, active ones included.
"""

from collections.abc import Mapping
from fractions import Fraction

from quorate.rules.tree import ROOT, Counts, Group, Tree, satisfied

Growth = tuple[int, Fraction]


def units(tree: Tree, active: Counts, live: Counts) -> list[str]:
    """The groups of all units that may start next, in order of preference.

    Below its minimum the gang starts as one unit. Above it optional children come first, each as a whole,
    then single members, so that siblings grow evenly: the least grown in proportion to its minimum first.
    """
    eligible, holds = _eligible(tree, live), satisfied(tree, active)
    found: list[tuple[list[Growth], str]] = []
    grown: dict[str | None, list[Growth] | None] = {None: []}
    for group in tree.groups.values():
        above = grown[group.parent]
        path = None if above is None else [*above, _growth(group, active, holds)]
        grown[group.name] = path if holds[group.name] else None
        if path is None:
            continue
        has_more = group.is_leaf and live.get(group.name, 0) > active.get(group.name, 0)
        if has_more if holds[group.name] else eligible[group.name]:
            found.append((path, group.name))
    return [name for _, name in sorted(found, key=lambda each: each[0])]


def _growth(group: Group, active: Counts, holds: Mapping[str, bool]) -> Growth:
    """Sorts siblings for growing: unsatisfied ones, then the least grown, then those without a minimum."""
    if not holds[group.name]:
        return (0, Fraction(0))
    minimum = group.minimum_members if group.is_leaf else group.minimum_children
    if not minimum:
        return (2, Fraction(0))
    have = active.get(group.name, 0) if group.is_leaf else sum(holds[name] for name in group.children)
    return (1, Fraction(have, minimum))


def next_victim(tree: Tree, active: Counts, *, protected: Counts) -> Mapping[str, int]:
    """The members by leaf to take first: an extra, else an optional child, else the gang; none if nobody may go."""
    holds = satisfied(tree, active)
    if holds[ROOT]:
        partial = _spare_member(tree, active, holds, protected) or _spare_child(
            tree, active, holds, protected
        )
        if partial:
            return partial
    return {} if any(protected.values()) else {leaf: count for leaf, count in active.items() if count}


def _spare_member(tree: Tree, active: Counts, holds: Mapping[str, bool], kept: Counts) -> Counts:
    for leaf in reversed(tree.leaves):
        have = active.get(leaf.name, 0)
        if have <= max(leaf.minimum_members, kept.get(leaf.name, 0)):
            continue
        taken = {leaf.name: 1}
        if _still_holds(tree, active, holds, leaf.name, taken):
            return taken
    return {}


def _spare_child(tree: Tree, active: Counts, holds: Mapping[str, bool], kept: Counts) -> Counts:
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
            return taken
    return {}


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
        reach[group.name] = sum(reach[name] for name in able)
        if group.is_leaf:
            reach[group.name] = live.get(group.name, 0)
        enough = reach[group.name] >= group.minimum_members
        eligible[group.name] = enough and len(able) >= group.minimum_children
    return eligible
