"""Which minimums of a gang do not hold, in one line."""

from collections.abc import Mapping

from quorate.rules.tree import Group, Tree

MOST_NAMED = 4  # leaves in one line


def shortfall(tree: Tree, active: Mapping[str, int], holds: Mapping[str, bool]) -> str:
    """For a gang that is not satisfied: what the root lacks, then the leaves that everything above waits for."""
    missing = f"below its minimum: {_count(tree, tree.root, active, holds)}"
    short = [
        f"{leaf.name} has {_count(tree, leaf, active, holds)}"
        for leaf in tree.leaves
        if leaf.name and not any(holds[group.name] for group in tree.upward(leaf.name))
    ]
    if not short:
        return missing
    more = [f"{len(short) - MOST_NAMED} more"] if len(short) > MOST_NAMED else []
    return f"{missing}; {', '.join((*short[:MOST_NAMED], *more))}"


def _count(tree: Tree, group: Group, active: Mapping[str, int], holds: Mapping[str, bool]) -> str:
    """Children come first: where enough of them hold, it is pods that are missing."""
    satisfied = sum(holds[name] for name in group.children)
    if satisfied < group.minimum_children:
        return f"{satisfied} of {group.minimum_children} groups"
    members = sum(active.get(leaf, 0) for leaf in tree.leaves_below(group.name))
    return f"{members} of {group.minimum_members} pods"
