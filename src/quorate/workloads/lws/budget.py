"""A PodDisruptionBudget for each group of a set that asks for it.

The annotation `quorate.dev/disruption-budget` says how many pods of a group may be evicted at a time: a
number, or a percentage of the group rounded down; 0 keeps every group whole until its pods are deleted. The
budget is written as what must stay available, because what a LeaderWorkerSet scales are groups, from which an
API server cannot tell how many pods there should be.
"""

import re

from quorate.api import labels
from quorate.api.meta import Json
from quorate.workloads.lws.blueprint import Blueprint
from quorate.workloads.lws.names import leader_name

_AMOUNT = re.compile(r"(\d+)(%?)")


def budget_of(blueprint: Blueprint, group: int) -> Json | None:
    """The budget of one group; `None` if the set asks for none."""
    evictable = evictable_pods(blueprint.annotations.get(labels.DISRUPTION_BUDGET, ""), blueprint.size)
    if evictable is None:
        return None
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {
            "name": leader_name(blueprint.name, group),
            "namespace": blueprint.namespace,
            "labels": {labels.LWS_NAME: blueprint.name, labels.LWS_GROUP_INDEX: str(group)},
            "ownerReferences": [blueprint.owner_reference],
        },
        "spec": {
            "minAvailable": blueprint.size - evictable,
            "selector": {
                "matchLabels": {labels.LWS_NAME: blueprint.name, labels.LWS_GROUP_INDEX: str(group)}
            },
        },
    }


def evictable_pods(text: str, size: int) -> int | None:
    """How many pods of a group of this size the annotation lets go; `None` if it says no such amount."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return None
    amount = int(found[1])
    return min(size, size * min(amount, 100) // 100 if found[2] else amount)
