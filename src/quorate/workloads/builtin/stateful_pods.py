"""Identity of a StatefulSet's pods: name, host name, labels and volumes that stay with an ordinal."""

from quorate.api.meta import Json
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.outcome import owner_reference
from quorate.workloads.builtin.revisions import LABEL

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


def ordinal_of(item: Json, pod: Json) -> int | None:
    """The ordinal in the pod's name; `None` for a pod whose name is not the set's."""
    parent, _, number = pod["metadata"]["name"].rpartition("-")
    return int(number) if parent == item["metadata"]["name"] and number.isdigit() else None


def claim_name(item: Json, template: Json, ordinal: int) -> str:
    return f"{template['metadata']['name']}-{item['metadata']['name']}-{ordinal}"


def pod_at(item: Json, template: Json, ordinal: int, revision: str) -> Json:
    name = f"{item['metadata']['name']}-{ordinal}"
    meta = template.get("metadata", {})
    identity = {LABEL: revision, POD_NAME: name, POD_INDEX: str(ordinal)}
    return {
        "metadata": {
            "name": name,
            "generateName": f"{item['metadata']['name']}-",
            "namespace": item["metadata"]["namespace"],
            "labels": {**(meta.get("labels") or {}), **identity},
            "annotations": dict(meta.get("annotations") or {}),
            "ownerReferences": [owner_reference(kinds.STATEFUL_SET, item)],
        },
        "spec": {
            **template["spec"],
            "hostname": name,
            "subdomain": item["spec"].get("serviceName", ""),
            **_volumes(item, template, ordinal),
        },
    }


def _volumes(item: Json, template: Json, ordinal: int) -> Json:
    """Each claim template becomes a volume of its name, in place of one of the pod template's."""
    templates = item["spec"].get("volumeClaimTemplates") or ()
    if not templates:
        return {}
    names = {claim["metadata"]["name"] for claim in templates}
    kept = [volume for volume in template["spec"].get("volumes") or () if volume["name"] not in names]
    claimed = [
        {
            "name": claim["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim_name(item, claim, ordinal)},
        }
        for claim in templates
    ]
    return {"volumes": [*claimed, *kept]}
