"""The status of a PodGroup from its pods: counts, resources, phase, conditions.

Pure and stable: the same pods and the same previous status give an equal status, which is no change. The
scheduler writes `schedulingConditions`; here they are shown, and cleared once nothing waits.
"""

from collections.abc import Iterator, Mapping, Sequence

from quorate.api import timestamps
from quorate.api.core import Pod, PriorityClass
from quorate.api.labels import PREEMPTIBILITY
from quorate.api.meta import Condition, Kind
from quorate.api.podgroup import (
    PodGroup,
    PodGroupStatus,
    PreemptibilityStatus,
    ResourcesStatus,
    SchedulingCondition,
)
from quorate.plan import SetStatus
from quorate.rules.conditions import find, is_true, transitioned
from quorate.rules.membership import ACTIVE, MemberState, state_of, stray_text
from quorate.rules.preemptibility import Preemptibility, Resolved, of_podgroup, priority_of
from quorate.rules.statuschange import status_change
from quorate.rules.tree import ROOT, Tree, TreeError, build, core, satisfied
from quorate.rules.validity import validate
from quorate.status.amounts import shown
from quorate.status.members import Roll, core_holdings, holdings, requests, roll, table
from quorate.status.phase import life, reason
from quorate.status.shortfall import shortfall


def change(
    kind: Kind, podgroup: PodGroup, pods: Sequence[Pod], classes: Mapping[str, PriorityClass], now: float
) -> SetStatus | None:
    """What to write, if anything."""
    new = status_of(podgroup, pods, classes, now)
    return status_change(kind, podgroup, old=podgroup.status, new=new)


def status_of(
    podgroup: PodGroup, pods: Sequence[Pod], classes: Mapping[str, PriorityClass], now: float
) -> PodGroupStatus:
    stamp = timestamps.text(now)
    try:
        tree = build(podgroup)
    except TreeError as error:
        return _invalid(podgroup, pods, error, stamp)
    found = roll(tree, pods)
    active = found.by_leaf(ACTIVE)
    holds = satisfied(tree, active)
    refused = podgroup.status.scheduling_conditions if found.count(MemberState.PENDING) else None
    phase = life(podgroup, tree, found, holds=holds[ROOT], now=now)
    said = ((pod.metadata.name, pod.metadata.label(PREEMPTIBILITY)) for pod in pods)
    priority = priority_of(podgroup.spec.priority_class_name, classes)
    resolved = of_podgroup(podgroup, said, priority.value)
    short = "" if holds[ROOT] else shortfall(tree, active, holds)
    conditions = _conditions(podgroup, tree, found, short, refused)
    return PodGroupStatus(
        phase=phase,
        reason=reason(phase, found, refused, short),
        satisfied_groups=f"{sum(holds[leaf.name] for leaf in tree.leaves)}/{len(tree.leaves)}",
        active_members=f"{sum(active.values())}/{len(found.members)}",
        groups=table(tree, found, holds),
        resources_status=_resources(tree, found, active, resolved),
        preemptibility=PreemptibilityStatus(value=resolved.value, source=resolved.source),
        conditions=transitioned(conditions, podgroup.status.conditions, stamp),
        scheduling_conditions=refused,
        observed_generation=podgroup.metadata.generation,
    )


def _resources(tree: Tree, found: Roll, active: Mapping[str, int], resolved: Resolved) -> ResourcesStatus:
    allocated = holdings(found)
    protected: Mapping[str, int] = {}
    if resolved.value is Preemptibility.NON_PREEMPTIBLE:
        protected = allocated
    if resolved.value is Preemptibility.SEMI_PREEMPTIBLE:
        protected = core_holdings(found, core(tree, active))
    return ResourcesStatus(
        requested=shown(requests(found)),
        allocated=shown(allocated),
        allocated_non_preemptible=shown(protected),
    )


def _conditions(
    podgroup: PodGroup,
    tree: Tree,
    found: Roll,
    short: str,
    refused: list[SchedulingCondition] | None,
) -> Iterator[Condition]:
    yield _satisfied(podgroup, short)
    yield _scheduled(podgroup, started=not short and found.count(*ACTIVE) > 0)
    if refused:
        text = refused[-1].message
        yield _condition(podgroup, "Unschedulable", refused[-1].reason or "Unschedulable", text)
    faults = validate(podgroup.spec)
    if faults.errors:  # admission was bypassed, and the groups can be read all the same
        yield _condition(podgroup, "Invalid", "InvalidSpec", "; ".join(map(str, faults.errors)))
    impossible = "; ".join(fault.message for fault in faults.warnings)
    if impossible:
        yield _condition(podgroup, "MinimumImpossible", "MinimumImpossible", impossible)
    if found.strays:
        pod = found.strays[0]
        text = f"{len(found.strays)} pods are in no group; {pod.metadata.name}: {stray_text(tree, pod)}"
        yield _condition(podgroup, "StrayMembers", "UnknownSubGroup", text)


def _satisfied(podgroup: PodGroup, short: str) -> Condition:
    if short:
        return _condition(podgroup, "Satisfied", "BelowMinimum", short, status="False")
    return _condition(podgroup, "Satisfied", "MinimumsMet", "every required group has its minimum")


def _scheduled(podgroup: PodGroup, *, started: bool) -> Condition:
    """True from the first time that every minimum had its members on nodes, and for ever after."""
    before = find(podgroup.status.conditions, "Scheduled")
    if before is not None and is_true(podgroup.status.conditions, "Scheduled"):
        return before
    if started:
        return _condition(podgroup, "Scheduled", "GangScheduled", "every required group was placed")
    return _condition(
        podgroup, "Scheduled", "WaitingForPlacement", "the gang has not started", status="False"
    )


def _invalid(podgroup: PodGroup, pods: Sequence[Pod], error: TreeError, now: str) -> PodGroupStatus:
    invalid = _condition(podgroup, "Invalid", "InvalidTree", str(error))
    waits = any(state_of(pod) is MemberState.PENDING for pod in pods)
    return PodGroupStatus(
        phase="Pending",
        reason=str(error),
        conditions=transitioned([invalid], podgroup.status.conditions, now),
        scheduling_conditions=podgroup.status.scheduling_conditions if waits else None,
        observed_generation=podgroup.metadata.generation,
    )


def _condition(
    podgroup: PodGroup, kind: str, reason: str, message: str, *, status: str = "True"
) -> Condition:
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=message,
        observed_generation=podgroup.metadata.generation,
    )
