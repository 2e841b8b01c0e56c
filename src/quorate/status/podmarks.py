"""What a pod that waits is told: its condition PodScheduled is false, with the refusal of its gang.

Autoscalers look for this condition, and people find it with `kubectl describe pod`. The binding makes it true.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from quorate.api import timestamps
from quorate.api.core import POD, Pod
from quorate.api.labels import POD_GROUP_NAME
from quorate.api.meta import Condition
from quorate.api.podgroup import PodGroup
from quorate.plan import Ref, SetStatus
from quorate.rules.conditions import find, transitioned
from quorate.rules.membership import MemberState, leaf_of, state_of, stray_text
from quorate.rules.tree import Tree, TreeError, build

SCHEDULED = "PodScheduled"


class Mark(NamedTuple):
    """`is_first` if the pod has not been told anything yet; otherwise it is told in other words."""

    change: SetStatus
    is_first: bool


def marks(podgroup: PodGroup, pods: Sequence[Pod], now: float) -> Iterator[Mark]:
    """For the pods of a gang that wait for a node; nothing for those that show it already."""
    if podgroup.spec.mark_unschedulable is False:
        return
    try:
        tree, broken = build(podgroup), ""
    except TreeError as error:
        tree, broken = Tree({}), str(error)
    refused = broken or next((one.message for one in podgroup.status.scheduling_conditions or ()), "")
    for pod in filter(waits, pods):
        is_stray = not broken and leaf_of(tree, pod) is None
        text = stray_text(tree, pod) if is_stray else refused
        if text:
            yield from _mark(pod, text, now)


def lost(pods: Iterable[Pod], now: float) -> Iterator[Mark]:
    """For the pods that wait and name a PodGroup which is not there."""
    for pod in filter(waits, pods):
        name = f"{pod.metadata.namespace}/{pod.metadata.annotation(POD_GROUP_NAME)}"
        cure = f"create it, or name another in the annotation {POD_GROUP_NAME}"
        yield from _mark(pod, f"PodGroup {name} does not exist: {cure}", now)


def waits(pod: Pod) -> bool:
    """Whether the pod may be given a node and has none."""
    return state_of(pod) is MemberState.PENDING and not pod.is_gated


def _mark(pod: Pod, text: str, now: float) -> Iterator[Mark]:
    before = find(pod.status.conditions, SCHEDULED)
    if before is not None and (before.status, before.message) == ("False", text):
        return
    wanted = Condition(type=SCHEDULED, status="False", reason="Unschedulable", message=text)
    others = [one for one in pod.status.conditions or () if one.type != SCHEDULED]
    shown = [*others, *transitioned([wanted], pod.status.conditions, timestamps.text(now))]
    meta = pod.metadata
    target = Ref(POD, meta.name, meta.namespace, meta.uid, meta.resource_version)
    yield Mark(SetStatus(target, {"conditions": msgspec.to_builtins(shown)}), is_first=before is None)
