"""How roles of a RoleBasedGroup grow, roll and start together: said in the group itself or in a CoordinatedPolicy."""

from typing import Annotated

import msgspec

from quorate.api.described import described
from quorate.api.meta import Part, Wire

MAX_ROLES = 64
MAX_INSTANCES = 100_000  # of a role; a typing error is not to fill the cluster's memory

IntOrPercent = int | str


class SegmentTopologyAffinity(Part, frozen=True):
    topology_key: Annotated[str, described("Node label or level that a segment keeps to.")] = ""
    strategy: Annotated[
        str,
        described(
            "How strictly a segment keeps to one domain.",
            enum=["PreferSegmentAffinity", "RequireSegmentAffinity", "BestEffort", "Prefer", "Require"],
            default="PreferSegmentAffinity",
        ),
    ] = "PreferSegmentAffinity"
    spread_segments: Annotated[bool, described("Put segments into different domains where possible.")] = False

    @property
    def is_required(self) -> bool:
        return self.strategy in {"RequireSegmentAffinity", "Require"}

    @property
    def is_best_effort(self) -> bool:
        """Each instance for itself: its segment may be anywhere."""
        return self.strategy == "BestEffort"


class SegmentPlacement(Wire):
    segment_size: Annotated[
        dict[str, Annotated[int, described("Instances of the role.", minimum=1, format="int32")]] | None,
        described("Instances of each role that make one segment.", minProperties=1, maxProperties=MAX_ROLES),
    ] = None
    progression: Annotated[
        str,
        described(
            "When the next segment starts.",
            enum=["", "Ordered", "OrderedReady", "Parallel"],
            default="OrderedReady",
        ),
    ] = "OrderedReady"
    topology_affinity: Annotated[
        SegmentTopologyAffinity | None, described("Where the pods of a segment shall be.")
    ] = None


class CoordinatedRollingUpdate(Wire):
    max_skew: Annotated[IntOrPercent | None, described("How far one role may be ahead in updating.")] = None
    partition: Annotated[IntOrPercent | None, described("Instances below it keep their revision.")] = None
    max_unavailable: Annotated[IntOrPercent | None, described("Instances that may be unavailable.")] = None


class CoordinatedScaling(Wire):
    max_skew: Annotated[IntOrPercent | None, described("How far one role may be ahead in scaling.")] = None
    progression: Annotated[
        str,
        described(
            "What instances have to be before more are made.", enum=["", "OrderScheduled", "OrderReady"]
        ),
    ] = ""


class GangMinimum(Wire):
    min_replicas: Annotated[
        dict[str, Annotated[int, described("Instances of the role.", minimum=1, format="int32")]] | None,
        described("Instances of each role that start together; none: the whole group."),
    ] = None


class CoordinatedScheduling(Wire):
    gang: Annotated[
        GangMinimum | None, described("Instances that start together, where no segments are placed.")
    ] = None


class CoordinationStrategy(Wire):
    segment_placement: Annotated[
        SegmentPlacement | None, described("The roles grow, start and roll by whole segments.")
    ] = None
    rolling_update: Annotated[
        CoordinatedRollingUpdate | None, described("How far updates of the roles may be apart.")
    ] = None
    scaling: Annotated[
        CoordinatedScaling | None, described("How far the sizes of the roles may be apart.")
    ] = None
    scheduling: Annotated[CoordinatedScheduling | None, described("Which instances start together.")] = None


class CoordinationRequirement(Wire):
    name: Annotated[str, described("Name of the rule, as the status shows it.")] = ""
    roles: Annotated[
        list[str] | None, described("Roles of the rule; none: all, or those that have a size.")
    ] = None
    strategy: CoordinationStrategy = msgspec.field(default_factory=CoordinationStrategy)
