"""Volume claims of a set's pods: one of each template for every pod, kept or deleted by the retention policy.

A claim outlives its pod, so that a group that comes back finds its volumes. `whenDeleted: Delete` makes the
set the owner of its claims; `whenScaled: Delete` removes the claims of groups that are gone.
"""

from collections.abc import Collection, Iterable, Sequence

from quorate.api import labels
from quorate.api.meta import Json
from quorate.workloads.lws.blueprint import Blueprint
from quorate.workloads.lws.names import Place, pod_name

_CARRIED = ("accessModes", "storageClassName", "volumeMode", "resources")


def claim_name(template: Json, pod: str) -> str:
    return f"{template['metadata']['name']}-{pod}"


def with_claims(spec: Json, templates: Sequence[Json], pod: str) -> Json:
    """Each claim template becomes a volume of its name, in place of one of the pod template's."""
    if not templates:
        return spec
    claimed = {template["metadata"]["name"]: claim_name(template, pod) for template in templates}
    kept = [volume for volume in spec.get("volumes") or () if volume["name"] not in claimed]
    made = [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in claimed.items()]
    return {**spec, "volumes": [*made, *kept]}


def claims_of(blueprint: Blueprint, place: Place) -> list[Json]:
    """The claims that one pod needs; those that exist stay as they are."""
    pod = pod_name(blueprint.name, place)
    return [_claim(blueprint, template, place, pod) for template in blueprint.claim_templates]


def _claim(blueprint: Blueprint, template: Json, place: Place, pod: str) -> Json:
    spec = template.get("spec") or {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": claim_name(template, pod),
            "namespace": blueprint.namespace,
            "labels": {
                labels.LWS_NAME: blueprint.name,
                labels.LWS_GROUP_INDEX: str(place.group),
                labels.LWS_WORKER_INDEX: str(place.index),
            },
            "ownerReferences": owners(blueprint, ()),
        },
        "spec": {field: spec[field] for field in _CARRIED if spec.get(field)},
    }


def owners(blueprint: Blueprint, held: Iterable[Json]) -> list[Json]:
    """The owner references a claim should have: others' as they are, ours if it is to go with the set."""
    others = [owner for owner in held if owner.get("uid") != blueprint.uid]
    return [*others, _not_controlling(blueprint)] if _retention(blueprint, "whenDeleted") else others


def _not_controlling(blueprint: Blueprint) -> Json:
    reference = blueprint.owner_reference
    return {name: reference[name] for name in ("apiVersion", "kind", "name", "uid")}


def disposable(blueprint: Blueprint, claims: Iterable[Json], groups: Collection[int]) -> list[Json]:
    """Claims of groups that are neither wanted nor there any more, where the policy is to delete them."""
    if not _retention(blueprint, "whenScaled"):
        return []
    return [claim for claim in claims if (group := _group(claim)) is not None and group not in groups]


def _group(claim: Json) -> int | None:
    text = (claim["metadata"].get("labels") or {}).get(labels.LWS_GROUP_INDEX, "")
    return int(text) if text.isdecimal() else None


def _retention(blueprint: Blueprint, when: str) -> bool:
    """Whether claims are deleted then."""
    policy = blueprint.template.get("persistentVolumeClaimRetentionPolicy") or {}
    return bool(policy.get(when) == "Delete")
