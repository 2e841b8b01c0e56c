"""Claims and volumes: a fake provisioner, and the binding and clearing that Kubernetes does itself."""

from collections.abc import Iterator

from quorate.api.meta import Json
from quorate.embedded.builtins.bootstrap import PROVISIONER
from quorate.embedded.builtins.reconciler import Controller, Trigger
from quorate.embedded.builtins.world import World, key_of
from quorate.embedded.store import Event, Key
from quorate.workloads.builtin import binding, kinds
from quorate.workloads.builtin.outcome import Outcome, delete, is_deleting, patch


def _users(world: World, event: Event) -> Iterator[Key]:
    """A pod that was just bound gives its claims a node."""
    del world
    pod = event.object
    if event.previous is not None and event.previous["spec"].get("nodeName") == pod["spec"].get("nodeName"):
        return
    for name in binding.claims_of(pod):
        yield key_of(kinds.CLAIM, event.key.namespace, name)


def _claim(world: World, item: Json, now: float) -> Outcome:
    del now
    meta, chosen = item["metadata"], item["spec"].get("storageClassName", "")
    if item.get("status", {}).get("phase") == "Bound":
        return Outcome()
    users = (pod for pod in world.all(kinds.POD, meta["namespace"]) if meta["name"] in binding.claims_of(pod))
    storage_class = world.get(kinds.STORAGE_CLASS, "", chosen)
    volume = world.get(kinds.VOLUME, "", f"pvc-{meta['uid']}")
    if storage_class is None or storage_class["provisioner"] != PROVISIONER:  # volumes made by hand are few
        volume = next((one for one in world.all(kinds.VOLUME) if binding.names(one, item)), None)
    return binding.claim(item, storage_class, PROVISIONER, users, volume)


def _volume(world: World, item: Json, now: float) -> Outcome:
    """A volume shows whether its claim holds it; one that lost its claim is deleted or, if kept, released."""
    del now
    owner = item["spec"].get("claimRef")
    if is_deleting(item):
        return Outcome()
    found = world.get(kinds.CLAIM, owner.get("namespace", ""), owner["name"]) if owner else None
    if owner is None or not owner.get("uid"):
        whole = {**(owner or {}), "uid": found["metadata"]["uid"]} if found is not None else None
        change = (patch(kinds.VOLUME, item, {"spec": {"claimRef": whole}}),) if whole else ()
        return Outcome(change, {**item.get("status", {}), "phase": "Available"})
    if found is not None and found["metadata"]["uid"] == owner.get("uid"):
        return Outcome(status={**item.get("status", {}), "phase": "Bound"})
    if item["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
        return Outcome((delete(kinds.VOLUME, item),))
    return Outcome(status={**item.get("status", {}), "phase": "Released"})


def _made_for(world: World, event: Event) -> Iterator[Key]:
    del world
    owner = event.object["spec"].get("claimRef")
    if owner is not None:
        yield key_of(kinds.CLAIM, owner.get("namespace", ""), owner["name"])


def _volume_of(world: World, event: Event) -> Iterator[Key]:
    del world
    name = event.object["spec"].get("volumeName")
    if name:
        yield key_of(kinds.VOLUME, "", name)


CONTROLLERS = (
    Controller(
        kinds.CLAIM,
        "persistentvolume-controller",
        _claim,
        (Trigger(kinds.POD, _users), Trigger(kinds.VOLUME, _made_for)),
    ),
    Controller(kinds.VOLUME, "persistentvolume-binder", _volume, (Trigger(kinds.CLAIM, _volume_of),)),
)
