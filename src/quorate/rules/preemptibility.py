"""Whether a gang may lose members to others, and which priority it has; every core asks here.

Precedence, first valid one wins: `spec.preemptibility`, the label on the top owner, the label on other owners
top down, the label on the pod, the default of the kind, and at last the priority: below 100 is preemptible.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from quorate.api.core import PriorityClass
from quorate.api.labels import PREEMPTIBILITY, PREEMPTIBILITY_FROM
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


def of_podgroup(podgroup: PodGroup, said: Iterable[tuple[str, str]], priority: int) -> Resolved:
    """For a PodGroup as it stands; `said` are names of its pods with what their labels say.

    What the grouper found on owners is in the spec already, with an annotation that tells where it was.
    """
    name, label = min((one for one in said if one[1]), default=("", ""))
    meta, value = podgroup.metadata, podgroup.spec.preemptibility
    claims = (
        Claim(meta.annotation(PREEMPTIBILITY_FROM) or "spec.preemptibility", value),
        Claim("label on the PodGroup", meta.label(PREEMPTIBILITY)),
        Claim(f"label on Pod {name}", label),
    )
    return resolve(claims, priority)
