"""One pass over a LeaderWorkerSet: from what exists to what its spec asks for, as one plan.

1. A set that is being deleted is left to the garbage collector.
2. Pods and revisions that carry its name and belong to nobody are adopted before anything else.
3. Which groups a set has is written down before one that is not the highest goes.
4. A group is made again only when nothing of the one before is left, so that it starts whole.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from quorate.api import labels
from quorate.api.apps import CONTROLLER_REVISION
from quorate.api.core import POD
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json, Kind, Object
from quorate.plan import Change, Patch, Plan
from quorate.workloads.lws.around import around
from quorate.workloads.lws.blueprint import Blueprint
from quorate.workloads.lws.fates import fates_of
from quorate.workloads.lws.groups import NOTHING, Group, observe
from quorate.workloads.lws.history import History, history_of
from quorate.workloads.lws.names import place_of
from quorate.workloads.lws.rollout import Seen, decide, pace_of
from quorate.workloads.lws.scaling import Line, line_of
from quorate.workloads.lws.standing import standing
from quorate.workloads.lws.tending import Tended, built, tended
from quorate.workloads.lws.view import Children, View, cleared, ref


class Pass(NamedTuple):
    """The plan, when to look again even if nothing changes, and the groups as they were seen."""

    plan: Plan = Plan()
    again_seconds: float | None = None
    groups: Mapping[int, Group] = NOTHING


def reconcile(item: LeaderWorkerSet, children: Children, now: float, *, scheduler_name: str = "") -> Pass:
    if item.metadata.deletion_timestamp is not None:
        return Pass()
    adopted = tuple(_adopted(item, children))
    if adopted:
        return Pass(Plan(changes=adopted))
    groups = observe(item.metadata.name, item.metadata.uid, children.pods, children.before)
    line = line_of(item, groups)
    if line.note != item.metadata.annotation(labels.WANTED_GROUPS, "") and (
        line.note or labels.WANTED_GROUPS in (item.metadata.annotations or {})
    ):
        return Pass(Plan(changes=(_noted(item, line),)))
    history = history_of(item, children.revisions, groups, scheduler_name)
    return _planned(viewed(item, groups, line, history, children, now))


def viewed(
    item: LeaderWorkerSet,
    groups: Mapping[int, Group],
    line: Line,
    history: History,
    children: Children,
    now: float,
) -> View:
    pace = pace_of(item.spec)
    fates = fates_of(item, groups.values(), history, now)
    doomed = {index for index, fate in fates.items() if fate.is_due(now)}
    early = set(item.status.replacing or ())
    seen = [
        _seen(groups.get(index), history.update, now, is_early=index in early, is_doomed=index in doomed)
        for index in line.indices
    ]
    while seen and seen[-1] == Seen():
        seen.pop()
    is_paused = item.metadata.annotation(labels.PAUSED) == "true"
    moves = decide(pace, seen, is_paused=is_paused)
    return View(item, groups, history, line, fates, pace, moves, children, now)


def _seen(group: Group | None, update: str, now: float, *, is_early: bool, is_doomed: bool) -> Seen:
    """A group that this pass takes down for another reason is not ready for the rollout."""
    if group is None:
        return Seen(is_early=is_early)
    sick_at = group.sick_at(now)
    return Seen(
        exists=group.exists,
        is_ready=group.is_ready and not is_doomed,
        is_updated=group.revision == update,
        is_leaving=group.is_leaving,
        is_sick=sick_at is not None and sick_at <= now,
        is_early=is_early,
    )


def _planned(view: View) -> Pass:
    children = view.children
    claims = {found.metadata.name for found in children.claims}
    removed = view.removed
    kept = {index: group for index, group in view.groups.items() if index not in removed}
    cared = {index: tended(view, group, claims) for index, group in kept.items()}
    fresh = dict(_fresh(view))
    made = {**{index: view.history.of(group.revision) for index, group in kept.items()}, **fresh}
    status = standing(view, cared)
    changes: list[Change] = [*view.history.changes, *around(view, made)]
    for index in sorted(removed):
        changes += cleared(view.groups[index])
    for one in cared.values():
        changes += one.changes
    for index, blueprint in fresh.items():
        changes += built(view, index, blueprint, claims)
    return Pass(Plan(changes=(*changes, *status)), _again(view, cared), view.groups)


def _fresh(view: View) -> Iterator[tuple[int, Blueprint]]:
    """Groups to make, by index, lowest first."""
    moves, history = view.moves, view.history
    keys = {**dict.fromkeys(moves.make_old, history.current), **dict.fromkeys(moves.make_new, history.update)}
    for place, key in sorted(keys.items()):
        yield view.line.index_at(place), history.of(key)


def _again(view: View, cared: Mapping[int, Tended]) -> float | None:
    """When a group may be recreated, or an old one turns sick."""
    old = [group for group in view.groups.values() if group.revision != view.history.update]
    wakes = [*(one.wake for one in cared.values()), *(group.sick_at(view.now) for group in old)]
    later = [wake - view.now for wake in wakes if wake is not None and wake > view.now]
    return min(later, default=None)


def _noted(item: LeaderWorkerSet, line: Line) -> Patch:
    return Patch(
        ref(LEADER_WORKER_SET, item), {"metadata": {"annotations": {labels.WANTED_GROUPS: line.note}}}
    )


def _adopted(item: LeaderWorkerSet, children: Children) -> Iterator[Change]:
    """Make the set the owner of what has none, left by a deletion that orphaned it."""
    for pod in children.pods:
        is_free = pod.metadata.controller is None and not pod.is_deleting
        if is_free and place_of(item.metadata.name, pod.metadata.name) is not None:
            yield _owned(item, POD, pod)
    for revision in children.revisions:
        if revision.metadata.controller is None:
            yield _owned(item, CONTROLLER_REVISION, revision)


def _owned(item: LeaderWorkerSet, kind: Kind, found: Object) -> Patch:
    own: Json = {
        "apiVersion": LEADER_WORKER_SET.api_version,
        "kind": LEADER_WORKER_SET.kind,
        "name": item.metadata.name,
        "uid": item.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    held = msgspec.to_builtins(found.metadata.owner_references or [])
    return Patch(ref(kind, found), {"metadata": {"ownerReferences": [*held, own]}})
