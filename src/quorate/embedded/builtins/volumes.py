"""The fake storage provisioner: binds claims to volumes it makes, and clears volumes whose claim is gone."""

from collections.abc import Iterator

from quorate.api.meta import Json
from quorate.embedded.builtins.bootstrap import PROVISIONER
from quorate.embedded.builtins.reconciler import Controller, Trigger
from quorate.embedded.builtins.world import World, key_of
from quorate.embedded.store import Event, Key
from quorate.workloads.builtin import binding, kinds
from quorate.workloads.builtin.outcome import Outcome, delete, is_deleting


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
    volume = world.get(kinds.VOLUME, "", f"pvc-{meta['uid']}")
    return binding.claim(item, world.get(kinds.STORAGE_CLASS, "", chosen), PROVISIONER, users, volume)


def _volume(world: World, item: Json, now: float) -> Outcome:
    """A volume shows whether its claim holds it; one that lost its claim is deleted or, if kept, released."""
    del now
    owner = item["spec"].get("claimRef")
    if owner is None or is_deleting(item):
        return Outcome()
    found = world.get(kinds.CLAIM, owner.get("namespace", ""), owner["name"])
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
