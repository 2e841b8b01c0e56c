"""A RoleBasedGroup in the other of its two API shapes; either way and back gives the same internal group.

The segment design keeps coordinations in the group; upstream keeps them in a CoordinatedPolicy of the group's
name. What only the server fills in (status, identity) is not taken along.
"""

from collections.abc import Iterator, Sequence

import msgspec

from quorate.api.meta import Json, Kind
from quorate.api.rbg import (
    COORDINATED_POLICY,
    ROLE_BASED_GROUP,
    ROLE_BASED_GROUP_UPSTREAM,
    Role,
    RoleBasedGroup,
    StandalonePattern,
)
from quorate.api.rbgcoordination import CoordinationRequirement
from quorate.api.rbgpolicy import CoordinatedPolicy, Policy
from quorate.workloads.rbg.group import requirements_of


def documents_to_upstream(documents: Sequence[Json]) -> Iterator[Json]:
    """Every group of the segment design, each with its policy; other documents as they are."""
    for document in documents:
        if not _is(document, ROLE_BASED_GROUP):
            yield document
            continue
        group, policy = to_upstream(msgspec.convert(document, RoleBasedGroup))
        yield from (each for each in (group, policy) if each is not None)


def documents_to_segment_design(documents: Sequence[Json]) -> Iterator[Json]:
    """Every group of upstream's shape, with the policy of its name, which is not needed any more."""
    groups = {_place(each) for each in documents if _is(each, ROLE_BASED_GROUP_UPSTREAM)}
    policies = {_place(each): each for each in documents if _is(each, COORDINATED_POLICY)}
    for document in documents:
        if _is(document, ROLE_BASED_GROUP_UPSTREAM):
            policy = policies.get(_place(document))
            given = msgspec.convert(policy, CoordinatedPolicy) if policy else None
            yield to_segment_design(msgspec.convert(document, RoleBasedGroup), given)
        elif not (_is(document, COORDINATED_POLICY) and _place(document) in groups):
            yield document


def to_upstream(found: RoleBasedGroup) -> tuple[Json, Json | None]:
    """`workloads.x-k8s.io/v1alpha2`: the group, and the policy that says what it said itself."""
    roles = [_as_pattern(role) for role in found.spec.roles or ()]
    spec = msgspec.structs.replace(found.spec, roles=roles, coordination_requirements=None)
    group = _object(ROLE_BASED_GROUP_UPSTREAM.api_version, "RoleBasedGroup", found, spec)
    requirements = found.spec.coordination_requirements
    if not requirements:
        return group, None
    policies = [_policy(index, one, roles) for index, one in enumerate(requirements)]
    body = {"policies": msgspec.to_builtins(policies)}
    named = {"name": found.metadata.name, "namespace": found.metadata.namespace}
    metadata = {key: value for key, value in named.items() if value}
    kind = COORDINATED_POLICY
    return group, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": body}


def to_segment_design(found: RoleBasedGroup, policy: CoordinatedPolicy | None = None) -> Json:
    """`workloads.instai.io/v1alpha1`: the group with the rules of its policy in it."""
    requirements = [*(found.spec.coordination_requirements or ()), *requirements_of(policy)]
    spec = msgspec.structs.replace(found.spec, coordination_requirements=requirements or None)
    return _object(ROLE_BASED_GROUP.api_version, "RoleBasedGroup", found, spec)


def _is(document: Json, kind: Kind) -> bool:
    return (document.get("apiVersion"), document.get("kind")) == (kind.api_version, kind.kind)


def _place(document: Json) -> tuple[str, str]:
    metadata = document.get("metadata") or {}
    return metadata.get("namespace", ""), metadata.get("name", "")


def _as_pattern(role: Role) -> Role:
    """Upstream has no bare template on a role."""
    if role.template is None:
        return role
    pattern = StandalonePattern(template=role.template)
    return msgspec.structs.replace(role, template=None, standalone_pattern=pattern)


def _policy(index: int, requirement: CoordinationRequirement, roles: Sequence[Role]) -> Policy:
    """Upstream demands a name and the roles of a rule."""
    placement = requirement.strategy.segment_placement
    sized = list((placement.segment_size if placement else None) or ())
    return Policy(
        name=requirement.name or f"coordination-{index + 1}",
        roles=requirement.roles or sized or [role.name for role in roles],
        strategy=requirement.strategy,
    )


def _object(api_version: str, kind: str, found: RoleBasedGroup, spec: msgspec.Struct) -> Json:
    meta = found.metadata
    said = {
        "name": meta.name,
        "namespace": meta.namespace,
        "labels": meta.labels,
        "annotations": meta.annotations,
    }
    metadata = {key: value for key, value in said.items() if value}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "spec": msgspec.to_builtins(spec),
    }
