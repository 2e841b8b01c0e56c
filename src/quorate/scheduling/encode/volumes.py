"""How a pod's claims tie it to nodes, and which of them wait to be told the node: Kubernetes' volume binding.

1. A bound claim ties its pods to the nodes of its volume.
2. A claim whose class waits for its first consumer ties them to where the class makes volumes. Its provisioner
   starts once the claim names a node (`SELECTED_NODE`): the scheduler writes that with the pod's binding.
3. Where volumes of such a class are made by hand, `stock` says where there is one for it; the scheduler writes the
   claim into the volume that it takes.
4. Any other unbound claim keeps its pods waiting until somebody binds it.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

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
from quorate.scheduling.encode.stock import EMPTY, Stock, demand_of, is_free, volume_ref
from quorate.scheduling.snapshot import ByHand

Key = tuple[str, str]  # namespace, name


class Ties(msgspec.Struct, frozen=True):
    """Of each selector a node must match any term; `waiting` are claims that no node was selected for yet."""

    selectors: tuple[NodeSelector, ...] = ()
    waiting: tuple[Ref, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    takes: tuple[tuple[str, int], ...] = ()  # of the stock of its node
    blocked_by: str = ""

    @property
    def are_none(self) -> bool:
        """Whether they say nothing about where the pod may go."""
        return not (self.selectors or self.takes or self.blocked_by)


FREE = Ties()


class Volumes:
    def __init__(self) -> None:
        self._claims: dict[Key, PersistentVolumeClaim] = {}
        self._volumes: dict[str, PersistentVolume] = {}
        self._kept: dict[Key, str] = {}  # volumes by the claim that they name
        self._classes: dict[str, StorageClass] = {}
        self._stock: Stock | None = EMPTY  # None: something that it is made of changed
        self._wanting: frozenset[Key] = frozenset()  # claims that waited for the stock when it was made

    def update(self, old: Object | None, new: Object | None) -> set[Key]:
        """Take over what changed; the claims whose pods that may concern."""
        known = new or old
        assert known is not None, "a change has an object before or after"
        name, claims = known.metadata.name, self._claims.items()
        self._stock = None
        match known:
            case PersistentVolumeClaim():
                store(self._claims, (known.metadata.namespace, name), new)
                return {(known.metadata.namespace, name)}
            case PersistentVolume():
                self._keep(self._volumes.get(name), new)
                store(self._volumes, name, new)
                held = {holder_of(one) for one in (old, new) if isinstance(one, PersistentVolume)}
                return held | {key for key, claim in claims if claim.spec.volume_name == name}
            case _:
                store(self._classes, name, new)
                return {
                    key
                    for key, claim in claims
                    if claim.spec.storage_class_name == name and not is_bound(claim)
                }

    def _keep(self, old: PersistentVolume | None, new: Object | None) -> None:
        if old is not None and self._kept.get(holder_of(old)) == old.metadata.name:
            del self._kept[holder_of(old)]
        if isinstance(new, PersistentVolume):
            self._kept[holder_of(new)] = new.metadata.name

    def restocked(self) -> set[Key]:
        """The claims whose pods new or other volumes made by hand may concern, since this was asked last."""
        if self._stock is not None:
            return set()
        claims = {key: claim for key, claim in self._claims.items() if self._wants(claim)}
        before, self._wanting = self._wanting, frozenset(claims)
        free = tuple(filter(is_free, self._volumes.values())) if claims else ()
        self._stock = Stock(free, tuple(claims.values()))
        return {*before, *claims}

    @property
    def stock(self) -> Stock:
        """The volumes made by hand, as of the last time that somebody asked whom they concern."""
        return self._stock or EMPTY

    def _wants(self, claim: PersistentVolumeClaim) -> bool:
        made_by = self._classes.get(claim.spec.storage_class_name or "")
        return (
            made_by is not None
            and (made_by.provisioner, made_by.volume_binding_mode) == (NO_PROVISIONER, WAITS)
            and not is_bound(claim)
            and claim.metadata.deletion_timestamp is None
            and self._kept_for(claim) is None
        )

    def of(self, pod: Pod) -> Ties:
        if not pod.spec.volumes:
            return FREE
        found = [self._tie(pod, name, is_own=is_own) for name, is_own in _mounted(pod)]
        blocked_by = next((one.blocked_by for one in found if one.blocked_by), "")
        return Ties(
            selectors=tuple(selector for one in found for selector in one.selectors),
            waiting=tuple(claim for one in found for claim in one.waiting),
            by_hand=tuple(claim for one in found for claim in one.by_hand),
            takes=tuple(amount for one in found for amount in one.takes),
            blocked_by="" if pod.spec.node_name else blocked_by,
        )

    def _tie(self, pod: Pod, name: str, *, is_own: bool) -> Ties:
        claim = self._claims.get((pod.metadata.namespace, name))
        if isinstance(pod, ExpectedPod) and claim is None:
            return FREE  # its claims may come with it
        if claim is None and is_own:
            text = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            return Ties(blocked_by=text)
        if claim is None:
            return Ties(blocked_by=f'persistentvolumeclaim "{name}" not found')
        if is_own and not owns(pod, claim):
            return Ties(blocked_by=f'persistentvolumeclaim "{name}" was not created for this pod: delete it')
        return self._bound(claim) if is_bound(claim) else self._unbound(claim)

    def _bound(self, claim: PersistentVolumeClaim) -> Ties:
        volume = self._volumes.get(claim.spec.volume_name)
        if volume is None:
            return Ties(blocked_by=f'persistentvolume "{claim.spec.volume_name}" not found')
        return _tied(volume)

    def _kept_for(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """The volume that names the claim already, and that its controller will bind to it."""
        meta = claim.metadata
        name = self._kept.get((meta.namespace, meta.name))
        volume = self._volumes.get(name) if name else None
        owner = volume.spec.claim_ref if volume else None
        return volume if owner is not None and owner.uid in {"", meta.uid} else None

    def _unbound(self, claim: PersistentVolumeClaim) -> Ties:
        name = claim.metadata.name
        if claim.metadata.deletion_timestamp is not None:
            return Ties(blocked_by=f'persistentvolumeclaim "{name}" is being deleted')
        made_by = self._classes.get(claim.spec.storage_class_name or "")
        if made_by is None or made_by.volume_binding_mode != WAITS:
            return Ties(blocked_by=f"pod has unbound immediate PersistentVolumeClaims: {name}")
        ref = Ref(PERSISTENT_VOLUME_CLAIM, name, claim.metadata.namespace, uid=claim.metadata.uid)
        if made_by.provisioner == NO_PROVISIONER:
            return self._by_hand(claim, ref)
        if node := claim.metadata.annotation(SELECTED_NODE):
            chosen = NodeSelectorTerm(match_fields=[LabelSelectorRequirement(NAME, "In", [node])])
            return Ties((NodeSelector([chosen]),))
        return Ties(allowed(made_by), waiting=(ref,))

    def _by_hand(self, claim: PersistentVolumeClaim, ref: Ref) -> Ties:
        demand = str(demand_of(claim))
        if kept := self._kept_for(claim):
            return _tied(kept)
        if takes := self.stock.takes(claim):
            return Ties(takes=takes, by_hand=(ByHand(ref, demand),))
        if chosen := self.stock.chosen(claim):
            return msgspec.structs.replace(_tied(chosen), by_hand=(ByHand(ref, demand, volume_ref(chosen)),))
        text = f'persistentvolumeclaim "{ref.name}" finds no free persistentvolume among {demand}: make one'
        return Ties(blocked_by=text)


def _tied(volume: PersistentVolume) -> Ties:
    affinity = volume.spec.node_affinity
    return Ties((affinity.required,)) if affinity and affinity.required else FREE


def owns(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    controller = claim.metadata.controller
    return controller is not None and controller.uid == pod.metadata.uid


def holder_of(volume: PersistentVolume) -> Key:
    """The claim that a volume names; no claim has the name of nothing."""
    owner = volume.spec.claim_ref
    return (owner.namespace, owner.name) if owner else ("", "")


def store(table: dict[Any, Any], key: object, new: Object | None) -> None:
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
    """Names of claims, and whether each is the pod's own: it comes after the pod, and goes with it."""
    for volume in pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name, False
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
