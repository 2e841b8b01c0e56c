"""Whether the topology levels that an object asks for exist; an unknown one is a warning that lists the known."""

from collections.abc import Iterator, Mapping

from quorate.admission.fields import missing
from quorate.api.podgroup import TopologyConstraint
from quorate.api.topology import NODE_LABELS, Topology
from quorate.rules.validity import Fault


def unknown_levels(
    field: str, constraint: TopologyConstraint, inherited: str, topologies: Mapping[str, Topology] | None
) -> Iterator[Fault]:
    """`inherited` is the name of the nearest group above that names a topology."""
    asked = {
        "requiredTopologyLevel": constraint.required_topology_level,
        "preferredTopologyLevel": constraint.preferred_topology_level,
    }
    if topologies is None or not (constraint.topology or any(asked.values())):
        return
    if constraint.topology == NODE_LABELS:
        return
    name = constraint.topology or inherited
    topology = topologies.get(name)
    if topology is None and not name and len(topologies) == 1:
        (topology,) = topologies.values()
    known = ", ".join(sorted(topologies)) or "none"
    if topology is None:
        text = f'topology "{name}" does not exist' if name else "no topology is named"
        yield missing(f"{field}.topology", f"{text}: the cluster has {known}")
        return
    for key, level in asked.items():
        if level and topology.label(level) is None:
            levels = ", ".join(each.node_label for each in topology.spec.levels or ())
            text = f'level "{level}" is not in topology {topology.metadata.name}: its levels are {levels}'
            yield missing(f"{field}.{key}", text)
