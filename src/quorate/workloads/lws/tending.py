"""What one group needs so that it is whole: pods that miss are made, and a group that broke goes as one."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from quorate.api.core import POD
from quorate.api.lws import GroupRestarts
from quorate.api.storage import PERSISTENT_VOLUME_CLAIM
from quorate.api.timestamps import epoch, text
from quorate.plan import Change, Delete
from quorate.workloads.lws.blueprint import LEADER_READY, Blueprint
from quorate.workloads.lws.claims import claims_of
from quorate.workloads.lws.fates import Fate
from quorate.workloads.lws.groups import LEADER, Group, revision_of
from quorate.workloads.lws.names import Place
from quorate.workloads.lws.pods import leader_pod, worker_pod
from quorate.workloads.lws.restart import again
from quorate.workloads.lws.view import View, cleared, create, ref

LATE_SECONDS = 30.0  # a pod that outlives its grace period by that much is named


class Tended(NamedTuple):
    """`record` is the group's new count of restarts; `wake` when it may be recreated, `trouble` why not now."""

    changes: tuple[Change, ...] = ()
    record: GroupRestarts | None = None
    wake: float | None = None
    trouble: str = ""


NOTHING_TO_DO = Tended()


def tended(view: View, group: Group, claims: Collection[str]) -> Tended:
    """A group that is to stay."""
    if group.is_settled:
        return NOTHING_TO_DO
    if group.is_leaving:
        return _overdue(view, group)._replace(changes=tuple(cleared(group)))
    fate = view.fates.get(group.index)
    if fate is not None:
        return _recreated(view, group, fate)
    blueprint = view.history.of(group.revision)
    changes = (*_stray(group, blueprint), *_workers(view, blueprint, group, claims))
    late = _overdue(view, group)
    return late._replace(changes=changes, trouble=late.trouble or _astray(view, blueprint, group))


def _overdue(view: View, group: Group) -> Tended:
    """A pod whose node is lost is deleted but stays, until somebody gives it up: it is named meanwhile."""
    stamps = ((at, pod.metadata.deletion_timestamp) for at, pod in group.pods.items())
    going = sorted((epoch(stamp) + LATE_SECONDS, at) for at, stamp in stamps if stamp)
    if not going:
        return NOTHING_TO_DO
    end, index = going[0]
    if end > view.now:
        return Tended(wake=end)
    name, node = group.pods[index].metadata.name, group.pods[index].spec.node_name
    where = f" from node {node}; if that is lost, delete it, or" if node else ";"
    return Tended(trouble=f"group {group.index} waits for pod {name} to go{where} delete the pod by force")


def built(view: View, index: int, blueprint: Blueprint, claims: Collection[str]) -> Iterator[Change]:
    """A group that does not exist yet."""
    yield from _claims(blueprint, Place(index, LEADER), claims)
    yield create(POD, leader_pod(blueprint, index))
    if view.item.spec.startup_policy != LEADER_READY:
        yield from _missing(view, blueprint, Group(index), claims)


def _recreated(view: View, group: Group, fate: Fate) -> Tended:
    """The group goes now, or waits for its turn if it failed before."""
    why = fate.call.why
    if fate.is_spent:
        return Tended(trouble=f"group {group.index} used up its budget of {fate.budget}: {why}")
    if not fate.is_due(view.now):
        times = "once" if fate.times == 1 else f"{fate.times} times"
        wait = f"group {group.index} was recreated {times} and waits until {text(fate.due)}"
        return Tended(wake=fate.due, trouble=f"{wait}: {why}")
    told = view.said("RecreateGroup", f"Group {group.index} is recreated: {why}")
    record = again(group, fate.times, view.now) if fate.call.is_failure else None
    return Tended((told, *cleared(group)), record=record)


def _stray(group: Group, blueprint: Blueprint) -> Iterator[Change]:
    """Workers that are over, or that belong to no group as this one is."""
    for index, pod in sorted(group.pods.items()):
        is_other = revision_of(pod) != group.revision or index >= blueprint.size
        if index != LEADER and not pod.is_deleting and (is_other or pod.is_finished):
            yield Delete(ref(POD, pod))


def _workers(view: View, blueprint: Blueprint, group: Group, claims: Collection[str]) -> Iterator[Change]:
    is_due = view.item.spec.startup_policy != LEADER_READY or (group.leader and group.leader.is_ready)
    if is_due:
        yield from _missing(view, blueprint, group, claims)


def _missing(view: View, blueprint: Blueprint, group: Group, claims: Collection[str]) -> Iterator[Change]:
    domain = _domain(view, blueprint, group)
    if domain is None:
        return
    for index in range(1, blueprint.size):
        if index not in group.pods:
            yield from _claims(blueprint, Place(group.index, index), claims)
            yield create(POD, worker_pod(blueprint, group.index, index, domain=domain))


def _astray(view: View, blueprint: Blueprint, group: Group) -> str:
    """A leader that another scheduler put where its workers cannot follow."""
    node = group.leader.spec.node_name if group.leader else ""
    if not node or len(group.pods) == group.size or _domain(view, blueprint, group) is not None:
        return ""
    return f"group {group.index}: node {node} of its leader has no label {blueprint.exclusive_topology}"


def _domain(view: View, blueprint: Blueprint, group: Group) -> str | None:
    """Where another scheduler has to put the workers of a group with a domain of its own.

    Ours places the group as one. Others know no such thing: workers wait for their leader's node, then follow.
    """
    spec = blueprint.worker_template.get("spec") or {}
    is_ours = spec.get("schedulerName", blueprint.scheduler_name) in {"", blueprint.scheduler_name}
    if is_ours or not blueprint.exclusive_topology:
        return ""
    node = group.leader.spec.node_name if group.leader else ""
    return view.children.node_labels(node).get(blueprint.exclusive_topology) if node else None


def _claims(blueprint: Blueprint, place: Place, known: Collection[str]) -> Iterator[Change]:
    for body in claims_of(blueprint, place):
        if body["metadata"]["name"] not in known:
            yield create(PERSISTENT_VOLUME_CLAIM, body)
