"""CoordinatedPolicy and RoleBasedGroupScalingAdapter, the kinds that steer a RoleBasedGroup from outside."""

from typing import Annotated

import msgspec

from quorate.api.described import described
from quorate.api.meta import Condition, Object, Part, Wire
from quorate.api.rbg import MAX_ROLES, IntOrPercent, SegmentPlacement


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
        dict[str, int] | None,
        described("Instances of each role that start together; none: the whole group."),
    ] = None


class CoordinatedScheduling(Wire):
    gang: GangMinimum | None = None


class PolicyStrategy(Wire):
    rolling_update: CoordinatedRollingUpdate | None = None
    scaling: CoordinatedScaling | None = None
    scheduling: CoordinatedScheduling | None = None
    segment_placement: SegmentPlacement | None = None


class Policy(Wire):
    name: Annotated[str, described("Name of the rule.", minLength=1, maxLength=63)] = ""
    roles: Annotated[list[str] | None, described("Roles of the rule.", minItems=1, maxItems=MAX_ROLES)] = None
    strategy: PolicyStrategy = msgspec.field(default_factory=PolicyStrategy)


class CoordinatedPolicySpec(Wire):
    policies: Annotated[
        list[Policy] | None,
        described("Rules for the RoleBasedGroup of the same name.", minItems=1, maxItems=MAX_ROLES),
    ] = None


class CoordinatedPolicyStatus(Wire):
    observed_generation: int = 0
    conditions: list[Condition] | None = None


class CoordinatedPolicy(Object):
    spec: CoordinatedPolicySpec = msgspec.field(default_factory=CoordinatedPolicySpec)
    status: CoordinatedPolicyStatus = msgspec.field(default_factory=CoordinatedPolicyStatus)


class ScaleTargetRef(Part, frozen=True):
    name: Annotated[str, described("Name of the RoleBasedGroup.", minLength=1)] = ""
    role: Annotated[str, described("Name of the role.", minLength=1)] = ""


class ScalingAdapterSpec(Wire):
    replicas: Annotated[int | None, described("Instances that the role shall have.", minimum=0)] = None
    scale_target_ref: ScaleTargetRef = ScaleTargetRef()


class ScalingAdapterStatus(Wire):
    phase: str = ""
    replicas: int | None = None
    selector: str = ""
    last_scale_time: str | None = None


class ScalingAdapter(Object):
    spec: ScalingAdapterSpec = msgspec.field(default_factory=ScalingAdapterSpec)
    status: ScalingAdapterStatus = msgspec.field(default_factory=ScalingAdapterStatus)
