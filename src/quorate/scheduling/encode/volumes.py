"""How a pod's claims tie it to nodes, and which of them wait to be told the node: Kubernetes' volume binding.

1. A bound claim ties its pods to the nodes of its volume.
2. A claim whose class waits for its first consumer ties them to where the class makes volumes. Its provisioner
   starts once the claim names a node (`SELECTED_NODE`): the scheduler writes that with the pod's binding.
3. Any other unbound claim keeps its pods waiting until somebody binds it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from quorate.api.core import Pod
from quorate.api.expected import ExpectedPod
from quorate.api.meta import Object
from quorate.api.podspec import LabelSelectorRequirement, NodeSelector, NodeSelectorTerm
from quorate.api.storage import (
    NO_PROVISIONER,
    PERSISTENT_VOLUME_CLAIM,
    SELECTED_NODE,
    WAITS,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quorate.plan import Ref
from quorate.scheduling.encode.nodes import NAME

Key = tuple[str, str]  # namespace, name


@dataclass(frozen=True, slots=True)
class Ties:
    """Of each selector a node must match any term; `waiting` are claims that no node was selected for yet."""

    selectors: tuple[NodeSelector, ...] = ()
    waiting: tuple[Ref, ...] = ()
    blocked_by: str = ""


FREE = Ties()


class Volumes:
    def __init__(self) -> None:
        self._claims: dict[Key, PersistentVolumeClaim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._classes: dict[str, StorageClass] = {}

    def update(self, old: Object | None, new: Object | None) -> set[Key]:
        """Take over what changed; the claims whose pods that may concern."""
        known = new or old
        assert known is not None, "a change has an object before or after"
        name, claims = known.metadata.name, self._claims.items()
        match known:
            case PersistentVolumeClaim():
                _store(self._claims, (known.metadata.namespace, name), new)
                return {(known.metadata.namespace, name)}
            case PersistentVolume():
                _store(self._volumes, name, new)
                return {key for key, claim in claims if claim.spec.volume_name == name}
            case _:
                _store(self._classes, name, new)
                return {
                    key
                    for key, claim in claims
                    if claim.spec.storage_class_name == name and not is_bound(claim)
                }

    def of(self, pod: Pod) -> Ties:
        if not pod.spec.volumes:
            return FREE
        selectors: list[NodeSelector] = []
        waiting: list[Ref] = []
        blocked_by = ""
        for name, comes_later in _mounted(pod):
            claim = self._claims.get((pod.metadata.namespace, name))
            if claim is None:
                if comes_later:
                    continue  # a controller makes it once it sees the pod
                blocked_by = blocked_by or f'persistentvolumeclaim "{name}" not found'
                continue
            one = self._bound(claim) if is_bound(claim) else self._unbound(claim)
            selectors.extend(one.selectors)
            waiting.extend(one.waiting)
            blocked_by = blocked_by or one.blocked_by
        if pod.spec.node_name:
            blocked_by = ""
        return Ties(tuple(selectors), tuple(waiting), blocked_by)

    def _bound(self, claim: PersistentVolumeClaim) -> Ties:
        volume = self._volumes.get(claim.spec.volume_name)
        if volume is None:
            return Ties(blocked_by=f'persistentvolume "{claim.spec.volume_name}" not found')
        affinity = volume.spec.node_affinity
        return Ties((affinity.required,)) if affinity and affinity.required else FREE

    def _unbound(self, claim: PersistentVolumeClaim) -> Ties:
        name = claim.metadata.name
        if claim.metadata.deletion_timestamp is not None:
            return Ties(blocked_by=f'persistentvolumeclaim "{name}" is being deleted')
        made_by = self._classes.get(claim.spec.storage_class_name or "")
        if made_by is None or made_by.volume_binding_mode != WAITS:
            return Ties(blocked_by=f"pod has unbound immediate PersistentVolumeClaims: {name}")
        if node := claim.metadata.annotation(SELECTED_NODE):
            chosen = NodeSelectorTerm(match_fields=[LabelSelectorRequirement(NAME, "In", [node])])
            return Ties((NodeSelector([chosen]),))
        if made_by.provisioner == NO_PROVISIONER:
            return Ties(blocked_by=f"nothing makes a volume for {name}: bind one of its class to it first")
        ref = Ref(PERSISTENT_VOLUME_CLAIM, name, claim.metadata.namespace, uid=claim.metadata.uid)
        return Ties(allowed(made_by), waiting=(ref,))


def _store(table: dict[Any, Any], key: object, new: Object | None) -> None:
    if new is None:
        table.pop(key, None)
    else:
        table[key] = new


def is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name)


def claimed(pod: Pod) -> Iterator[str]:
    """The names of the claims that a pod mounts."""
    return (name for name, _ in _mounted(pod))


def _mounted(pod: Pod) -> Iterator[tuple[str, bool]]:
    """Names of claims, and whether each comes after the pod: one of its own, or any of a pod to come."""
    for volume in pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name, isinstance(pod, ExpectedPod)
        elif volume.ephemeral is not None:
            yield f"{pod.metadata.name}-{volume.name}", True


def allowed(storage_class: StorageClass) -> tuple[NodeSelector, ...]:
    """Where a class makes volumes."""
    terms = [
        NodeSelectorTerm(
            match_expressions=[
                LabelSelectorRequirement(one.key, "In", one.values)
                for one in term.match_label_expressions or ()
            ]
        )
        for term in storage_class.allowed_topologies or ()
    ]
    return (NodeSelector(terms),) if terms else ()
