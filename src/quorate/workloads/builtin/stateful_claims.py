"""Volume claims of a StatefulSet: made with each pod, and kept or deleted by the retention policy.

Deletion is by owner references, as Kubernetes does it: a claim owned by the set goes with the set, a claim
owned by a condemned pod goes with that pod.
"""

from collections.abc import Mapping, Sequence

from quorate.api.meta import Json
from quorate.plan import Change
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.outcome import is_deleting, patch
from quorate.workloads.builtin.stateful_pods import claim_name


def claims_of(item: Json, ordinal: int) -> list[Json]:
    """The claims one ordinal needs; the writer leaves those that exist as they are."""
    labels = item["spec"].get("selector", {}).get("matchLabels") or {}
    return [
        _claim(item, template, ordinal, labels) for template in item["spec"].get("volumeClaimTemplates") or ()
    ]


def _claim(item: Json, template: Json, ordinal: int, labels: Mapping[str, str]) -> Json:
    meta = template["metadata"]
    return {
        "metadata": {
            "name": claim_name(item, template, ordinal),
            "namespace": item["metadata"]["namespace"],
            "labels": {**(meta.get("labels") or {}), **labels},
            "annotations": dict(meta.get("annotations") or {}),
        },
        "spec": template["spec"],
    }


def retain(item: Json, wanted: range, claims: Sequence[Json], held: Mapping[int, Json]) -> list[Change]:
    """Owner references that make the garbage collector carry out `persistentVolumeClaimRetentionPolicy`."""
    policy = item["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    templates = item["spec"].get("volumeClaimTemplates") or ()
    if not templates or not claims:
        return []
    named = {claim["metadata"]["name"]: claim for claim in claims if not is_deleting(claim)}
    changes: list[Change] = []
    for ordinal in sorted({*wanted, *held}):
        for template in templates:
            found = named.get(claim_name(item, template, ordinal))
            if found is not None:
                owners = _owners(item, policy, ordinal in wanted, held.get(ordinal))
                changes += _reown(found, item, owners)
    return changes


def _owners(item: Json, policy: Mapping[str, str], is_wanted: bool, pod: Json | None) -> list[Json]:  # noqa: FBT001 - a fact, not a switch
    if not is_wanted and policy.get("whenScaled") == "Delete" and pod is not None:
        return [_reference("v1", "Pod", pod)]
    if policy.get("whenDeleted") == "Delete":
        return [_reference("apps/v1", "StatefulSet", item)]
    return []


def _reference(version: str, kind: str, owner: Json) -> Json:
    meta = owner["metadata"]
    return {"apiVersion": version, "kind": kind, "name": meta["name"], "uid": meta["uid"]}


def _reown(found: Json, item: Json, owners: list[Json]) -> list[Change]:
    before = found["metadata"].get("ownerReferences") or []
    pod_prefix = item["metadata"]["name"] + "-"
    ours = {item["metadata"]["uid"], *(owner["uid"] for owner in owners)}
    kept = [
        owner
        for owner in before
        if owner["uid"] not in ours and not (owner["kind"] == "Pod" and owner["name"].startswith(pod_prefix))
    ]
    after = [*kept, *owners]
    if [owner["uid"] for owner in after] == [owner["uid"] for owner in before]:
        return []
    return [patch(kinds.CLAIM, found, {"metadata": {"ownerReferences": after or None}})]
