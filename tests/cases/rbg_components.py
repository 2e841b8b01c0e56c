"""In which order the components of an instance start and go: upstream's rules, for roles that admission refuses.

A component starts once those it starts after are ready, and goes once those that started after it are gone, and
those it is told to go after. An order with a circle is none.
"""

from collections.abc import Mapping, Sequence

from quorate.rules.dependencies import DependencyError, levels

Order = Mapping[str, Sequence[str]]


def has_cycle(order: Order) -> bool:
    """What is named but does not exist cannot be part of a circle."""
    known = {name: [other for other in others if other in order] for name, others in order.items()}
    try:
        levels(known)
    except DependencyError:
        return True
    return False


def dependents(start_after: Order) -> dict[str, list[str]]:
    """Who starts after each component."""
    return {name: [other for other, after in start_after.items() if name in after] for name in start_after}


def deletion_gates(start_after: Order, delete_after: Order) -> dict[str, list[str]]:
    """Who has to be gone before each component goes."""
    return {
        name: list(dict.fromkeys([*others, *delete_after.get(name, ())]))
        for name, others in dependents(start_after).items()
    }


def may_start(start_after: Sequence[str], sizes: Mapping[str, int], ready: Mapping[str, int]) -> bool:
    """A component without pods is never ready, so whoever waits for it sees that it never will be."""
    return all(ready.get(name, 0) >= sizes.get(name, 0) > 0 for name in start_after)
