"""What has to be written so that the cluster shows a grouping; nothing where it does already.

Some fields of a PodGroup belong to people once it exists: its queue, its node pool and its queue label are
left as they are. What the grouper wrote and no longer means goes, by server-side apply; the annotation
DERIVED tells whether that changed. What others changed in the spec is put back by a patch, as an apply would
leave alone the fields that it does not name.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from quorate.api import labels
from quorate.api.core import POD, Pod
from quorate.api.meta import Json
from quorate.api.podgroup import POD_GROUP, PodGroup
from quorate.grouping.grouper import Gang, Grouping, Warned
from quorate.grouping.subject import Settings
from quorate.plan import Apply, Change, Delete, Emit, EventType, Patch, Plan, Ref

DERIVED = "quorate.dev/derived-from"
REASON_WARNING = "GroupingWarning"
REASON_REFUSED = "GroupingRefused"


def plan(grouping: Grouping, existing: Mapping[str, PodGroup], settings: Settings) -> Plan:
    """Changes for the gangs, then for their members, then events; `existing` is by `namespace/name`."""
    changes: list[Change] = []
    for gang in grouping.gangs:
        found = existing.get(f"{gang.namespace}/{gang.name}")
        changes.extend(gang_changes(gang, found, settings))
    for gang in grouping.gangs:
        changes.extend(member_changes(gang))
    changes.extend(_event(warned) for warned in grouping.warnings)
    return Plan(changes=tuple(changes))


def gang_changes(gang: Gang, found: PodGroup | None, settings: Settings) -> Iterable[Change]:
    body = _wanted(gang, found, settings)
    target = Ref(kind=POD_GROUP, name=gang.name, namespace=gang.namespace)
    if found is None or not _has_metadata(found, body["metadata"]):
        yield Apply(target=target, body=body)
        return
    correction = _correction(_spec(found), body["spec"])
    if correction:
        yield Patch(target=target, body={"spec": correction})


def member_changes(gang: Gang) -> Iterable[Change]:
    for pod, group in gang.members:
        metadata: Json = {}
        if pod.metadata.annotation(labels.POD_GROUP_NAME) != gang.name:
            metadata["annotations"] = {labels.POD_GROUP_NAME: gang.name}
        if pod.metadata.label(labels.SUB_GROUP_NAME) != group:
            metadata["labels"] = {labels.SUB_GROUP_NAME: group or None}
        if metadata:
            yield Patch(target=_pod_ref(pod), body={"metadata": metadata})


def is_made_here(podgroup: PodGroup) -> bool:
    """Whether the grouper made this PodGroup, so that it may go when nobody is in it any more."""
    return bool(podgroup.metadata.annotation(DERIVED))


def removal(podgroup: PodGroup) -> Delete:
    meta = podgroup.metadata
    return Delete(target=Ref(kind=POD_GROUP, name=meta.name, namespace=meta.namespace, uid=meta.uid))


def _pod_ref(pod: Pod) -> Ref:
    return Ref(kind=POD, name=pod.metadata.name, namespace=pod.metadata.namespace, uid=pod.metadata.uid)


def _event(warned: Warned) -> Emit:
    reason = REASON_REFUSED if warned.is_refusal else REASON_WARNING
    return Emit(about=_pod_ref(warned.pod), type=EventType.WARNING, reason=reason, message=warned.message)


def _wanted(gang: Gang, found: PodGroup | None, settings: Settings) -> Json:
    """The body to apply: what grouping derived, with the fields that belong to people as they have them."""
    derived = hashlib.sha256(msgspec.json.encode(gang.body, order="sorted")).hexdigest()[:16]
    metadata = dict(gang.body["metadata"])
    metadata["annotations"] = {**metadata["annotations"], DERIVED: derived}
    spec = dict(gang.body["spec"])
    if found is not None:
        kept = _kept_labels(metadata.get("labels", {}), found, settings)
        metadata.pop("labels", None)
        if kept:
            metadata["labels"] = kept
        spec["queue"] = found.spec.queue or spec["queue"]
        constraint = found.spec.topology_constraint
        if constraint and "topologyConstraint" not in spec:
            spec["topologyConstraint"] = msgspec.to_builtins(constraint)
    return {**gang.body, "metadata": metadata, "spec": spec}


def _kept_labels(wanted: Mapping[str, str], found: PodGroup, settings: Settings) -> dict[str, str]:
    """The labels to apply to a PodGroup that exists: queue and node pool as they are there."""
    kept = dict(wanted)
    has = found.metadata.labels or {}
    if settings.queue_label in has and settings.queue_label in kept:
        kept[settings.queue_label] = has[settings.queue_label]
    pool = settings.node_pool_label
    kept.pop(pool, None)
    if pool in has:
        kept[pool] = has[pool]
    return kept


def _has_metadata(found: PodGroup, wanted: Json) -> bool:
    """Whether labels, owners and annotations are there, among them the one that tells what was derived."""
    references = _references(found)
    return (
        _contains(found.metadata.labels or {}, wanted.get("labels", {}))
        and _contains(found.metadata.annotations or {}, wanted["annotations"])
        and all(owner in references for owner in wanted["ownerReferences"])
    )


def _correction(has: Any, wanted: Any) -> Any:
    """The merge patch that makes the one into the other."""
    if not (isinstance(has, dict) and isinstance(wanted, dict)):
        return wanted
    return {
        key: _correction(has.get(key), wanted.get(key))
        for key in {**has, **wanted}
        if has.get(key) != wanted.get(key)
    }


def _contains(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(found.get(key) == value for key, value in wanted.items())


def _references(found: PodGroup) -> list[Json]:
    return [
        {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
        for owner in found.metadata.owner_references or ()
    ]


def _spec(found: PodGroup) -> Json:
    """The spec without the fields that grouping never writes."""
    spec: Json = msgspec.to_builtins(found.spec)
    return {
        key: value for key, value in spec.items() if key not in {"markUnschedulable", "schedulingBackoff"}
    }
