"""Claims and volumes: when a claim is bound, and the volume that the fake storage class makes for it."""

from collections.abc import Iterable, Iterator

from quorate.api.labels import HOSTNAME
from quorate.api.meta import Json
from quorate.api.storage import BOUND_BY_CONTROLLER, SELECTED_NODE, WAITS
from quorate.workloads.builtin import kinds
from quorate.workloads.builtin.nodematch import term_holds
from quorate.workloads.builtin.outcome import Outcome, create, event, is_deleting, owner_reference, patch, ref


def claim(
    item: Json, storage_class: Json | None, provisioner: str, users: Iterable[Json], volume: Json | None
) -> Outcome:
    """`users` are the pods that name the claim, `volume` the one that names it, made for it or by hand, if any."""
    if is_deleting(item) or item.get("status", {}).get("phase") == "Bound":
        return Outcome()
    if volume is not None:
        return _bound(item, volume)
    if storage_class is None or storage_class.get("provisioner") != provisioner:
        return Outcome(status=_pending(item))
    node = _node(item, users)
    if not node and storage_class.get("volumeBindingMode") == WAITS:
        text = "waiting for first consumer to be created before binding"
        known = item.get("status", {}).get("phase") == "Pending"
        about = ref(kinds.CLAIM, item)
        return Outcome(() if known else (event(about, "WaitForFirstConsumer", text),), _pending(item))
    name = f"pvc-{item['metadata']['uid']}"
    return Outcome(
        (create(kinds.VOLUME, _volume(item, storage_class, name, node)),), _pending(item), wake=0.0
    )


def _bound(item: Json, volume: Json) -> Outcome:
    name = volume["metadata"]["name"]
    notes = {"pv.kubernetes.io/bind-completed": "yes", BOUND_BY_CONTROLLER: "yes"}
    change = patch(kinds.CLAIM, item, {"metadata": {"annotations": notes}, "spec": {"volumeName": name}})
    status = {
        "phase": "Bound",
        "accessModes": item["spec"].get("accessModes", []),
        "capacity": dict(volume["spec"]["capacity"]),
    }
    return Outcome((change,), status)


def _pending(item: Json) -> Json:
    return {**item.get("status", {}), "phase": "Pending"}


def _node(item: Json, users: Iterable[Json]) -> str:
    """The node a scheduler selected, or where a pod that uses the claim runs already."""
    chosen: str = (item["metadata"].get("annotations") or {}).get(SELECTED_NODE, "")
    return chosen or next((pod["spec"]["nodeName"] for pod in users if pod["spec"].get("nodeName")), "")


def _volume(item: Json, storage_class: Json, name: str, node: str) -> Json:
    meta, spec = item["metadata"], item["spec"]
    own = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": meta["name"]}
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [node]}]}
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}} if node else {}
    return {
        "metadata": {
            "name": name,
            "annotations": {"pv.kubernetes.io/provisioned-by": storage_class["provisioner"]},
        },
        "spec": {
            "accessModes": spec.get("accessModes", []),
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {**own, "namespace": meta["namespace"], "uid": meta["uid"]},
            "hostPath": {"path": f"/var/quorate/{name}"},
            "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
            "storageClassName": storage_class["metadata"]["name"],
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            **affinity,
        },
    }


def claims_of(pod: Json) -> Iterator[str]:
    """The names of the claims a pod mounts."""
    for volume in pod["spec"].get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"]
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}"


def own_claims(pod: Json) -> list[Json]:
    """The claims that are made for a pod and go with it."""
    meta = pod["metadata"]
    return [
        {
            **template,
            "metadata": {
                **(template.get("metadata") or {}),
                "name": f"{meta['name']}-{volume['name']}",
                "namespace": meta["namespace"],
                "ownerReferences": [owner_reference(kinds.POD, pod)],
            },
        }
        for volume in pod["spec"].get("volumes") or ()
        if (template := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"))
    ]


def names(volume: Json, item: Json) -> bool:
    """Whether the volume names the claim as the one that it is for."""
    owner, meta = volume["spec"].get("claimRef"), item["metadata"]
    if owner is None or owner.get("uid") not in {None, "", meta["uid"]}:
        return False
    return (owner.get("namespace", ""), owner["name"]) == (meta["namespace"], meta["name"])


def holds(volume: Json, node: Json) -> bool:
    """Whether a volume can be used on a node."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    labels, name = node["metadata"].get("labels") or {}, node["metadata"]["name"]
    return required is None or any(term_holds(term, name, labels) for term in required["nodeSelectorTerms"])
