"""The pods of a LeaderWorkerSet's groups, whole: what upstream spreads over templates, sets and webhooks."""

from collections.abc import Mapping

from quorate.api import labels
from quorate.api.expected import announcement
from quorate.api.meta import Json
from quorate.workloads.lws import tpu
from quorate.workloads.lws.blueprint import UNIQUE_PER_REPLICA, Blueprint
from quorate.workloads.lws.claims import with_claims
from quorate.workloads.lws.environment import with_environment
from quorate.workloads.lws.exclusive import with_exclusive
from quorate.workloads.lws.identity import Identity
from quorate.workloads.lws.keys import group_key, sub_group_key
from quorate.workloads.lws.names import Place, leader_name


def leader_pod(blueprint: Blueprint, group: int) -> Json:
    identity = identity_of(blueprint, Place(group, 0))
    unique = {labels.LWS_SUBDOMAIN_POLICY: UNIQUE_PER_REPLICA} if blueprint.has_own_subdomains else {}
    annotations = {**_annotations(blueprint), **unique, **_announcement(blueprint, group)}
    return _pod(blueprint, identity, blueprint.leader_template, annotations)


def worker_pod(blueprint: Blueprint, group: int, index: int, *, domain: str = "") -> Json:
    """`domain` is the exclusive-topology label of the leader's node, where it is known already."""
    identity = identity_of(blueprint, Place(group, index))
    annotations = {**_annotations(blueprint), labels.LWS_LEADER_NAME: identity.leader}
    if tpu.asking(_spec_of(blueprint.leader_template)):
        annotations[labels.LWS_LEADER_REQUESTS_TPUS] = "true"
    pod = _pod(blueprint, identity, blueprint.worker_template, annotations)
    if blueprint.exclusive_topology and domain:
        selector = pod["spec"].get("nodeSelector") or {}
        pod["spec"]["nodeSelector"] = {**selector, blueprint.exclusive_topology: domain}
    return pod


def _announcement(blueprint: Blueprint, group: int) -> dict[str, str]:
    """A leader that starts alone says who follows, so that it starts only where they can follow."""
    if not blueprint.waits_for_leader or blueprint.size < 2:
        return {}
    workers = (worker_pod(blueprint, group, index) for index in range(1, blueprint.size))
    return {labels.EXPECTED_MEMBERS: announcement(workers, own=(labels.LWS_WORKER_INDEX,))}


def identity_of(blueprint: Blueprint, place: Place) -> Identity:
    return Identity(
        set_name=blueprint.name,
        namespace=blueprint.namespace,
        place=place,
        size=blueprint.size,
        subdomain=subdomain_of(blueprint, place.group),
        sub_group_size=blueprint.sub_group_size,
        is_leader_excluded=blueprint.is_leader_excluded,
        exclusive_topology=blueprint.exclusive_topology,
        sub_group_exclusive_topology=blueprint.sub_group_exclusive_topology,
    )


def subdomain_of(blueprint: Blueprint, group: int) -> str:
    """The Service under which the pods of a group have their addresses."""
    return leader_name(blueprint.name, group) if blueprint.has_own_subdomains else blueprint.name


def identity_labels(identity: Identity) -> dict[str, str]:
    """Labels that say which pod of which group it is; an excluded leader has none of a sub-group."""
    sub_group = identity.sub_group
    found = {
        labels.LWS_NAME: identity.set_name,
        labels.LWS_GROUP_INDEX: str(identity.place.group),
        labels.LWS_WORKER_INDEX: str(identity.place.index),
        labels.LWS_GROUP_KEY: group_key(identity.namespace, identity.leader),
    }
    if sub_group is not None:
        found[labels.LWS_SUB_GROUP_INDEX] = str(sub_group)
        found[labels.LWS_SUB_GROUP_KEY] = sub_group_key(identity.leader, sub_group)
    return found


def _annotations(blueprint: Blueprint) -> dict[str, str]:
    found = {
        labels.LWS_SIZE: str(blueprint.size),
        labels.LWS_EXCLUSIVE_TOPOLOGY: blueprint.exclusive_topology,
    }
    if blueprint.sub_group_size is not None:
        found |= {
            labels.LWS_SUB_GROUP_POLICY_TYPE: blueprint.sub_group_type,
            labels.LWS_SUB_GROUP_SIZE: str(blueprint.sub_group_size),
            labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY: blueprint.sub_group_exclusive_topology,
        }
    return {key: value for key, value in found.items() if value}


def _pod(blueprint: Blueprint, identity: Identity, template: Json, annotations: Mapping[str, str]) -> Json:
    meta = template.get("metadata") or {}
    own = {**identity_labels(identity), labels.LWS_REVISION: blueprint.revision}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": identity.name,
            "namespace": identity.namespace,
            "labels": {**(meta.get("labels") or {}), **own},
            "annotations": {**(meta.get("annotations") or {}), **annotations},
            "ownerReferences": [blueprint.owner_reference],
        },
        "spec": _spec(blueprint, identity, _spec_of(template)),
    }


def _spec(blueprint: Blueprint, identity: Identity, spec: Json) -> Json:
    processes = tpu.Processes(
        leader=len(tpu.asking(_spec_of(blueprint.leader_template))),
        worker=len(tpu.asking(_spec_of(blueprint.worker_template))),
    )
    scheduler = spec.get("schedulerName") or blueprint.scheduler_name
    named = {"schedulerName": scheduler} if scheduler else {}
    spec = {**spec, **named, "hostname": identity.name, "subdomain": identity.subdomain}
    spec = with_claims(spec, blueprint.claim_templates, identity.name)
    return completed(spec, identity, processes)


def completed(spec: Json, identity: Identity, processes: tpu.Processes) -> Json:
    """The pod spec with what only a member of a group has: its environment, TPUs and affinity."""
    spec = with_environment(tpu.with_tpus(spec, identity, processes), identity)
    return with_exclusive(spec, identity)


def _spec_of(template: Json) -> Json:
    return template.get("spec") or {}
