"""Which groups of a set have to be recreated in this pass or later, found out once for all that decides on it."""

from collections.abc import Iterable
from typing import NamedTuple

from quorate.api import labels
from quorate.api.lws import GroupRestarts, LeaderWorkerSet
from quorate.workloads.lws.blueprint import LEADER_READY
from quorate.workloads.lws.groups import Group
from quorate.workloads.lws.history import History
from quorate.workloads.lws.restart import Call, backoff_of, called, counted, due


class Fate(NamedTuple):
    """That a group has to be recreated: when, what it has behind it, and how often it may be."""

    call: Call
    due: float
    times: int = 0
    budget: int | None = None

    @property
    def is_spent(self) -> bool:
        return self.budget is not None and self.times >= self.budget

    def is_due(self, now: float) -> bool:
        return not self.is_spent and self.due <= now


def fates_of(item: LeaderWorkerSet, groups: Iterable[Group], history: History, now: float) -> dict[int, Fate]:
    """By the index of the group."""
    notes = item.metadata.annotations or {}
    after_start = labels.LWS_RECREATE_AFTER_START in notes
    is_elastic = labels.MIN_MEMBER in notes or labels.MIN_SUB_GROUP in notes
    starts_whole = not is_elastic and item.spec.startup_policy != LEADER_READY
    records = {record.group: record for record in item.status.restarts or ()}
    found: dict[int, Fate] = {}
    for group in groups:
        if not group.is_settled:
            policy = history.of(group.revision).restart_policy
            call = called(group, policy, after_start=after_start, starts_whole=starts_whole)
            if call is not None:
                found[group.index] = _fate(item, group, call, records.get(group.index), now)
    return found


def _fate(item: LeaderWorkerSet, group: Group, call: Call, record: GroupRestarts | None, now: float) -> Fate:
    if not call.is_failure:
        return Fate(call, now)
    backoff, most = backoff_of(item), item.metadata.annotation(labels.MAX_GROUP_RESTARTS)
    return Fate(
        call,
        due=due(record, group, now, backoff),
        times=counted(record, group, now, backoff),
        budget=int(most) if most.isdecimal() else None,
    )
