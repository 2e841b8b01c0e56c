"""Says what is wrong with a plan, from what the cluster held before and holds after: shares no code with `decide`.

1. No node and no queue limit is over-committed; what may not be taken back is within every quota.
2. Whoever starts, every group above them is satisfied and in one domain, and enough gangs of a composite start at once.
3. Protected members are never victims, and no victim could have stayed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from quorate.api import labels
from quorate.api.core import Pod
from quorate.plan import Evict, Plan
from tests.fakes.clusters import LEVELS, Cluster, Group

Seats = dict[str, str]  # node by pod
Path = tuple[str, str]  # gang and group


def seats(cluster: Cluster) -> Seats:
    """Where the pods are that run and are not about to leave."""
    return {
        name: pod.spec.node_name
        for name, pod in cluster.pods.items()
        if pod.spec.node_name and not pod.is_deleting
    }


def faults(cluster: Cluster, before: Seats, plan: Plan) -> Iterator[str]:
    after = seats(cluster)
    started = after.keys() - before.keys()
    yield from _over_committed(cluster)
    yield from _started_wrongly(cluster, before, after, started)
    yield from _started_apart(cluster, before, after)
    yield from _over_limit(cluster, before, after)
    yield from _over_quota(cluster, before, after, started)
    yield from _protected(cluster, before, after, plan)
    yield from _to_spare(cluster, before, after, plan)
    yield from _beyond_budget(cluster, before, plan)


def free(cluster: Cluster, placed: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """GPUs and CPUs that are left on each node."""
    left = {name: [gpus, cluster.cpus[name]] for name, gpus in cluster.nodes.items()}
    for name, node in placed.items():
        group = group_of(cluster, cluster.pods[name])
        if node in left:
            left[node][0] -= group.gpus
            left[node][1] -= group.cpus
    return {name: (gpus, cpus) for name, (gpus, cpus) in left.items()}


def group_of(cluster: Cluster, pod: Pod) -> Group:
    return cluster.groups[pod.metadata.label("gang")][pod.metadata.label("group")]


def children(cluster: Cluster, gang: str, name: str) -> list[Group]:
    return [one for one in cluster.groups[gang].values() if one.name and one.parent == name]


def members(cluster: Cluster, placed: Iterable[str]) -> Counter[Path]:
    """Pods by group, those below included."""
    found = Counter[Path]()
    for name in placed:
        labels = cluster.pods[name].metadata
        gang, group = labels.label("gang"), labels.label("group")
        found[gang, group] += 1
        while group:
            group = cluster.groups[gang][group].parent
            found[gang, group] += 1
    return found


def is_satisfied(cluster: Cluster, counts: Mapping[Path, int], gang: str, name: str) -> bool:
    group, below = cluster.groups[gang][name], children(cluster, gang, name)
    default = 0 if below or name else 1
    needed = len(below) if group.min_sub_group is None else group.min_sub_group
    held = sum(is_satisfied(cluster, counts, gang, child.name) for child in below)
    least = default if group.min_member is None else group.min_member
    return counts.get((gang, name), 0) >= least and held >= needed


def spans(cluster: Cluster, placed: Mapping[str, str], gang: str, group: Group) -> bool:
    """Whether members of a group lie in more than one domain of the level that it requires."""
    if not group.required:
        return False
    domains = set()
    for name, node in placed.items():
        if (gang, group.name) in members(cluster, [name]):
            places = cluster.places[node]
            domains.add(tuple(places[one] for one in LEVELS[: LEVELS.index(group.required) + 1]))
    return len(domains) > 1


def held(cluster: Cluster, placed: Iterable[str]) -> Counter[str]:
    """GPUs by queue, those of queues below included."""
    found = Counter[str]()
    for name in placed:
        pod = cluster.pods[name]
        queue = cluster.podgroups[pod.metadata.label("gang")].spec.queue
        while queue:
            found[queue] += group_of(cluster, pod).gpus
            queue = cluster.queues[queue].parent
    return found


def _over_committed(cluster: Cluster) -> Iterator[str]:
    """Pods that leave hold their seats still."""
    everybody = {name: pod.spec.node_name for name, pod in cluster.pods.items() if pod.spec.node_name}
    left = free(cluster, everybody)
    yield from (f"{name} is over-committed" for name, amounts in left.items() if min(amounts) < 0)


def _started_wrongly(cluster: Cluster, before: Seats, after: Seats, started: Iterable[str]) -> Iterator[str]:
    counts = members(cluster, after)
    for gang, name in sorted(members(cluster, started)):
        group = cluster.groups[gang][name]
        if not is_satisfied(cluster, counts, gang, name):
            yield f"{gang}/{name} got members but is below its minimum"
        if spans(cluster, after, gang, group) and not spans(cluster, before, gang, group):
            yield f"{gang}/{name} spans more than one {group.required}"


def _beyond_budget(cluster: Cluster, before: Seats, plan: Plan) -> Iterator[str]:
    gone = Counter(
        cluster.pods[change.pod.name].metadata.label("gang")
        for change in plan.changes
        if isinstance(change, Evict)
    )
    there = Counter(cluster.pods[name].metadata.label("gang") for name in before)
    for gang, least in cluster.budgets.items():
        if gone[gang] > max(there[gang] - least, 0):
            yield f"{gone[gang]} of {there[gang]} members of {gang} are evicted, and {least} must stay"


def _started_apart(cluster: Cluster, before: Seats, after: Seats) -> Iterator[str]:
    """A gang without a minimum counts as it is."""
    was, now = (members(cluster, placed) for placed in (before, after))
    for name, needed in cluster.composites.items():
        gangs = [
            gang
            for gang, one in cluster.podgroups.items()
            if one.metadata.label(labels.COMPOSITE_GROUP) == name
        ]
        has_started, starts = (any(counts[gang, ""] for gang in gangs) for counts in (was, now))
        held = sum(is_satisfied(cluster, now, gang, "") for gang in gangs)
        if starts and not has_started and held < (needed or 0):
            yield f"composite {name} started with {held} gangs where {needed} must start together"


def _over_limit(cluster: Cluster, before: Seats, after: Seats) -> Iterator[str]:
    was, now = held(cluster, before), held(cluster, after)
    for name, queue in cluster.queues.items():
        if 0 <= queue.limit < now[name] and now[name] > was[name]:
            yield f"queue {name} holds {now[name]} with a limit of {queue.limit}"


def _over_quota(cluster: Cluster, before: Seats, after: Seats, started: Iterable[str]) -> Iterator[str]:
    """What starts and cannot be taken back is within quota together with all that is like it."""
    was, now = held(cluster, kept(cluster, before)), held(cluster, kept(cluster, after))
    fresh = held(cluster, set(kept(cluster, after)) & set(started))
    for name, queue in cluster.queues.items():
        if 0 <= queue.quota < now[name] and now[name] > was[name] and fresh[name]:
            yield f"queue {name} keeps {now[name]} for good with a quota of {queue.quota}"


def kept(cluster: Cluster, placed: Iterable[str]) -> list[str]:
    """Members that may not be taken: all of non-preemptible gangs, the core of others."""
    found = []
    counts = members(cluster, placed)
    for gang, podgroup in cluster.podgroups.items():
        mine = [name for name in placed if cluster.pods[name].metadata.label("gang") == gang]
        if podgroup.spec.preemptibility == "non-preemptible":
            found += mine
        elif podgroup.spec.preemptibility == "semi-preemptible":
            core = _core(cluster, counts, gang, "")
            for name in mine:
                leaf = cluster.pods[name].metadata.label("group")
                if core[leaf] > 0:
                    core[leaf] -= 1
                    found.append(name)
    return found


def _core(cluster: Cluster, counts: Mapping[Path, int], gang: str, name: str) -> Counter[str]:
    """Members by leaf: K satisfied children, then spec order; further members in order up to `minMember`."""
    group, below = cluster.groups[gang][name], children(cluster, gang, name)
    if not below:
        least = (0 if name else 1) if group.min_member is None else group.min_member
        return Counter({name: min(least, counts.get((gang, name), 0))})
    ranked = sorted(below, key=lambda one: not is_satisfied(cluster, counts, gang, one.name))
    needed = len(below) if group.min_sub_group is None else group.min_sub_group
    found = Counter[str]()
    for child in ranked[:needed]:
        found += _core(cluster, counts, gang, child.name)
    for child in ranked:
        for leaf in _leaves(cluster, gang, child.name):
            more = min((group.min_member or 0) - found.total(), counts.get((gang, leaf), 0) - found[leaf])
            found[leaf] += max(more, 0)
    return found


def _leaves(cluster: Cluster, gang: str, name: str) -> Iterator[str]:
    below = children(cluster, gang, name)
    if not below:
        yield name
    for child in below:
        yield from _leaves(cluster, gang, child.name)


def _protected(cluster: Cluster, before: Seats, after: Seats, plan: Plan) -> Iterator[str]:
    counts_before, counts_after = members(cluster, before), members(cluster, after)
    for change in plan.changes:
        if not isinstance(change, Evict) or change.reason == "StaleGang":
            continue
        gang = cluster.pods[change.pod.name].metadata.label("gang")
        kind = cluster.podgroups[gang].spec.preemptibility
        if kind == "non-preemptible":
            yield f"{change.pod.name} of a non-preemptible gang was evicted"
        if kind == "semi-preemptible":
            held_before = is_satisfied(cluster, counts_before, gang, "")
            if held_before and not is_satisfied(cluster, counts_after, gang, ""):
                yield f"{change.pod.name} broke the core of {gang}"


def _to_spare(cluster: Cluster, before: Seats, after: Seats, plan: Plan) -> Iterator[str]:
    """Victims that could have stayed where they were beside everybody who runs or waits for a held seat."""
    victims = [change.pod.name for change in plan.changes if isinstance(change, Evict)]
    nominated = {
        name: pod.status.nominated_node_name
        for name, pod in cluster.pods.items()
        if pod.status.nominated_node_name and not pod.spec.node_name
    }
    seated = {**after, **nominated}
    reasons = {change.pod.name: change.reason for change in plan.changes if isinstance(change, Evict)}
    for unit in units(cluster, victims, after):
        back = {**seated, **{name: before[name] for name in unit}}
        if any(reasons[name] == "StaleGang" for name in unit):
            continue
        if all(min(amounts) >= 0 for amounts in free(cluster, back).values()) and not list(
            _over_limit(cluster, after, back)
        ):
            yield f"{', '.join(sorted(unit))} could have stayed"


def units(cluster: Cluster, victims: list[str], after: Seats) -> Iterator[set[str]]:
    """Sets of victims whose staying alone would leave their gang whole."""
    for path in sorted(members(cluster, victims)):
        mine = {one for one in victims if path in members(cluster, [one])}
        for unit in (mine, *({one} for one in mine)):
            counts = members(cluster, [*after, *unit])
            touched = members(cluster, unit)
            if all(is_satisfied(cluster, counts, *one) for one in touched):
                yield unit
