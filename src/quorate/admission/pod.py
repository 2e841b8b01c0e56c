"""What is doubtful about a pod of our scheduler: it is admitted in any case, since other parts may come later.

The webhook fails open for pods, so nothing here may be the only guard of anything.
"""

from collections.abc import Iterator

from quorate.admission.fields import missing
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api import labels
from quorate.api.core import Pod
from quorate.rules.membership import leaf_of, stray_text
from quorate.rules.preemptibility import Preemptibility
from quorate.rules.tree import TreeError, build
from quorate.rules.validity import Cause, Fault, Findings


def review(new: Pod, old: Pod | None = None, around: Surroundings = NOTHING_KNOWN) -> Findings:
    del old  # membership may change until the pod is bound
    return Findings((), (*_label_warnings(new), *_membership_warnings(new, around)))


def _label_warnings(new: Pod) -> Iterator[Fault]:
    said = new.metadata.label(labels.PREEMPTIBILITY)
    if said and said not in set(Preemptibility):
        text = f'"{said}" is passed over: write one of {", ".join(Preemptibility)}'
        yield Fault(f"metadata.labels.{labels.PREEMPTIBILITY}", text, Cause.VALUE)


def _membership_warnings(new: Pod, around: Surroundings) -> Iterator[Fault]:
    name = new.metadata.annotation(labels.POD_GROUP_NAME)
    if not name or around.podgroups is None or _is_grouped(new):
        return
    podgroup = around.podgroups.get(f"{new.metadata.namespace}/{name}")
    if podgroup is None:
        text = f'PodGroup "{name}" does not exist in namespace {new.metadata.namespace}: the pod waits for it'
        yield missing(f"metadata.annotations.{labels.POD_GROUP_NAME}", text)
        return
    try:
        tree = build(podgroup)
    except TreeError:
        return  # the PodGroup's own status says so
    if leaf_of(tree, new) is None:
        yield missing(f"metadata.labels.{labels.SUB_GROUP_NAME}", stray_text(tree, new))


def _is_grouped(new: Pod) -> bool:
    """Whether the grouper sees to the gang, which it may make or change only after its pods."""
    return bool(new.metadata.owner_references) and new.metadata.annotation(labels.SKIP_POD_GROUPER) != "true"
