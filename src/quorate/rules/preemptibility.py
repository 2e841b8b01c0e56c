"""Whether a gang may lose members to others, and which priority it has; every core asks here.

Precedence, first valid one wins: `spec.preemptibility`, the label on the top owner, the label on other owners
top down, the label on the pod, the default of the kind, and at last the priority: below 100 is preemptible.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from quorate.api.core import Pod, PriorityClass
from quorate.api.labels import PREEMPTIBILITY
from quorate.api.podgroup import PodGroup

PREEMPTIBLE_BELOW = 100
DEFAULT_PRIORITY = 50


class Preemptibility(StrEnum):
    PREEMPTIBLE = "preemptible"  # any member may go
    NON_PREEMPTIBLE = "non-preemptible"  # no member may go, so all of them count against the quota
    SEMI_PREEMPTIBLE = "semi-preemptible"  # members beyond the core may go


class Claim(NamedTuple):
    """A value somebody wrote: `where` is what people are told, such as `label on Job train/run`."""

    where: str
    value: str


class Resolved(NamedTuple):
    value: Preemptibility
    source: str
    warnings: tuple[str, ...] = ()


class Priority(NamedTuple):
    value: int
    warning: str = ""


def resolve(claims: Iterable[Claim], priority: int) -> Resolved:
    """Claims come in the order of precedence; empty ones do not count, invalid ones warn and do not count."""
    warnings: list[str] = []
    for claim in claims:
        if not claim.value:
            continue
        if claim.value in set(Preemptibility):
            return Resolved(Preemptibility(claim.value), claim.where, tuple(warnings))
        warnings.append(
            f'{claim.where}: "{claim.value}" is no value of {PREEMPTIBILITY}: use {", ".join(Preemptibility)}'
        )
    by_priority = (
        Preemptibility.PREEMPTIBLE if priority < PREEMPTIBLE_BELOW else Preemptibility.NON_PREEMPTIBLE
    )
    return Resolved(by_priority, f"priority {priority}", tuple(warnings))


def priority_of(class_name: str, classes: Mapping[str, PriorityClass]) -> Priority:
    """The value of the class, else of the cluster's default class, else 50."""
    found = classes.get(class_name)
    if found is not None:
        return Priority(found.value)
    default = next((each for _, each in sorted(classes.items()) if each.global_default), None)
    value = DEFAULT_PRIORITY if default is None else default.value
    if not class_name:
        return Priority(value)
    return Priority(value, f'PriorityClass "{class_name}" does not exist: priority {value} is used')


def of_podgroup(podgroup: PodGroup, pods: Sequence[Pod], classes: Mapping[str, PriorityClass]) -> Resolved:
    """For a PodGroup as it stands: what the grouper found on owners is in its spec and labels already."""
    priority = priority_of(podgroup.spec.priority_class_name, classes)
    by_name = sorted(pods, key=lambda pod: pod.metadata.name)
    labelled = next((pod for pod in by_name if pod.metadata.label(PREEMPTIBILITY)), None)
    claims = [
        Claim("spec.preemptibility", podgroup.spec.preemptibility),
        Claim("label on the PodGroup", podgroup.metadata.label(PREEMPTIBILITY)),
    ]
    if labelled is not None:
        claims.append(
            Claim(f"label on Pod {labelled.metadata.name}", labelled.metadata.label(PREEMPTIBILITY))
        )
    found = resolve(claims, priority.value)
    return found._replace(warnings=(*found.warnings, priority.warning)) if priority.warning else found
