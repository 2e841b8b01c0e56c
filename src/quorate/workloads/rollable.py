"""Kinds that roll out, as `quorate rollout` sees them: one literal table, a row a kind.

`kubectl rollout` knows no custom kinds. A row says how far a rollout is, which label its revisions carry, and
what takes the object back to one of them; the newest revision is the one with the highest number.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from quorate.api import labels
from quorate.api.apps import ControllerRevision
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json, Kind
from quorate.api.rbg import ROLE_BASED_GROUP, ROLE_BASED_GROUP_KINDS, RoleBasedGroup
from quorate.workloads.lws import progress, revisions
from quorate.workloads.progress import Progress
from quorate.workloads.rbg import progress as group_progress
from quorate.workloads.rbg import revisions as group_revisions


class Rollable(NamedTuple):
    """`shape` is the type of the object that the two functions take; `restored` is a merge patch."""

    kind: Kind
    names: tuple[str, ...]
    shape: type[Any]
    label: str
    progress: Callable[[Any], Progress]
    restored: Callable[[Any, Json], Json]


ROLLABLE = (
    Rollable(
        kind=LEADER_WORKER_SET,
        names=("lws", "leaderworkerset", "leaderworkersets"),
        shape=LeaderWorkerSet,
        label=labels.LWS_NAME,
        progress=progress.progress_of,
        restored=revisions.restored,
    ),
    *(
        Rollable(
            kind=kind,
            names=("rbg", "rolebasedgroup") if kind is ROLE_BASED_GROUP else (kind.resource,),
            shape=RoleBasedGroup,
            label=labels.RBG_GROUP_NAME,
            progress=group_progress.progress_of,
            restored=group_revisions.restored,
        )
        for kind in ROLE_BASED_GROUP_KINDS
    ),
)


def rollable(name: str) -> Rollable | None:
    """The kind of that name: short, singular, plural, or with its group."""
    wanted = name.lower()
    return next((row for row in ROLLABLE if wanted in {*row.names, row.kind.resource}), None)


def changes(before: ControllerRevision | None, after: ControllerRevision) -> list[str]:
    """What a revision changed, one line a field, lists by position."""
    if before is None:
        return []
    old, new = dict(_leaves("", before.data)), dict(_leaves("", after.data))
    paths = [*new, *(path for path in old if path not in new)]
    return [
        f"{path}: {_shown(old.get(path))} -> {_shown(new.get(path))}"
        for path in paths
        if old.get(path) != new.get(path)
    ]


def _leaves(path: str, tree: object) -> Iterator[tuple[str, object]]:
    if isinstance(tree, dict):
        for name, value in tree.items():
            yield from _leaves(f"{path}.{name}" if path else name, value)
    elif isinstance(tree, list):
        for place, value in enumerate(tree):
            yield from _leaves(f"{path}[{place}]", value)
    else:
        yield path, tree


def _shown(value: object) -> str:
    return "none" if value is None else msgspec.json.encode(value).decode().strip('"')
