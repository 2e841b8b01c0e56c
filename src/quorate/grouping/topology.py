"""Topology constraints as annotations say them, for whole gangs and for segments."""

from collections.abc import Mapping

from quorate.api import labels
from quorate.api.podgroup import TopologyConstraint


def constraint(annotations: Mapping[str, str]) -> TopologyConstraint | None:
    """What the annotations ask for a gang as a whole."""
    found = TopologyConstraint(
        topology=annotations.get(labels.TOPOLOGY, ""),
        required_topology_level=annotations.get(labels.TOPOLOGY_REQUIRED, ""),
        preferred_topology_level=annotations.get(labels.TOPOLOGY_PREFERRED, ""),
    )
    return found or None


def level_constraint(annotations: Mapping[str, str]) -> TopologyConstraint | None:
    """What the annotations ask for one group of a gang: nothing where they name no level."""
    found = constraint(annotations)
    return found if found and (found.required_topology_level or found.preferred_topology_level) else None


def segment_constraint(
    sources: tuple[Mapping[str, str], ...], owner: Mapping[str, str]
) -> TopologyConstraint | None:
    """What the annotations ask for each segment; the first source that has a key decides it.

    The topology may stand on the owner too, whose levels are those of the whole gang.
    """

    def first(key: str, *others: Mapping[str, str]) -> str:
        return next((source[key] for source in (*sources, *others) if source.get(key)), "")

    required = first(labels.SEGMENT_TOPOLOGY_REQUIRED)
    preferred = first(labels.SEGMENT_TOPOLOGY_PREFERRED)
    if not required and not preferred:
        return None
    return TopologyConstraint(
        topology=first(labels.TOPOLOGY, owner),
        required_topology_level=required,
        preferred_topology_level=preferred,
    )
