"""A PodDisruptionBudget for each group of a set that asks for it.

The annotation `quorate.dev/disruption-budget` says how many pods of a group may be evicted at a time: a
number, or a percentage of the group rounded down; 0 keeps every group whole until its pods are deleted. The
budget is written as what must stay available, because what a LeaderWorkerSet scales are groups, from which an
API server cannot tell how many pods there should be.
"""

from quorate.api import labels
from quorate.api.meta import Json
from quorate.rules.evictable import evictable_pods
from quorate.workloads.lws.blueprint import Blueprint
from quorate.workloads.lws.names import leader_name


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
