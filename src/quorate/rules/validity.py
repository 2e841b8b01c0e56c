"""Whether a tree of groups can be read and asks for the possible; admission, lint and `tree` ask here.

Errors refuse the object, warnings admit it. The texts are upstream's where upstream has one; both minimums on
a group with children are valid here, so what upstream refuses for that reason is accepted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from quorate.api.described import DNS_LABEL, INT32_MAX
from quorate.api.podgroup import MAX_SUB_GROUPS, PodGroupSpec, SubGroup

_DNS_LABEL = re.compile(DNS_LABEL)


class Cause(StrEnum):
    VALUE = "value"  # a field on its own is out of range; the schema says the same
    STRUCTURE = "structure"  # the groups form no tree: nothing else can be said about it
    MINIMUM = "minimum"  # a minimum stands where it means nothing, or misses where it is needed
    IMPOSSIBLE = "impossible"  # the object is readable, but can never be satisfied as written
    REFERENCE = "reference"  # it names what does not exist yet
    LIVE = "live"  # it cannot change or go like this while others depend on it


class Fault(NamedTuple):
    field: str
    message: str
    cause: Cause

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class Findings(NamedTuple):
    errors: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()


def validate(spec: PodGroupSpec) -> Findings:
    groups = spec.sub_groups or []
    values = tuple(_value_faults(spec, groups))
    structure = tuple(_structure_faults(groups))
    if structure:
        return Findings((*values, *structure))
    minimums = tuple(_minimum_faults(spec, groups))
    if values or minimums:
        return Findings((*values, *minimums))
    return Findings((), tuple(_impossibilities(spec, groups)))


def _value_faults(spec: PodGroupSpec, groups: Sequence[SubGroup]) -> Iterator[Fault]:
    yield from _range_faults("spec", spec)
    for index, group in enumerate(groups):
        field = f"spec.subGroups[{index}]"
        if len(group.name) > 63 or not _DNS_LABEL.fullmatch(group.name):
            text = (
                f'"{group.name}" is not a DNS label: use at most 63 lower case letters, digits '
                'and "-", beginning and ending with a letter or digit'
            )
            # the group without a name is the root: another would be its own parent
            yield Fault(f"{field}.name", text, Cause.VALUE if group.name else Cause.STRUCTURE)
        yield from _range_faults(field, group)


def _range_faults(field: str, group: PodGroupSpec | SubGroup) -> Iterator[Fault]:
    for name, value in (("minMember", group.min_member), ("minSubGroup", group.min_sub_group)):
        if value is not None and not 0 <= value <= INT32_MAX:
            yield Fault(f"{field}.{name}", f"{value} is not between 0 and {INT32_MAX}", Cause.VALUE)


def _structure_faults(groups: Sequence[SubGroup]) -> Iterator[Fault]:
    index_of = {group.name: index for index, group in reversed(list(enumerate(groups)))}
    for index, group in enumerate(groups):
        field = f"spec.subGroups[{index}]"
        if index_of[group.name] != index:
            yield Fault(f"{field}.name", f"duplicate subgroup name {group.name}", Cause.STRUCTURE)
        if group.parent and group.parent not in index_of:
            text = f"parent {group.parent} of {group.name} was not found"
            yield Fault(f"{field}.parent", text, Cause.STRUCTURE)
    looped = _first_in_cycle(groups)
    if looped is not None:
        field = f"spec.subGroups[{index_of[looped]}].parent"
        yield Fault(field, "cycle detected in subgroups", Cause.STRUCTURE)
    deep = _first_too_deep(groups)
    if deep is not None:
        field = f"spec.subGroups[{index_of[deep]}].parent"
        yield Fault(field, f"{deep} is more than {MAX_SUB_GROUPS} levels deep", Cause.STRUCTURE)


def _first_in_cycle(groups: Sequence[SubGroup]) -> str | None:
    parents = {group.name: group.parent or "" for group in groups}
    grounded = {""}
    for group in groups:
        path: dict[str, None] = {}
        name = group.name
        while name not in grounded and name in parents:
            if name in path:
                return name
            path[name] = None
            name = parents[name]
        grounded.update(path)
    return None


def _first_too_deep(groups: Sequence[SubGroup]) -> str | None:
    """Only an API server that has another schema lets so many groups pass."""
    if len(groups) <= MAX_SUB_GROUPS:
        return None
    children: dict[str, set[str]] = {}
    for group in groups:
        children.setdefault(group.parent or "", set()).add(group.name)
    level = {""}
    for _ in range(MAX_SUB_GROUPS + 1):
        level = {child for name in level for child in children.get(name, ())}
    return min(level, default=None)


def _minimum_faults(spec: PodGroupSpec, groups: Sequence[SubGroup]) -> Iterator[Fault]:
    if not groups and spec.min_member is not None and spec.min_sub_group is not None:
        text = (
            f"minMember and minSubGroup are mutually exclusive: set minMember ({spec.min_member}) to "
            "schedule a fixed number of pods, or set minSubGroup to require a minimum number of child "
            "SubGroups, but not both"
        )
        yield Fault("spec.minSubGroup", text, Cause.STRUCTURE)
    parents = {group.parent for group in groups}
    for index, group in enumerate(groups):
        if group.name in parents:
            continue
        field = f"spec.subGroups[{index}]"
        if group.min_sub_group is not None and group.min_member is not None:
            text = f'subgroup "{group.name}": minMember and minSubGroup are mutually exclusive'
            yield Fault(f"{field}.minSubGroup", text, Cause.STRUCTURE)
        elif group.min_sub_group is not None:
            text = (
                f'subgroup "{group.name}": minSubGroup cannot be set on a leaf SubGroup (no child SubGroups)'
            )
            yield Fault(f"{field}.minSubGroup", text, Cause.MINIMUM)
        if group.min_member is None:
            text = f"subgroup {group.name}: minMember is required"
            yield Fault(f"{field}.minMember", text, Cause.MINIMUM)


def _impossibilities(spec: PodGroupSpec, groups: Sequence[SubGroup]) -> Iterator[Fault]:
    children = Counter(group.parent or "" for group in groups)
    yield from _too_many("spec", "", spec.min_sub_group, children[""])
    for index, group in enumerate(groups):
        if group.name in children:
            prefix = f'subgroup "{group.name}": '
            yield from _too_many(
                f"spec.subGroups[{index}]", prefix, group.min_sub_group, children[group.name]
            )
    yield from _unheld_members(spec, groups)


def _too_many(field: str, prefix: str, minimum: int | None, children: int) -> Iterator[Fault]:
    if minimum is not None and minimum > children:
        text = f"{prefix}minSubGroup ({minimum}) exceeds the number of direct child SubGroups ({children})"
        yield Fault(f"{field}.minSubGroup", text, Cause.IMPOSSIBLE)


def _unheld_members(spec: PodGroupSpec, groups: Sequence[SubGroup]) -> Iterator[Fault]:
    """A `minMember` above what the required children hold when each is at its minimum.

    held(leaf) = minMember; held(inner) = max(minMember, sum of the K largest held of its children).
    """
    nodes: dict[str, PodGroupSpec | SubGroup] = {"": spec} | {group.name: group for group in groups}
    fields = {group.name: f"spec.subGroups[{index}]" for index, group in enumerate(groups)}
    children: dict[str, list[str]] = {name: [] for name in nodes}
    for group in groups:
        children[group.parent or ""].append(group.name)
    held: dict[str, int] = {}
    for name in reversed(_outward(children)):
        minimum, required = nodes[name].min_member, nodes[name].min_sub_group
        largest = sorted((held[child] for child in children[name]), reverse=True)[:required]
        capacity = sum(largest)
        held[name] = max(minimum or 0, capacity)
        if children[name] and minimum is not None and minimum > capacity:
            text = (
                f"minMember ({minimum}) exceeds the {capacity} pods that the {len(largest)} required child "
                "SubGroups hold at their minimum"
            )
            prefix = f'subgroup "{name}": ' if name else ""
            yield Fault(f"{fields.get(name, 'spec')}.minMember", prefix + text, Cause.IMPOSSIBLE)


def _outward(children: dict[str, list[str]]) -> list[str]:
    order = [""]
    for name in order:
        order.extend(children[name])
    return order
