"""Kinds that a mapping file describes: their rules, as paths into their objects; `grouping.mapping` reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from quorate.api.podgroup import MAX_SUB_GROUPS, SubGroup
from quorate.grouping.errors import MalformedError
from quorate.grouping.kinds.plain import per_pod
from quorate.grouping.numbers import whole
from quorate.grouping.objects import Owner, texts
from quorate.grouping.paths import Path, first
from quorate.grouping.subject import Shape, Subject, plain
from quorate.grouping.topology import level_constraint

Paths = tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    source: Path
    name: Path | None
    min_member: Paths
    annotations: Path | None


@dataclass(frozen=True, slots=True)
class Mapped:
    """One kind of the file."""

    min_member: Paths
    min_sub_group: Paths
    groups: Groups | None
    group_of_pod: Path | None
    priority: str
    is_per_pod: bool

    def rules(self, subject: Subject) -> Shape:
        if self.is_per_pod:
            return replace(per_pod(subject), default_priority=self.priority)
        shape = replace(plain(subject), default_priority=self.priority)
        asked = _number(self.min_member, subject.owner.body, str(subject.owner))
        if self.groups is None:
            return shape if asked is None else replace(shape, min_member=asked)
        groups = _sub_groups(self.groups, subject.owner)
        return replace(
            shape,
            min_member=asked,
            min_sub_group=_number(self.min_sub_group, subject.owner.body, str(subject.owner)),
            sub_groups=groups,
            sub_group=self._group_of(subject, groups),
        )

    def _group_of(self, subject: Subject, groups: Sequence[SubGroup]) -> str:
        assert self.group_of_pod is not None, "a file with groups and without this path is refused"
        found = self.group_of_pod.read({"metadata": msgspec.to_builtins(subject.pod.metadata)})
        names = [group.name for group in groups]
        if found not in names:
            said = "is missing" if found is None else f"is {found!r}"
            raise MalformedError(
                f"{self.group_of_pod} of the pod {said}: it must name one of {', '.join(names)}"
            )
        return str(found)


def _sub_groups(by: Groups, owner: Owner) -> tuple[SubGroup, ...]:
    found = by.source.read(owner.body)
    if isinstance(found, Mapping):
        items = [(f'{by.source}["{key}"]', str(key), item) for key, item in found.items()]
    elif isinstance(found, list) and by.name is not None:
        items = [(f"{by.source}[{n}]", str(by.name.read(item) or ""), item) for n, item in enumerate(found)]
    else:
        said = "missing" if found is None else "neither a list of named objects nor a map"
        raise MalformedError(f"{by.source} of {owner} is {said}: its groups of pods are read from there")
    if not 1 <= len(items) <= MAX_SUB_GROUPS:
        raise MalformedError(f"{by.source} of {owner} has {len(items)} groups, not 1 to {MAX_SUB_GROUPS}")
    return tuple(_sub_group(by, field, name, item) for field, name, item in items)


def _sub_group(by: Groups, field: str, name: str, item: Any) -> SubGroup:
    if not name:
        raise MalformedError(f"{field}.{by.name} is missing: every group of pods needs a name")
    minimum = _number(by.min_member, item, field)
    said = texts(by.annotations.read(item)) if by.annotations else {}
    return SubGroup(
        name=name, min_member=1 if minimum is None else minimum, topology_constraint=level_constraint(said)
    )


def _number(paths: Paths, tree: Any, where: str) -> int | None:
    value, path = first(paths, tree)
    return None if value is None else whole(value, f"{path} of {where}")
