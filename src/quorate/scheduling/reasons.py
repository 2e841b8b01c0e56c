"""The words of refusals and evictions: upstream's texts, made from the numbers that prove them.

Amounts are shown in the units people use: CPU cores, GB of memory, GPUs; other resources by their own name.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import inf
from typing import NamedTuple

from quorate.scheduling.gates import Gate, Stop
from quorate.scheduling.snapshot import CPU, GPU, MEMORY, RESOURCES, SHARED

FOREVER = 2.5e11  # beyond the years that a date can be written for
NOT_ENOUGH = "Not enough resources for the workload"
UNABLE = "Unable to schedule podgroup"

_LABELS = {RESOURCES[CPU]: "CPU cores", RESOURCES[MEMORY]: "memory", RESOURCES[GPU]: "GPUs", "pods": "pods"}
_STOPS = {CPU: ("CPU cores", "CPU cores"), MEMORY: ("memory", "GB"), GPU: ("GPUs", "GPUs")}
_BYTE_LIKE = ("memory", "ephemeral-storage", "hugepages-")


def label(resource: str) -> str:
    return _LABELS.get(resource, resource)


def in_units(resource: str, amount: float) -> float:
    """An amount of the snapshot in the unit it is shown in."""
    if resource == "pods":
        return amount
    return amount / (1e9 if resource.startswith(_BYTE_LIKE) else 1e3)


def shown(resource: str, amount: float) -> str:
    return f"{in_units(resource, amount):.3f}".rstrip("0").rstrip(".")


def stop_text(stop: Stop, queue: str) -> str:
    """Why a queue cannot take a gang."""
    resource = int(SHARED[stop.column])
    noun, unit = _STOPS[resource]
    name = RESOURCES[resource]
    bound, held, asked = (shown(name, amount) for amount in (stop.bound, stop.held, stop.requested))
    if stop.gate is Gate.LIMIT:
        return (
            f"{queue} quota has reached the allowable limit of {noun}. Limit is {bound} {unit}, "
            f"currently {held} {unit} allocated and workload requested {asked} {unit}"
        )
    return (
        f"Non-preemptible workload is over quota. Workload requested {asked} {unit}, "
        f"but {queue} quota is {bound} {unit}, while {held} {unit} are already allocated for "
        "non-preemptible pods. Use a preemptible workload to go over quota."
    )


def stop_numbers(stop: Stop, queue: str) -> dict[str, str | float]:
    """The same for programs, in the same units."""
    resource = RESOURCES[int(SHARED[stop.column])]
    names = {
        Gate.LIMIT: ("limit", "allocated"),
        Gate.QUOTA: ("quota", "allocatedNonPreemptible"),
    }
    amounts = zip((*names[stop.gate], "requested"), (stop.bound, stop.held, stop.requested), strict=True)
    return {"queue": queue, **{name: in_units(resource, amount) for name, amount in amounts}}


def node_lacks(resource: str) -> str:
    return f"node(s) didn't have enough resources: {label(resource)}"


def node_lacks_in_detail(resource: str, *, requested: float, used: float, capacity: float) -> str:
    numbers = (shown(resource, requested), shown(resource, used), shown(resource, capacity))
    return "Node didn't have enough resources: {}, requested: {}, used: {}, capacity: {}".format(
        label(resource), *numbers
    )


def domain_lacks(resource: str) -> str:
    return f"node-group(s) didn't have enough resources: {label(resource)}"


def domain_lacks_in_detail(domain: str, resource: str, *, requested: float, available: float) -> str:
    noun = "resources" if resource in {RESOURCES[CPU], RESOURCES[MEMORY]} else "resource"
    return (
        f"{domain} didn't have enough {noun}: {label(resource)}, "
        f"requested: {shown(resource, requested)}, available: {shown(resource, available)}"
    )


def nodes_lack(counts: Iterable[tuple[str, int]]) -> str:
    """What keeps a pod from every node: how many nodes for which cause, most frequent first."""
    ranked = sorted(counts, key=lambda item: (-item[1], item[0]))
    return "no nodes with enough resources were found: " + ", ".join(
        f"{count} {cause}" for cause, count in ranked
    )


def taint(key: str, value: str) -> str:
    return f"{{{key}: {value}}}" if value else f"{{{key}}}"


def pod_refused(pod: str, cause: str) -> str:
    return f"Resources were not found for pod {pod} due to: {cause}"


def gang_short(found: int, required: int, cause: str) -> str:
    return (
        f"Resources were found for {found} pods while {required} are required for gang scheduling. "
        f"Additional pods cannot be scheduled due to: {cause}"
    )


def group_short(found: int, group: str, required: int, cause: str) -> str:
    return (
        f"Resources were found for {found} pods from all sub-groups while sub-group {group} requires "
        f"{required} pods for gang scheduling. Additional pods cannot be scheduled in this sub-group "
        f"due to: {cause}"
    )


def not_together(pods: int) -> str:
    return f"Each of {pods} pods finds resources, but there is no place for all of them together"


def domain_holds(domain: str, found: int, required: int) -> str:
    return f"node-group {domain} can allocate only {found} of {required} required pods"


def no_domain(labels: Sequence[str]) -> str:
    return f"no node carries the labels of all its levels ({', '.join(labels)})"


def level_missed(topology: str, level: str, gang: str, group: str) -> str:
    where = f", subgroup {group}" if group else ""
    return f"topology {topology}, requirement {level} couldn't be satisfied for job <{gang}>{where}"


class Finding(NamedTuple):
    """Where a group came near: a domain of the topology or a node, and what it lacks."""

    group: str
    detail: str
    domain: str = ""


def unable(findings: Iterable[Finding]) -> str:
    """All that was tried, one line each in alphabetical order."""
    lines = sorted(line(finding) for finding in findings)
    if not lines:
        return UNABLE
    return "\n".join([f"\n{head(len(lines))}.", *(f"{one}." for one in lines)])


def head(findings: int) -> str:
    """What is said above so many findings."""
    return NOT_ENOUGH if findings == 1 else UNABLE


def summed(messages: Iterable[str]) -> list[str]:
    """Each message once, in alphabetical order, with how many say it if several do."""
    return sorted(f"{count} {text}" if count > 1 else text for text, count in Counter(messages).items())


def line(finding: Finding) -> str:
    domain = f"<{finding.domain}>: " if finding.domain else ""
    group = f"subgroup {finding.group}: " if finding.group else ""
    return f"{domain}{group}{finding.detail}"


def preempted(pod: str, gang: str) -> str:
    return f"Pod {pod} was preempted by higher priority workload {gang}"


def delayed(refusal: str, ends: float) -> str:
    if ends >= FOREVER:
        return f"{refusal}. It never takes from others (spec.preemptionDelay)"
    moment = datetime.fromtimestamp(ends, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{refusal}. It takes from others after {moment} (spec.preemptionDelay)"


def guarded(budgets: Sequence[str]) -> str:
    return f"Others could make room, but too few of them may be evicted now: PodDisruptionBudget {', '.join(budgets)}"


def reclaimed(pod: str, gang: str, uses: Iterable[str]) -> str:
    return "\n".join([f"Pod {pod} was preempted by workload {gang}.", *uses])


def moved(pod: str, gang: str) -> str:
    return f"Pod {pod} was evicted to make room for workload {gang}; there is room for it elsewhere"


def queue_use(
    queue: str,
    resources: Sequence[str],
    held: Sequence[float],
    quota: Sequence[float],
    fair: Sequence[float],
    priority: int,
) -> str:
    """What a queue uses of what it is granted."""
    return (
        f"{queue} uses <{_amounts(resources, held)}> with a quota of <{_amounts(resources, quota)}>, "
        f"fair-share of <{_amounts(resources, fair)}> and queue priority of <{priority}>."
    )


def _amounts(resources: Sequence[str], amounts: Sequence[float]) -> str:
    return ", ".join(
        f"{label(name)}: {'unlimited' if amount == inf else shown(name, amount)}"
        for name, amount in zip(resources, amounts, strict=True)
    )


def stale(pod: str, minimum: int) -> str:
    return (
        f"Workload doesn't meet the minimum required number of pods ({minimum}), "
        f"evicting remaining pod: {pod}"
    )
