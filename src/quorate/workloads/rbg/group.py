"""The internal type of a RoleBasedGroup: what both API shapes, policies and scaling adapters come to.

`read` is the only place that knows the shapes. A group with faults has no roles: nobody may act on it, and what
runs goes on running.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import msgspec

from quorate.api import labels
from quorate.api.meta import Json, Kind
from quorate.api.rbg import Role as WireRole
from quorate.api.rbg import RoleBasedGroup, RollingUpdate, ServicePort
from quorate.api.rbgcoordination import CoordinationRequirement, SegmentTopologyAffinity
from quorate.api.rbgpolicy import CoordinatedPolicy
from quorate.rules.roles import faults
from quorate.rules.skew import skew
from quorate.rules.validity import Fault
from quorate.workloads.backoff import Backoff
from quorate.workloads.coordinated import coordinations
from quorate.workloads.rbg.gang import GangRole, GroupGang, gang
from quorate.workloads.rbg.names import service_selection
from quorate.workloads.rbg.restart import BACKOFF, NONE, effective_type
from quorate.workloads.rbg.scaling import Gate, ScalingRule
from quorate.workloads.rbg.skew import UpdateRule
from quorate.workloads.rbg.templates import Templates, templates_of
from quorate.workloads.segments import Coordination


@dataclass(frozen=True, slots=True)
class Role:
    """A role as it is carried out: so many instances of `size` pods each, made from these templates."""

    name: str
    replicas: int
    size: int
    templates: Templates
    restart: str
    backoff: Backoff
    rolling: RollingUpdate
    needs: tuple[str, ...] = ()
    min_ready_seconds: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[ServicePort, ...] = ()
    serves_leader_only: bool = False
    starts_in_order: bool = False
    has_adapter: bool = False
    adapter_labels: Mapping[str, str] = field(default_factory=dict)


class Owner(NamedTuple):
    """Which group an object belongs to."""

    kind: Kind
    name: str
    namespace: str
    uid: str

    @property
    def reference(self) -> Json:
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


@dataclass(frozen=True, slots=True)
class Group:
    kind: Kind
    name: str
    namespace: str
    uid: str
    generation: int
    roles: tuple[Role, ...]
    coordinations: tuple[Coordination, ...] = ()
    affinities: Mapping[str, SegmentTopologyAffinity] = field(default_factory=dict)  # by coordination
    scaling: tuple[ScalingRule, ...] = ()
    updating: tuple[UpdateRule, ...] = ()
    gang: GroupGang | None = None  # roles that start together, where segments do not say so
    faults: tuple[Fault, ...] = ()

    @property
    def by_name(self) -> dict[str, Role]:
        return {role.name: role for role in self.roles}

    @property
    def owner(self) -> "Owner":
        return Owner(self.kind, self.name, self.namespace, self.uid)

    @property
    def owner_reference(self) -> Json:
        return self.owner.reference


def read(
    kind: Kind,
    found: RoleBasedGroup,
    policy: CoordinatedPolicy | None = None,
    scaled: Mapping[str, int] | None = None,
) -> Group:
    """`scaled` are the instances that adapters ask for, by role; they come before the role's own."""
    meta, own = found.metadata, found.spec.coordination_requirements or []
    requirements = [*own, *requirements_of(policy)]
    spec = msgspec.structs.replace(found.spec, coordination_requirements=requirements or None)
    wrong = tuple(_named(fault, len(own)) for fault in faults(spec))
    templates, unmade = ({}, ()) if wrong else templates_of(spec)
    wrong = (*wrong, *unmade)
    is_paused = meta.annotation(labels.PAUSED) == "true"
    made = (_role(role, templates, scaled or {}) for role in spec.roles or () if not wrong)
    roles = tuple(_paused(role) if is_paused else role for role in made)
    desired = {role.name: role.replicas for role in roles}
    return Group(
        kind=kind,
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        generation=meta.generation,
        roles=roles,
        coordinations=tuple(coordinations(requirements, desired)) if roles else (),
        affinities=_affinities(requirements),
        scaling=tuple(_scaling(requirements, desired)) if roles else (),
        updating=tuple(_updating(requirements, desired)) if roles else (),
        gang=_gang(found, requirements, roles),
        faults=wrong,
    )


def requirements_of(policy: CoordinatedPolicy | None) -> list[CoordinationRequirement]:
    """The rules of a policy as the group itself would say them."""
    rules = policy.spec.policies if policy is not None else None
    return [
        CoordinationRequirement(name=rule.name, roles=rule.roles, strategy=rule.strategy)
        for rule in rules or ()
    ]


def _named(fault: Fault, own: int) -> Fault:
    """A fault in a requirement that stands in the policy is reported there."""
    beginning, middle, rest = fault.field.partition("spec.coordinationRequirements[")
    number, _, tail = rest.partition("]")
    if beginning or not middle or int(number) < own:
        return fault
    at = f"CoordinatedPolicy spec.policies[{int(number) - own}]{tail}"
    return fault._replace(field=at)


def _role(role: WireRole, templates: Mapping[str, Templates], scaled: Mapping[str, int]) -> Role:
    pattern, strategy = role.leader_worker_pattern, role.rollout_strategy
    restart, backoff = _restart(role)
    return Role(
        name=role.name,
        replicas=scaled.get(role.name, role.replicas),
        size=pattern.size if pattern else 1,
        templates=templates[role.name],
        restart=restart,
        backoff=backoff,
        rolling=(strategy.rolling_update if strategy else None) or RollingUpdate(),
        needs=tuple(role.dependencies or ()),
        min_ready_seconds=role.min_ready_seconds,
        labels=role.labels or {},
        annotations=role.annotations or {},
        ports=tuple(role.service_ports or ()),
        serves_leader_only=service_selection(role) == "LeaderOnly",
        starts_in_order=role.pod_management_policy == "OrderedReady",
        has_adapter=role.scaling_adapter is not None and role.scaling_adapter.enable,
        adapter_labels=(role.scaling_adapter.labels if role.scaling_adapter else None) or {},
    )


def _paused(role: Role) -> Role:
    return replace(role, rolling=msgspec.structs.replace(role.rolling, paused=True))


def _restart(role: WireRole) -> tuple[str, Backoff]:
    """What a failure means, and after which delays."""
    pattern = role.leader_worker_pattern or role.standalone_pattern
    if pattern is None:
        return NONE, BACKOFF
    config = pattern.restart_policy_config
    kind = "leaderWorker" if role.leader_worker_pattern else "standalone"
    meaning = effective_type(kind, config.type if config else "", pattern.restart_policy)
    return meaning, Backoff(config.base_delay_seconds, config.max_delay_seconds) if config else BACKOFF


def _affinities(requirements: Sequence[CoordinationRequirement]) -> dict[str, SegmentTopologyAffinity]:
    found = {}
    for index, requirement in enumerate(requirements):
        placement = requirement.strategy.segment_placement
        affinity = placement.topology_affinity if placement else None
        if affinity is not None and affinity.topology_key:
            found[requirement.name or f"coordination-{index + 1}"] = affinity
    return found


def _scaling(
    requirements: Sequence[CoordinationRequirement], desired: Mapping[str, int]
) -> Iterator[ScalingRule]:
    """A rule without roles is about every role."""
    for requirement in requirements:
        scaling = requirement.strategy.scaling
        if scaling is not None:
            roles = tuple(requirement.roles or desired)
            yield ScalingRule(roles, skew(scaling.max_skew), Gate(scaling.progression))


def _updating(
    requirements: Sequence[CoordinationRequirement], desired: Mapping[str, int]
) -> Iterator[UpdateRule]:
    for requirement in requirements:
        rolling = requirement.strategy.rolling_update
        if rolling is not None:
            roles = tuple(requirement.roles or desired)
            limit = None if rolling.max_skew is None else skew(rolling.max_skew)
            yield UpdateRule(roles, limit, rolling.partition, rolling.max_unavailable)


def _gang(
    found: RoleBasedGroup, requirements: Sequence[CoordinationRequirement], roles: Sequence[Role]
) -> GroupGang | None:
    """A policy's minimums before the annotation; of several the larger wins, and none means the whole group."""
    pods = {role.name: GangRole(role.replicas, role.size) for role in roles}
    scheduling = [requirement.strategy.scheduling for requirement in requirements]
    asked = [one.gang.min_replicas or {} for one in scheduling if one is not None and one.gang is not None]
    if not asked:
        is_whole = found.metadata.annotation(labels.RBG_GANG_SCHEDULING) == "true"
        return gang(pods) if is_whole else None
    if not all(asked) or not roles:
        return gang(pods)
    named = {name for minimums in asked for name in minimums}
    return gang(pods, {name: max(minimums.get(name, 0) for minimums in asked) for name in named})
