"""CoordinatedPolicy and RoleBasedGroupScalingAdapter, the kinds that steer a RoleBasedGroup from outside."""

from typing import Annotated

import msgspec

from quorate.api.described import described
from quorate.api.meta import Condition, Object, Part, Wire
from quorate.api.rbgcoordination import MAX_INSTANCES, MAX_ROLES, CoordinationStrategy


class Policy(Wire):
    name: Annotated[str, described("Name of the rule.", minLength=1, maxLength=63)] = ""
    roles: Annotated[list[str] | None, described("Roles of the rule.", minItems=1, maxItems=MAX_ROLES)] = None
    strategy: CoordinationStrategy = msgspec.field(default_factory=CoordinationStrategy)


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
    replicas: Annotated[
        int | None, described("Instances that the role shall have.", minimum=0, maximum=MAX_INSTANCES)
    ] = None
    scale_target_ref: ScaleTargetRef = ScaleTargetRef()


class ScalingAdapterStatus(Wire):
    phase: str = ""
    replicas: int | None = None
    selector: str = ""
    last_scale_time: str | None = None


class ScalingAdapter(Object):
    spec: ScalingAdapterSpec = msgspec.field(default_factory=ScalingAdapterSpec)
    status: ScalingAdapterStatus = msgspec.field(default_factory=ScalingAdapterStatus)
