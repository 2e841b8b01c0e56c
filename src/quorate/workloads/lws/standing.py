"""The status of a set from its groups; groups beyond the wanted ones are not counted."""

from collections.abc import Iterable, Iterator, Mapping

from quorate.api import labels
from quorate.api.lws import LEADER_WORKER_SET, GroupRestarts, LeaderWorkerSetStatus
from quorate.api.timestamps import text
from quorate.plan import Change
from quorate.rules.statuschange import status_change
from quorate.workloads.lws import restart
from quorate.workloads.lws.conditions import DEGRADED, Counts, changed, conditions_of
from quorate.workloads.lws.scaling import written
from quorate.workloads.lws.tending import Tended
from quorate.workloads.lws.view import View

_MOST_TROUBLES = 5


def standing(view: View, cared: Mapping[int, Tended]) -> Iterator[Change]:
    """The write of the status where it differs, and an event for each condition that begins to hold."""
    new = status_of(view, cared)
    change = status_change(LEADER_WORKER_SET, view.item, old=view.item.status, new=new)
    if change is None:
        return
    yield change
    counts = f"with {new.ready_replicas} groups ready of total {view.pace.replicas} groups"
    for condition in changed(view.item.status.conditions, new.conditions or ()):
        told = f"{condition.message}, {counts}"
        yield view.said(condition.reason, told, is_warning=condition.type == DEGRADED)


def status_of(view: View, cared: Mapping[int, Tended]) -> LeaderWorkerSetStatus:
    counts = _counts(view)
    old = view.item.status
    generation = view.item.metadata.generation
    is_done = counts.fit == counts.wanted
    trouble = _trouble([view.children.refusal, *(one.trouble for _, one in sorted(cared.items()))])
    return LeaderWorkerSetStatus(
        replicas=counts.existing,
        ready_replicas=counts.ready,
        updated_replicas=counts.updated,
        hpa_pod_selector=f"{labels.LWS_NAME}={view.item.metadata.name},{labels.LWS_WORKER_INDEX}=0",
        observed_generation=generation,
        conditions=conditions_of(counts, trouble, old.conditions, generation, text(view.now)),
        current_revision=view.history.update if is_done else view.history.current,
        update_revision=view.history.update,
        restarts=_restarts(view, cared) or None,
        replacing=[view.line.index_at(place) for place in view.moves.early] or None,
    )


def _counts(view: View) -> Counts:
    newest = view.history.update
    wanted = [group for index in view.line.wanted if (group := view.groups.get(index)) and group.exists]
    updated = [group for group in wanted if group.revision == newest and len(group.pods) == group.size]
    below = set(view.line.wanted[: view.pace.partition])
    other = [group.index in below for group in wanted if group.revision != newest]
    ready = {group.index for group in wanted if group.is_ready}
    return Counts(
        wanted=view.pace.replicas,
        existing=len(wanted),
        ready=len(ready),
        updated=len(updated),
        held=sum(other),
        old=len(other) - sum(other),
        fit=sum(group.is_ready for group in updated),
        unready=written([index for index in view.line.wanted if index not in ready]),
    )


def _trouble(said: Iterable[str]) -> str:
    """What is wrong and stays so until somebody helps or a back-off ends; times are points, not spans."""
    found = [text for text in said if text]
    more = f"; and {len(found) - _MOST_TROUBLES} more" if len(found) > _MOST_TROUBLES else ""
    return "; ".join(found[:_MOST_TROUBLES]) + more


def _restarts(view: View, cared: Mapping[int, Tended]) -> list[GroupRestarts]:
    """Counts that still matter: those of groups that exist, until they are forgotten."""
    backoff = restart.backoff_of(view.item)
    records = {**view.restarts, **{at: one.record for at, one in cared.items() if one.record}}
    return [
        record
        for at, record in sorted(records.items())
        if at in view.line.wanted and not restart.is_forgotten(record, view.now, backoff)
    ]
