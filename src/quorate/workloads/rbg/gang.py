"""The gang of a whole group, as upstream's annotation and its `gang.minReplicas` ask for it.

Without minimums every pod of every role starts together. With minimums a role that is listed has so many of its
instances in the gang, each of them whole, and a role that is not listed stays outside.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from quorate.api.rbg import Role


@dataclass(frozen=True, slots=True)
class GangRole:
    """How many instances of a role start together, and of how many pods each is."""

    min_instances: int
    pods: int


@dataclass(frozen=True, slots=True)
class GroupGang:
    """The roles that start together; others of the group are outside."""

    roles: Mapping[str, GangRole]

    @property
    def min_member(self) -> int:
        return sum(role.min_instances * role.pods for role in self.roles.values())


def pods_of(role: Role) -> int:
    """Pods of one instance; a pattern that says nothing counts as one pod."""
    if role.leader_worker_pattern is not None:
        return role.leader_worker_pattern.size
    if role.custom_components_pattern is not None:
        return sum(each.size for each in role.custom_components_pattern.components or ()) or 1
    return 1


def gang(roles: Mapping[str, GangRole], minimums: Mapping[str, int] | None = None) -> GroupGang:
    """`roles` holds the instances that each role wants."""
    if not minimums:
        return GroupGang(roles)
    for name, minimum in minimums.items():
        if name not in roles:
            raise ValueError(f'minReplicas names role "{name}": the group has {", ".join(roles)}')
        if minimum < 1:
            raise ValueError(f"minReplicas.{name} is {minimum}: must be greater than or equal to 1")
    return GroupGang(
        {name: GangRole(minimums[name], role.pods) for name, role in roles.items() if name in minimums}
    )
