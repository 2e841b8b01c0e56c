"""Reads the file that describes custom kinds, and refuses what could not mean anything, naming the place in it.

What is read becomes one more entry beside the table of kinds; `kinds.mapped` has its rules.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from quorate.api.meta import Part
from quorate.api.yamltext import UnreadableError, parsed
from quorate.grouping.kinds.mapped import Groups, Mapped, Paths
from quorate.grouping.paths import Path, PathError, parse
from quorate.grouping.subject import Extensions, Rules

T = TypeVar("T")
Texts = str | list[str]


class MappingError(ValueError):
    """What is wrong with a mapping file; the message begins with the place in it."""


class GroupsText(Part, frozen=True, forbid_unknown_fields=True):
    """`from` is a list of objects, or a map from names to objects; the other paths start at each of them."""

    source: str = msgspec.field(name="from")
    name: str = ""
    min_member: Texts = "replicas"
    annotations: str = ""


class KindText(Part, frozen=True, forbid_unknown_fields=True):
    kind: str
    min_member: Texts | None = None
    min_sub_group: Texts | None = None
    sub_groups: GroupsText | None = None
    sub_group_of_pod: str = ""
    priority: str = "train"
    per_pod: bool = False


class FileText(Part, frozen=True, forbid_unknown_fields=True):
    kinds: tuple[KindText, ...] = ()
    wrappers: tuple[str, ...] = ()


def parse_mapping(text: str) -> Extensions:
    try:
        file = parsed(text, FileText)
    except UnreadableError as error:
        raise MappingError(str(error)) from error
    kinds: dict[tuple[str, str], Rules] = {}
    for place, each in enumerate(file.kinds):
        named = _at(f"kinds[{place}].kind", group_kind, each.kind)
        if named in kinds:
            raise MappingError(f"kinds[{place}].kind: {each.kind} stands here twice: leave one out")
        kinds[named] = _mapped(each, f"kinds[{place}]").rules
    wrappers = frozenset(
        _at(f"wrappers[{place}]", group_kind, each) for place, each in enumerate(file.wrappers)
    )
    return Extensions(kinds, wrappers)


def group_kind(text: str) -> tuple[str, str]:
    """Group and kind of `CustomJob.example.com`; a kind of the core group has no dot."""
    kind, _, group = text.partition(".")
    if not kind[:1].isupper() or not kind.isalnum() or (group and group != group.lower()):
        raise PathError(f'"{text}" is no kind: write it with its group, as in CustomJob.example.com')
    return group, kind


def _mapped(text: KindText, at: str) -> Mapped:
    if text.sub_groups is None and (text.sub_group_of_pod or text.min_sub_group is not None):
        raise MappingError(f"{at}.subGroups is missing: say where the groups of pods are listed")
    if text.sub_groups is not None and not text.sub_group_of_pod:
        raise MappingError(f"{at}.subGroupOfPod is missing: say where a pod names its group")
    if text.per_pod and (text.min_member is not None or text.sub_groups is not None):
        raise MappingError(f"{at}.perPod: a gang of one pod has neither minMember nor subGroups")
    groups = None if text.sub_groups is None else _groups(text.sub_groups, f"{at}.subGroups")
    return Mapped(
        min_member=_paths(text.min_member, f"{at}.minMember"),
        min_sub_group=_paths(text.min_sub_group, f"{at}.minSubGroup"),
        groups=groups,
        group_of_pod=_path(text.sub_group_of_pod, f"{at}.subGroupOfPod"),
        priority=text.priority,
        is_per_pod=text.per_pod,
    )


def _groups(text: GroupsText, at: str) -> Groups:
    return Groups(
        source=_at(f"{at}.from", parse, text.source),
        name=_path(text.name, f"{at}.name"),
        min_member=_paths(text.min_member, f"{at}.minMember"),
        annotations=_path(text.annotations, f"{at}.annotations"),
    )


def _paths(given: Texts | None, at: str) -> Paths:
    if isinstance(given, list):
        return tuple(_at(f"{at}[{place}]", parse, each) for place, each in enumerate(given))
    return () if given is None else (_at(at, parse, given),)


def _path(text: str, at: str) -> Path | None:
    return _at(at, parse, text) if text else None


def _at(place: str, read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except PathError as error:
        raise MappingError(f"{place}: {error}") from error
