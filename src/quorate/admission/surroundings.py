"""What the cluster holds beside the object that is judged; the webhook fills it from its caches, lint from files."""

from collections.abc import Mapping

import msgspec

from quorate.api.composite import CompositePodGroup
from quorate.api.core import PriorityClass
from quorate.api.podgroup import PodGroup
from quorate.api.queue import Queue
from quorate.api.rbgpolicy import ScalingAdapter
from quorate.api.topology import Topology


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Objects by name (`namespace/name` where they have one); None: not known, so nothing is said about it."""

    queues: Mapping[str, Queue] | None = None
    topologies: Mapping[str, Topology] | None = None
    priority_classes: Mapping[str, PriorityClass] | None = None
    podgroups: Mapping[str, PodGroup] | None = None
    composites: Mapping[str, CompositePodGroup] | None = None
    adapters: Mapping[str, ScalingAdapter] | None = None


NOTHING_KNOWN = Surroundings()
