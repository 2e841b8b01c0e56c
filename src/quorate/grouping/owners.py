"""Who a pod belongs to: the chain of controllers from the pod to the top, over objects the caller fetched."""

from dataclasses import dataclass

from quorate.api.core import Pod
from quorate.api.meta import OwnerReference
from quorate.grouping.errors import MalformedError, NotFetchedError, UnresolvedError
from quorate.grouping.objects import Address, Objects, Owner, Unreadable, owner_from_json, owner_from_pod

LONGEST_CHAIN = 32


@dataclass(frozen=True, slots=True)
class Chain:
    """The owners of a pod, nearest first; `unreadable` is the one at which the walk had to stop."""

    owners: tuple[Owner, ...]
    unreadable: str = ""

    @property
    def top(self) -> Owner | None:
        return self.owners[-1] if self.owners else None


def walk(pod: Pod, objects: Objects) -> Chain:
    """Follow controllers upward; raises `NotFetchedError` for the first object that is missing here."""
    owners: list[Owner] = []
    at = owner_from_pod(pod)
    while reference := _next(at, is_pod=not owners):
        if len(owners) == LONGEST_CHAIN or any(owner.uid == reference.uid for owner in (at, *owners)):
            raise MalformedError(
                f"ownerReferences of {at} lead in a circle: remove the reference to {reference.name}"
            )
        address = Address(reference.api_version, reference.kind, pod.metadata.namespace, reference.name)
        found = objects.get(address.key)
        if found is None:
            raise NotFetchedError(address)
        if found is Unreadable.FORBIDDEN:
            return Chain(tuple(owners), f"{reference.kind} {reference.name}")
        at = _checked(address, reference, found)
        owners.append(at)
    return Chain(tuple(owners))


def _next(owner: Owner, *, is_pod: bool) -> OwnerReference | None:
    """The controller among the owners; without one, the only owner, and for a pod the first."""
    controller = next((found for found in owner.references if found.controller), None)
    if controller is not None or not owner.references:
        return controller
    if len(owner.references) > 1 and not is_pod:
        names = ", ".join(f"{found.kind} {found.name}" for found in owner.references)
        raise MalformedError(
            f"metadata.ownerReferences of {owner}: several owners ({names}), none is the controller"
        )
    return owner.references[0]


def _checked(address: Address, reference: OwnerReference, found: object) -> Owner:
    if not isinstance(found, dict):
        raise UnresolvedError(f"owner {address} does not exist: remove the reference or recreate the owner")
    owner = owner_from_json(found, address.namespace)
    if reference.uid and owner.uid and owner.uid != reference.uid:
        raise UnresolvedError(
            f"owner {address} is another object of that name: uid {owner.uid}, not {reference.uid}"
        )
    return owner
