"""Topology: the ordered node labels that place nodes in zones, blocks, racks and hosts."""

from typing import Annotated

import msgspec

from quorate.api.described import described
from quorate.api.meta import Kind, Object, Part, Wire

# Names no object: under this name every node label is a level, and each of its values a domain.
NODE_LABELS = "quorate.dev/node-labels"
TOPOLOGY = Kind("kai.scheduler", "v1alpha1", "Topology", "topologies", namespaced=False)


class TopologyLevel(Part, frozen=True):
    node_label: Annotated[
        str,
        described(
            "Label whose values are the domains of this level.", required=True, minLength=1, maxLength=316
        ),
    ] = ""
    alias: Annotated[
        str,
        described("Short name of the level; else the last part of the label.", maxLength=63),
    ] = ""

    @property
    def name(self) -> str:
        """What people call it: `topology.kubernetes.io/zone` is `zone` unless an alias says otherwise."""
        return self.alias or self.node_label.rpartition("/")[2]


class TopologySpec(Wire):
    levels: Annotated[
        list[TopologyLevel] | None,
        described("Levels from the widest to the narrowest.", required=True, minItems=1, maxItems=16),
    ] = None


class Topology(Object):
    spec: TopologySpec = msgspec.field(default_factory=TopologySpec)

    def label(self, level: str) -> str | None:
        """The node label of a level given by label or alias."""
        levels = self.spec.levels or ()
        exact = (found.node_label for found in levels if level in {found.node_label, found.alias})
        named = (found.node_label for found in levels if level == found.name)
        return next(exact, None) or next(named, None)
