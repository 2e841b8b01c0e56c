"""Roles of a RoleBasedGroup, each a LeaderWorkerSet that says what its groups belong to.

With segment placement the gang of an instance starts with the composite of its segment. Without, and where the
whole group is asked to be one gang, every role is a group of that gang and every instance one of its role.
"""

from dataclasses import replace

import msgspec

from quorate.api import labels
from quorate.api.meta import OwnerReference
from quorate.api.podgroup import MAX_SUB_GROUPS, SubGroup
from quorate.grouping.errors import MalformedError
from quorate.grouping.numbers import whole
from quorate.grouping.objects import Owner
from quorate.grouping.subject import Shape, Subject, plain
from quorate.rules.composites import composite_name


class RoleInGang(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One role as `GANG_OF_ROLES` lists it; only `needed` of its instances have to start."""

    name: str
    replicas: int
    size: int = 1
    needed: int = 0


def segment_of(owner: Owner, index: str) -> str:
    """The composite that a group of the set starts with; none without segment placement."""
    beginning = owner.annotations.get(labels.SEGMENTS_OF, "")
    if not beginning or not index:
        return ""
    text = owner.annotations.get(labels.SEGMENT_INSTANCES, "")
    instances = whole(text, f"annotation {labels.SEGMENT_INSTANCES}", least=1)
    return composite_name(beginning, whole(index, f"label {labels.LWS_GROUP_INDEX}") // instances)


def one_gang(subject: Subject, index: str, size: int) -> Shape:
    """The gang of all roles; a role of single pods is a leaf, of more a group of instances."""
    roles = _roles(subject.owner)
    own = subject.owner.labels.get(labels.RBG_ROLE_NAME, "")
    if own not in {role.name for role in roles}:
        raise MalformedError(f"label {labels.RBG_ROLE_NAME}: {own!r} is no role of {labels.GANG_OF_ROLES}")
    groups = [group for role in roles for group in _groups(role)]
    if len(groups) > MAX_SUB_GROUPS:
        raise MalformedError(
            f"the roles have {len(groups)} instances, one gang has at most {MAX_SUB_GROUPS} groups: "
            "place segments instead of one gang"
        )
    top = _top(subject.owner)
    place = whole(index, f"label {labels.LWS_GROUP_INDEX}")
    return replace(
        plain(subject),
        name=f"pg-{top.name}-{top.uid}",
        owner=Owner(top.api_version, top.kind, top.name, subject.owner.namespace, top.uid),
        min_member=None,
        min_sub_group=len(roles),
        sub_groups=tuple(groups),
        sub_group=own if size == 1 else f"{own}-{place}",
    )


def _roles(owner: Owner) -> list[RoleInGang]:
    text = owner.annotations[labels.GANG_OF_ROLES]
    try:
        return msgspec.json.decode(text, type=list[RoleInGang])
    except msgspec.DecodeError as error:
        raise MalformedError(f"annotation {labels.GANG_OF_ROLES}: {error}") from error


def _groups(role: RoleInGang) -> list[SubGroup]:
    if role.size == 1:
        return [SubGroup(name=role.name, min_member=role.needed)]
    instances = [
        SubGroup(name=f"{role.name}-{place}", parent=role.name, min_member=role.size)
        for place in range(role.replicas)
    ]
    return [SubGroup(name=role.name, min_sub_group=role.needed), *instances]


def _top(owner: Owner) -> OwnerReference:
    found = next((one for one in owner.references if one.controller), None)
    if found is None:
        raise MalformedError(f"{owner} belongs to no RoleBasedGroup: remove {labels.GANG_OF_ROLES}")
    return found
