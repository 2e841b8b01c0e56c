"""Revisions of a whole group: what its pods are made from, without how many there are.

Kept as ControllerRevisions of the group, so that all roles can go back together.
"""

from collections.abc import Mapping, Sequence
from zlib import crc32

import msgspec

from quorate.api import labels
from quorate.api.apps import CONTROLLER_REVISION, ControllerRevision
from quorate.api.meta import Json
from quorate.api.rbg import RoleBasedGroup
from quorate.plan import Change, Create, Delete, Patch, Ref
from quorate.workloads.rbg.group import Group

HISTORY_LIMIT = 10
LONGEST_BEGINNING = 200


def content(found: RoleBasedGroup) -> Json:
    spec = found.spec
    roles: list[Json] = msgspec.to_builtins(spec.roles or [])
    kept = [{name: value for name, value in role.items() if name != "replicas"} for role in roles]
    shared: Json = {"roleTemplates": msgspec.to_builtins(spec.role_templates)} if spec.role_templates else {}
    return {"spec": {"roles": kept, **shared}}


def key(what: Json) -> str:
    return f"{crc32(msgspec.json.encode(what, order='sorted')):08x}"


def name_of(group: str, what: Json) -> str:
    return f"{group[:LONGEST_BEGINNING]}-{key(what)}"


def recorded(
    group: Group, found: RoleBasedGroup, known: Mapping[str, ControllerRevision]
) -> tuple[str, list[Change]]:
    """The name of today's revision, and what records it; one that comes back moves to the front."""
    what = content(found)
    name = name_of(group.name, what)
    top = max((one.revision for one in known.values()), default=0)
    target = Ref(kind=CONTROLLER_REVISION, name=name, namespace=group.namespace)
    if name not in known:
        metadata: Json = {
            "labels": {labels.RBG_GROUP_NAME: group.name},
            "ownerReferences": [group.owner_reference],
        }
        body: Json = {"metadata": metadata, "data": what, "revision": top + 1}
        return name, [Create(target=target, body=body), *_truncated(known, name)]
    if known[name].revision < top:
        return name, [Patch(target=target, body={"revision": top + 1})]
    return name, []


def restored(found: RoleBasedGroup, revision: Json) -> Json:
    """The merge patch that takes the group back to a revision; every role keeps its number of instances."""
    replicas = {role.name: role.replicas for role in found.spec.roles or ()}
    roles = [
        {**role, **({"replicas": replicas[role["name"]]} if role["name"] in replicas else {})}
        for role in revision["spec"]["roles"]
    ]
    return {"spec": {"roles": roles, "roleTemplates": revision["spec"].get("roleTemplates")}}


def _truncated(known: Mapping[str, ControllerRevision], current: str) -> Sequence[Change]:
    old = sorted(
        (one for one in known.values() if one.metadata.name != current), key=lambda one: one.revision
    )
    surplus = old[: max(len(old) - HISTORY_LIMIT, 0)]
    return [
        Delete(target=Ref(kind=CONTROLLER_REVISION, name=one.metadata.name, namespace=one.metadata.namespace))
        for one in surplus
    ]
