"""The LeaderWorkerSet of a role: its instances are the groups of the set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import msgspec

from quorate.api import labels
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json
from quorate.plan import Apply
from quorate.workloads.rbg.composites import affinity_of, beginning_in
from quorate.workloads.rbg.discovery import with_discovery
from quorate.workloads.rbg.group import Group, Role
from quorate.workloads.rbg.instances import REVISION
from quorate.workloads.rbg.names import workload_name
from quorate.workloads.rbg.objects import owned, shows
from quorate.workloads.rbg.restart import OF_SETS
from quorate.workloads.rbg.rolling import Told
from quorate.workloads.segmentgangs import Team


@dataclass(frozen=True, slots=True)
class Made:
    """What the pods of a role are made from, with the revision that they are marked with."""

    template: Json
    revision: str


def made(group: Group, role: Role) -> Made:
    """Labels say group, role and component; the revision covers everything that would change a pod."""
    own = {labels.RBG_GROUP_NAME: group.name, labels.RBG_ROLE_NAME: role.name}
    parts: Json = {"size": role.size, "restartPolicy": OF_SETS[role.restart]}
    components = {"workerTemplate": role.templates.worker}
    if role.size > 1:
        components["leaderTemplate"] = role.templates.leader or role.templates.worker
    for name, template in components.items():
        component = name.removesuffix("Template") if role.size > 1 else ""
        added = {**own, **({labels.RBG_COMPONENT_NAME: component} if component else {})}
        spec = with_discovery(group, role, template.get("spec") or {}, component)
        parts[name] = {**_labelled(template, added), "spec": spec}
    revision = f"{crc32(msgspec.json.encode(parts, order='sorted')):08x}"
    for name in components:
        parts[name] = _annotated(parts[name], {REVISION: revision})
    return Made(parts, revision)


def set_of(group: Group, role: Role, linked: Sequence[Team], what: Made, told: Told) -> Apply:
    """The set as it shall be now; `linked` are the teams of the group."""
    annotations = {
        **role.annotations,
        **_membership(group, role, linked),
        labels.RESTART_BACKOFF: f"{role.backoff.base}/{role.backoff.longest}",
        REVISION: what.revision,
    }
    return owned(
        group.owner,
        LEADER_WORKER_SET,
        workload_name(group.name, role.name),
        metadata={
            "labels": {**role.labels, labels.RBG_ROLE_NAME: role.name},
            "annotations": annotations,
        },
        spec={
            "replicas": told.replicas,
            "leaderWorkerTemplate": what.template,
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {
                    "partition": told.partition,
                    "maxUnavailable": told.max_unavailable,
                    "maxSurge": told.max_surge,
                },
            },
        },
    )


def is_carried_out(found: LeaderWorkerSet | None, change: Apply) -> bool:
    """Whether the set says so already; a hand that scaled it or moved its partition is corrected."""
    if found is None or not shows(found, change):
        return False
    spec = change.body["spec"]
    rolling = found.spec.rollout_strategy.rolling_update_configuration
    wanted = spec["rolloutStrategy"]["rollingUpdateConfiguration"]["partition"]
    return bool(found.spec.replicas == spec["replicas"] and rolling.partition == wanted)


def _membership(group: Group, role: Role, linked: Sequence[Team]) -> dict[str, str]:
    """Which gangs the instances are in, for the grouper."""
    team = next((team for team in linked if role.name in team.sizes), None)
    if team is not None:
        affinity = affinity_of(group, team)
        alone = affinity is not None and affinity.is_best_effort
        return {
            labels.SEGMENTS_OF: beginning_in(group, linked, team),
            labels.SEGMENT_INSTANCES: str(team.sizes[role.name]),
            **({labels.TOPOLOGY_PREFERRED: affinity.topology_key} if affinity and alone else {}),
        }
    if group.gang is None or role.name not in group.gang.roles or linked:
        return {}
    gang = [
        {
            "name": name,
            "replicas": group.by_name[name].replicas,
            "size": one.pods,
            "needed": one.min_instances,
        }
        for name, one in group.gang.roles.items()
    ]
    return {labels.GANG_OF_ROLES: msgspec.json.encode(gang).decode()}


def _labelled(template: Json, added: Mapping[str, str]) -> Json:
    return _with(template, "labels", added)


def _annotated(template: Json, added: Mapping[str, str]) -> Json:
    return _with(template, "annotations", added)


def _with(template: Json, part: str, added: Mapping[str, str]) -> Json:
    metadata = template.get("metadata") or {}
    return {**template, "metadata": {**metadata, part: {**(metadata.get(part) or {}), **added}}}
