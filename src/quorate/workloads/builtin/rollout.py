"""Rolling-update arithmetic of a Deployment: how large each ReplicaSet may be at this instant."""

from collections.abc import Sequence
from typing import NamedTuple, Self

from quorate.api.meta import Json
from quorate.workloads.builtin.amounts import surge_and_unavailable


class Sizes(NamedTuple):
    """Replica totals of a Deployment: desired, all sets' spec, the current set's spec."""

    desired: int
    total: int
    current: int

    @classmethod
    def of(cls, current: Json | None, old: Sequence[Json], desired: int) -> Self:
        now = wanted(current) if current else 0
        return cls(desired, now + sum(wanted(found) for found in old), now)


def wanted(found: Json) -> int:
    size: int = found["spec"].get("replicas", 1)
    return size


def available(found: Json) -> int:
    count: int = found.get("status", {}).get("availableReplicas", 0)
    return count


def name(found: Json) -> str:
    text: str = found["metadata"]["name"]
    return text


def limits(item: Json) -> tuple[int, int]:
    """(maxSurge, maxUnavailable) as absolute numbers."""
    strategy = item["spec"].get("strategy", {})
    if strategy.get("type") == "Recreate":
        return 0, 0
    rolling = strategy.get("rollingUpdate") or {}
    desired = item["spec"].get("replicas", 1)
    surge, missing = surge_and_unavailable(
        rolling.get("maxSurge", "25%"), rolling.get("maxUnavailable", "25%"), desired
    )
    return surge, min(missing, desired)


def new_size(item: Json, sizes: Sizes) -> int:
    """The current set grows into what `maxSurge` leaves free."""
    if item["spec"].get("strategy", {}).get("type") == "Recreate":
        return sizes.desired
    surge, _ = limits(item)
    free = sizes.desired + surge - sizes.total
    return sizes.current if free <= 0 else sizes.current + min(free, sizes.desired - sizes.current)


def rolling(item: Json, current: Json | None, old: Sequence[Json]) -> dict[str, int]:
    """One step: grow the current set if that is possible, else shrink old ones."""
    if current is None:
        return {}
    desired = item["spec"].get("replicas", 1)
    if wanted(current) > desired:
        return {name(current): desired}
    grown = new_size(item, Sizes.of(current, old, desired))
    if grown != wanted(current):
        return {name(current): grown}
    return _shrink(item, current, old)


def _shrink(item: Json, current: Json, old: Sequence[Json]) -> dict[str, int]:
    """Old sets give up unhealthy replicas first, then as many healthy ones as `maxUnavailable` allows."""
    desired = item["spec"].get("replicas", 1)
    _, missing = limits(item)
    least = desired - missing
    total = wanted(current) + sum(wanted(found) for found in old)
    unready_new = wanted(current) - available(current)
    budget = total - least - unready_new
    if budget <= 0:
        return {}
    sizes = {name(found): wanted(found) for found in old}
    for found in old:
        gone = min(budget, wanted(found) - available(found))
        if gone > 0:
            sizes[name(found)] -= gone
            budget -= gone
    spare = available(current) + sum(min(available(found), sizes[name(found)]) for found in old) - least
    for found in old:
        gone = min(spare, sizes[name(found)])
        if gone > 0:
            sizes[name(found)] -= gone
            spare -= gone
    return sizes


def proportional(item: Json, current: Json | None, old: Sequence[Json]) -> dict[str, int]:
    """Spread a change of `spec.replicas` over the active sets by size, so that a rollout keeps its ratio."""
    desired = item["spec"].get("replicas", 1)
    sets = [*([current] if current else []), *old]
    active = [found for found in sets if wanted(found)]
    if len(active) <= 1:
        only = active[0] if active else current
        return {name(only): desired} if only else {}
    if current and wanted(current) == desired == available(current):
        return {name(found): 0 for found in old}
    surge, _ = limits(item)
    target = desired + surge if desired else 0
    return _spread(active, target - sum(wanted(found) for found in active), target)


def _spread(active: Sequence[Json], change: int, target: int) -> dict[str, int]:
    """Larger sets take larger parts (rounded to nearest); what rounding leaves goes to the largest."""
    newest_first = sorted(
        active, key=lambda found: found["metadata"].get("creationTimestamp", ""), reverse=change > 0
    )
    ordered = sorted(newest_first, key=wanted, reverse=True)
    total = sum(wanted(found) for found in active)
    sizes = {name(found): wanted(found) for found in ordered}
    left = change
    for found in ordered:
        if not left:
            break
        part = round(wanted(found) * target / total) - wanted(found)
        part = max(0, min(part, left)) if change > 0 else min(0, max(part, left))
        sizes[name(found)] += part
        left -= part
    sizes[name(ordered[0])] = max(0, sizes[name(ordered[0])] + left)
    return sizes
