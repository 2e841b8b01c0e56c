"""Claims that wait for the node of their first pod learn it with the pod's binding, as their provisioner wants it.

A claim that a crash left untold is told in the next cycle: its pod is bound by then.
"""

from collections.abc import Iterable, Iterator

from quorate.plan import Bind, Change, Patch, Ref
from quorate.scheduling.cycle import Cycle

SELECTED_NODE = "volume.kubernetes.io/selected-node"


def told(cycle: Cycle, binds: Iterable[Bind]) -> Iterator[Change]:
    """The binds, and before them what their claims are told; a shared claim gets the node of its first pod."""
    waiting = {one.pod: one.claims for one in cycle.snapshot.unbound}
    nodes = {claim: one.node for one in cycle.snapshot.unbound if one.node for claim in one.claims}
    yield from (_selected(claim, node) for claim, node in nodes.items())
    for bind in binds:
        for claim in waiting.get(bind.pod, ()):
            if claim not in nodes:
                nodes[claim] = bind.node
                yield _selected(claim, bind.node)
        yield bind


def _selected(claim: Ref, node: str) -> Patch:
    return Patch(claim, {"metadata": {"annotations": {SELECTED_NODE: node}}})
