"""The headless Services under which the pods of a set, or of each of its groups, have their addresses."""

from collections.abc import Iterable

from quorate.api import labels
from quorate.api.meta import Json
from quorate.workloads.lws.blueprint import Blueprint
from quorate.workloads.lws.pods import subdomain_of


def service_of(blueprint: Blueprint, group: int) -> Json:
    """The Service that the pods of a group need.

    Addresses of pods that are not ready are published: groups find each other before they are ready.
    """
    selector = {labels.LWS_NAME: blueprint.name}
    if blueprint.has_own_subdomains:
        selector[labels.LWS_GROUP_INDEX] = str(group)
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": subdomain_of(blueprint, group),
            "namespace": blueprint.namespace,
            "labels": {labels.LWS_NAME: blueprint.name},
            "ownerReferences": [blueprint.owner_reference],
        },
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector},
    }


def services_of(groups: Iterable[tuple[Blueprint, int]]) -> dict[str, Json]:
    """Every Service that the groups need, by name; groups of several revisions may differ in what they need."""
    found = (service_of(blueprint, group) for blueprint, group in groups)
    return {service["metadata"]["name"]: service for service in found}
