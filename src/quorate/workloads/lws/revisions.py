"""Revisions of a LeaderWorkerSet: what of a set makes its pods, under a key, kept as ControllerRevisions.

The content has upstream's shape. Topology annotations are part of it here: they decide where pods may run, so
a change of them reaches the groups by a rollout. A set without them has the content and key upstream gives it.
"""

from collections.abc import Collection, Iterable, Sequence

import msgspec

from quorate.api import labels
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet, LeaderWorkerSetSpec
from quorate.api.meta import Json
from quorate.workloads.builtin.hashing import safe

HISTORY_LIMIT = 10  # revisions that no pod uses are kept for roll-back, as other kinds keep theirs

_TOPOLOGIES = (labels.LWS_EXCLUSIVE_TOPOLOGY, labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY)
_LONGEST_PREFIX = 220
_REPLACE = {"$patch": "replace"}  # for those who read a revision as a strategic merge patch, as upstream


def content(item: LeaderWorkerSet) -> Json:
    network = item.spec.network_config
    spec = {
        "leaderWorkerTemplate": {**_template(item.spec), **_REPLACE},
        "networkConfig": {"subdomainPolicy": network.subdomain_policy if network else "Shared", **_REPLACE},
    }
    pinned = {key: value for key in _TOPOLOGIES if (value := item.metadata.annotation(key))}
    return {"spec": spec, **({"metadata": {"annotations": pinned}} if pinned else {})}


def _template(spec: LeaderWorkerSetSpec) -> Json:
    template = spec.leader_worker_template
    retention = template.persistent_volume_claim_retention_policy
    policy = template.sub_group_policy
    found: Json = {
        "size": template.size,
        "restartPolicy": template.restart_policy,
        "workerTemplate": template.worker_template,
        "leaderTemplate": template.leader_template,
        "volumeClaimTemplates": template.volume_claim_templates or None,
        "subGroupPolicy": policy
        and {"subGroupPolicyType": policy.sub_group_policy_type, "subGroupSize": policy.sub_group_size},
        "persistentVolumeClaimRetentionPolicy": retention
        and {"whenDeleted": retention.when_deleted, "whenScaled": retention.when_scaled},
    }
    return {name: value for name, value in found.items() if value is not None}


def key(found: Json) -> str:
    """FNV-1 of the content, in letters; pods carry it as their template-revision-hash."""
    return key_of_text(msgspec.json.encode(found, order="sorted"))


def key_of_text(text: bytes) -> str:
    value = 0x811C9DC5
    for byte in text:
        value = (value * 0x01000193) & 0xFFFFFFFF ^ byte
    return safe(str(value))


def is_equal(left: Json, right: Json) -> bool:
    """Whether two contents make the same pods, also if one was stored before a field had its default."""
    return left == right or _read_again(left) == _read_again(right)


def _read_again(found: Json) -> Json:
    """The content as it would be recorded now."""
    return content(msgspec.convert(_wire(found), LeaderWorkerSet))


def _wire(found: Json) -> Json:
    bare = {part: _without_directives(tree) for part, tree in found["spec"].items()}
    return {"metadata": found.get("metadata") or {}, "spec": bare}


def _without_directives(tree: Json) -> Json:
    return {name: value for name, value in (tree or {}).items() if name != "$patch"}


def name_of(set_name: str, revision_key: str, number: int) -> str:
    return f"{set_name[:_LONGEST_PREFIX]}-{revision_key}-{number}"


def recorded(item: LeaderWorkerSet, found: Json, number: int) -> Json:
    """The ControllerRevision that keeps this content under the next number."""
    meta, own_key = item.metadata, key(found)
    return {
        "metadata": {
            "name": name_of(meta.name, own_key, number),
            "namespace": meta.namespace,
            "labels": {labels.LWS_NAME: meta.name, labels.LWS_REVISION: own_key},
            "ownerReferences": [
                {
                    "apiVersion": LEADER_WORKER_SET.api_version,
                    "kind": LEADER_WORKER_SET.kind,
                    "name": meta.name,
                    "uid": meta.uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "data": found,
        "revision": number,
    }


def key_recorded(revision: Json) -> str:
    return str((revision["metadata"].get("labels") or {}).get(labels.LWS_REVISION, ""))


def next_number(known: Iterable[Json]) -> int:
    return max((revision["revision"] for revision in known), default=0) + 1


def equal_among(known: Iterable[Json], found: Json) -> Json | None:
    """The newest ControllerRevision that records this content."""
    matching = [revision for revision in known if is_equal(revision["data"], found)]
    return max(matching, key=lambda revision: revision["revision"], default=None)


def disposable(known: Sequence[Json], used: Collection[str], limit: int = HISTORY_LIMIT) -> list[Json]:
    """ControllerRevisions that may be deleted: unused by key and beyond the history, oldest first."""
    unused = [revision for revision in known if key_recorded(revision) not in used]
    unused.sort(key=lambda revision: revision["revision"])
    return unused[: max(0, len(unused) - limit)]


def restored(item: LeaderWorkerSet, found: Json) -> Json:
    """The merge patch that gives the set the content of an earlier revision."""
    annotations = (found.get("metadata") or {}).get("annotations") or {}
    held = {name: value for name in _TOPOLOGIES if (value := item.metadata.annotation(name))}
    spec = difference(_wire(content(item))["spec"], _wire(_read_again(found))["spec"])
    meta = difference(held, annotations)
    return {
        **({"metadata": {"annotations": meta}} if meta else {}),
        **({"spec": spec} if spec else {}),
    }


def difference(before: Json, after: Json) -> Json:
    """The merge patch that turns one tree into the other; empty if they are equal."""
    changed: Json = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict):
            deeper = difference(old, value)
            changed |= {name: deeper} if deeper else {}
        elif value != old or name not in before:
            changed[name] = value
    return changed
