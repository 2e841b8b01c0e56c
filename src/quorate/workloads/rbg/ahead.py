"""What RoleBasedGroups come to in the end, for those who look ahead: the sets of a group that has all it wants."""

from collections.abc import Iterator, Sequence

import msgspec

from quorate.api.meta import Json
from quorate.api.rbg import COORDINATED_POLICY, ROLE_BASED_GROUP_KINDS, RoleBasedGroup
from quorate.api.rbgpolicy import CoordinatedPolicy
from quorate.workloads.rbg.group import Group, read
from quorate.workloads.rbg.rolling import Told
from quorate.workloads.rbg.sets import made, set_of
from quorate.workloads.segmentgangs import teams


class FaultyError(ValueError):
    """A group that nobody may act on."""


def with_sets(documents: Sequence[Json], scheduler_name: str) -> Iterator[Json]:
    """The documents, each group followed by its sets; pods that name no scheduler get this one."""
    policies = {_named(each): each for each in documents if each.get("kind") == COORDINATED_POLICY.kind}
    kinds = {(kind.api_version, kind.kind): kind for kind in ROLE_BASED_GROUP_KINDS}
    for document in documents:
        yield document
        kind = kinds.get((document.get("apiVersion", ""), document.get("kind", "")))
        if kind is None:
            continue
        policy = policies.get(_named(document))
        try:
            found = msgspec.convert(document, RoleBasedGroup)
            group = read(kind, found, msgspec.convert(policy, CoordinatedPolicy) if policy else None)
        except msgspec.ValidationError as error:
            raise FaultyError(f"RoleBasedGroup {_named(document)[1]}: {error}") from error
        if group.faults:
            raise FaultyError(f"RoleBasedGroup {group.name}: {'; '.join(map(str, group.faults))}")
        yield from sets_in_the_end(group, scheduler_name)


def sets_in_the_end(group: Group, scheduler_name: str) -> Iterator[Json]:
    linked = teams(group.coordinations)
    for role in group.roles:
        told = Told(role.replicas, 0, role.rolling.max_unavailable, role.rolling.max_surge)
        change = set_of(group, role, linked, made(group, role), told)
        kind, template = change.target.kind, change.body["spec"]["leaderWorkerTemplate"]
        metadata = {
            **change.body["metadata"],
            "name": change.target.name,
            "namespace": group.namespace or "default",
        }
        pods = {
            name: _scheduled(template[name], scheduler_name) for name in template if name.endswith("Template")
        }
        spec = {**change.body["spec"], "leaderWorkerTemplate": {**template, **pods}}
        yield {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


def _scheduled(template: Json, scheduler_name: str) -> Json:
    return {**template, "spec": {"schedulerName": scheduler_name, **template["spec"]}}


def _named(document: Json) -> tuple[str, str]:
    metadata = document.get("metadata") or {}
    return metadata.get("namespace", ""), metadata.get("name", "")
