"""Claims that wait for the node of their first pod learn it with the pod's binding.

1. A claim whose volume is made for it names the node, as its provisioner wants it.
2. A volume made by hand names the claim that takes it, and its controller binds the two: the smallest that is free on
   the node, or the one that was chosen beforehand.
3. What a crash left unsaid is said in the next cycle: the pod is bound by then.
"""

from collections.abc import Iterable, Iterator

from quorate.api.storage import BOUND_BY_CONTROLLER, SELECTED_NODE
from quorate.plan import Bind, Change, Patch, Ref
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.snapshot import ByHand, Snapshot, Unbound


def told(cycle: Cycle, binds: Iterable[Bind]) -> Iterator[Change]:
    """The binds, and before them what their claims need; a shared claim gets the node of its first pod."""
    waiting = {one.pod: one for one in cycle.snapshot.unbound}
    known: set[Ref] = set()  # claims that were told, and volumes that are given away
    for one in waiting.values():
        if one.node:
            yield from _told(cycle.snapshot, one, one.node, known)
    for bind in binds:
        if bind.pod in waiting:
            yield from _told(cycle.snapshot, waiting[bind.pod], bind.node, known)
        yield bind


def _told(snapshot: Snapshot, pod: Unbound, node: str, known: set[Ref]) -> Iterator[Patch]:
    """What is written for the claims of one pod that are not in `known` yet."""
    for claim in pod.claims:
        if claim not in known:
            known.add(claim)
            yield Patch(claim, {"metadata": {"annotations": {SELECTED_NODE: node}}})
    for one in pod.by_hand:
        free = (one.volume,) if one.volume else snapshot.stock.get((one.demand, node), ())
        volume = next((each for each in free if each not in known), None)
        if volume is not None and one.claim not in known:
            known |= {one.claim, volume}
            yield _held(volume, one)


def _held(volume: Ref, one: ByHand) -> Patch:
    claim = one.claim
    holder = {"apiVersion": claim.kind.api_version, "kind": claim.kind.kind, "uid": claim.uid}
    body = {"claimRef": {**holder, "namespace": claim.namespace, "name": claim.name}}
    return Patch(volume, {"metadata": {"annotations": {BOUND_BY_CONTROLLER: "yes"}}, "spec": body})
