"""The cluster at one revision, as arrays: the only thing a decision reads, built by `encode`.

1. Rows are sorted by name once, here in `encode`; nothing later sorts strings, ties break by index.
2. Arrays are read-only. What a decision changes lives in a `Trial`.
3. Amounts are int64: CPU and every other resource in milli-units, memory and storage in bytes. Capacity is
   rounded down, requests are rounded up.
4. `NONE` (-1) stands for "no such row" in every index column.
5. Groups stand in preorder: the subtree of group `x` is the slice `x:end[x]` of groups, and its pods are the
   slice `first_pod[x]:last_pod[x]` of pods. The root of gang `g` is group `gangs.root[g]`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from quorate.plan import Ref
from quorate.scheduling.request import Request, Taint

Ints = npt.NDArray[np.int64]
Smalls = npt.NDArray[np.signedinteger]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

NONE = -1
UNLIMITED = -1

# The first rows of the resource axis, in every snapshot; further resources follow by name.
CPU, MEMORY, PODS, GPU = range(4)
RESOURCES = ("cpu", "memory", "pods", "nvidia.com/gpu")
# The columns of the queue arrays, as rows of the resource axis.
SHARED = np.array([CPU, MEMORY, GPU])


class State(IntEnum):
    """What a pod is to the scheduler; failed pods are not in the snapshot."""

    PENDING = 0  # wants a node
    GATED = 1  # exists, but a scheduling gate holds it: not a live member yet
    ACTIVE = 2  # bound or running: holds its node
    RELEASING = 3  # being deleted: holds its node still, counts no longer
    SUCCEEDED = 4  # done: holds nothing, counts as active for `satisfied`


class Preemptibility(IntEnum):
    PREEMPTIBLE = 0
    SEMI = 1  # the core is protected, extras are not
    NON = 2


@dataclass(frozen=True, eq=False)
class Labels:
    """One node label as a column: `ids[n]` points into `values`, `NONE` where the node lacks it."""

    values: tuple[str, ...]
    index: dict[str, int]  # of `values`
    ids: Ints


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes sorted by name. N nodes, R resources."""

    names: tuple[str, ...]
    allocatable: Ints  # [R, N]
    used: Ints  # [R, N] held by every pod with this node, also foreign and releasing ones
    releasing: Ints  # [R, N] the part of `used` that pods being deleted give back
    schedulable: Bools  # [N] ready; a cordon is a taint
    taints: Ints  # [N] index into taint_sets
    taint_sets: tuple[tuple[Taint, ...], ...]
    labels: dict[str, Labels]
    foreign: Ints  # [R] held by pods that no gang of ours owns, on schedulable nodes

    @cached_property
    def largest(self) -> list[int]:
        """The most that one node has of each resource."""
        most: list[int] = self.allocatable.max(axis=1, initial=1).tolist()
        return most


@dataclass(frozen=True, eq=False)
class Level:
    """One level of a Topology: which domain each node lies in.

    Domains are numbered by their path of names, so that equal rack names in two zones stay two domains. A
    node that lacks a label of any level of the topology is outside (`NONE`) at every level.
    """

    topology: str
    label: str
    alias: str
    domains: tuple[str, ...]  # display names, `zone-a/rack-1`
    of_node: Ints  # [N]

    def nodes(self, domain: int) -> Ints:
        """The nodes of a domain, in order."""
        order, first = self._by_domain
        return order[first[domain] : first[domain + 1]]

    @cached_property
    def sizes(self) -> Ints:
        """How many nodes each domain has."""
        return np.diff(self._by_domain[1])

    @cached_property
    def _by_domain(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.of_node, kind="stable")
        return order, np.searchsorted(self.of_node[order], np.arange(len(self.domains) + 1))


@dataclass(frozen=True, eq=False)
class Pods:
    """Pods of gangs in the order gang, leaf, member order; then pods without a gang (`gang` = NONE)."""

    refs: tuple[Ref, ...]
    gang: Ints
    leaf: Ints  # group row
    shape: Ints  # row of `shapes`
    node: Ints  # where it is; NONE if pending or if its node vanished
    state: Ints  # a `State`
    nominated: Ints  # node a former cycle held for it, NONE if none
    is_core: Bools  # active members that a semi-preemptible gang may not lose
    announcer: Ints  # the pod that announced one that does not exist yet; NONE: it exists
    is_guarded: Bools  # a disruption budget has just refused its eviction
    budget: Ints  # row of `budgets`, NONE

    @cached_property
    def is_expected(self) -> Bools:
        """Pods that do not exist yet: active where a seat is held for them, and never written to."""
        found: Bools = self.announcer != NONE
        return found

    @cached_property
    def stays(self) -> Bools:
        """Pods that nobody may take now."""
        found: Bools = self.is_core | self.is_guarded
        return found

    @cached_property
    def has_nominated(self) -> bool:
        return bool((self.nominated != NONE).any())


@dataclass(frozen=True, eq=False)
class Groups:
    """Every group of every gang, preorder inside a gang, children in spec order."""

    names: tuple[str, ...]  # path inside the gang, "" for a root
    gang: Ints
    parent: Ints  # group row, NONE for a root
    end: Ints  # one past the last row of the subtree
    first_pod: Ints
    last_pod: Ints
    min_member: Ints  # leaf: its minimum; inner: minimum over descendants, 0 = none asked
    min_subgroup: Ints  # inner: children needed (all where the spec leaves it out); leaf: 0
    active: Ints  # pods of the subtree that are ACTIVE or SUCCEEDED
    required: Ints  # row of `levels`, NONE = no constraint, UNKNOWN = names no known level
    preferred: Ints

    @cached_property
    def depth(self) -> Ints:
        """How many groups are above each."""
        depth = np.zeros(len(self.parent), dtype=np.int64)
        above = self.parent
        while (above != NONE).any():
            depth += above != NONE
            above = np.where(above == NONE, NONE, self.parent[above])
        return depth

    def is_leaf(self, group: int) -> bool:
        return bool(self.end[group] == group + 1)

    def children(self, group: int) -> Iterator[int]:
        """The direct children in spec order."""
        child, end = group + 1, int(self.end[group])
        while child < end:
            yield child
            child = int(self.end[child])


UNKNOWN = -2  # a topology level that no Topology has
ABSENT = 2**31 - 1  # the minimum of a composite that does not exist or has no top above it


@dataclass(frozen=True, eq=False)
class Gangs:
    """Gangs sorted by namespace/name. Times are epoch seconds; NaN = never."""

    refs: tuple[Ref, ...]
    root: Ints  # group row
    queue: Ints  # queue row, NONE if it does not exist
    queue_names: tuple[str, ...]  # as the spec names it, for refusals
    priority: Ints
    preemptibility: Ints  # a `Preemptibility`
    created: Floats
    last_start: Floats
    last_evicted: Floats
    stale_since: Floats
    staleness_grace: Floats  # seconds; NaN = the policy's, negative = never evicted
    preemption_delay: Floats  # seconds, 0 = none
    composite: Ints  # row of `composites`, NONE
    is_held_back: Bools  # schedulingBackoff: refused before, waits for a change


@dataclass(frozen=True, eq=False)
class Composites:
    """CompositePodGroups: a gang of gangs whose minimum gates the start only."""

    refs: tuple[Ref, ...]
    parent: Ints
    minimum: Ints  # members (gangs or composites) that must start together; ABSENT: none may
    required: Ints
    preferred: Ints
    spread: Ints  # composites of one number keep to different domains where they can; NONE


@dataclass(frozen=True, eq=False)
class Queues:
    """Queues sorted by name. Q queues; the resource columns are `SHARED` (CPU, memory, GPU)."""

    names: tuple[str, ...]
    display_names: tuple[str, ...]
    parent: Ints  # [Q] NONE for a top queue; orphans and cycles are not in the snapshot
    quota: Ints  # [Q, 3] UNLIMITED = -1
    limit: Ints  # [Q, 3] UNLIMITED = -1
    weight: Floats  # [Q, 3] over-quota weight
    priority: Ints  # [Q]
    created: Floats  # [Q]
    is_leaf: Bools  # [Q]
    lineage: Ints  # [Q, D] the queue, its parent, … its top queue, padded with NONE
    preempt_min_runtime: Floats  # [Q] seconds, NaN = inherit
    reclaim_min_runtime: Floats  # [Q]
    usage: Floats  # [Q, 3] fraction of the capacity used in the recorded window, 0 = none recorded


@dataclass(frozen=True, eq=False)
class Budgets:
    """Disruption budgets that pods are under; of several at once nobody may be evicted."""

    names: tuple[str, ...]
    allowed: Ints  # evictions that each allows now


NO_TREE = "InvalidGroups"  # the reason of a problem: nothing can satisfy this gang


@dataclass(frozen=True, eq=False)
class Problem:
    """An object the encoder had to leave out, and why: it becomes a condition or an event."""

    about: Ref
    reason: str
    message: str


@dataclass(frozen=True)
class ByHand:
    """A claim that takes a volume made by hand: one of `stock` on the node of its pod, or the one chosen for it."""

    claim: Ref
    demand: str
    volume: Ref | None = None


@dataclass(frozen=True, eq=False)
class Unbound:
    """Claims of a pod that wait to be told its node, or for one of the volumes there."""

    pod: Ref
    claims: tuple[Ref, ...]
    by_hand: tuple[ByHand, ...]
    node: str  # where the pod is bound already, ""


@dataclass(frozen=True, eq=False)
class Snapshot:
    now: float
    revision: str
    resources: tuple[str, ...]  # names of the resource axis
    nodes: Nodes
    levels: tuple[Level, ...]  # of all topologies, top level first inside each
    topologies: dict[str, range]  # rows of `levels`
    shapes: tuple[Request, ...]
    requests: Ints  # [S, R] what one pod of the shape takes, one `pods` slot included
    label_sets: tuple[
        tuple[str, tuple[tuple[str, str], ...]], ...
    ]  # (namespace, labels that some term reads)
    pods: Pods
    groups: Groups
    gangs: Gangs
    composites: Composites
    queues: Queues
    budgets: Budgets
    unbound: tuple[Unbound, ...] = ()
    stock: Mapping[tuple[str, str], tuple[Ref, ...]] = field(default_factory=dict)  # by demand and node
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # their labels
    problems: tuple[Problem, ...] = field(default=())

    @cached_property
    def shared_requests(self) -> Ints:
        """[S, 3]: `requests` of the shared resources."""
        return self.requests[:, SHARED]

    @cached_property
    def request_rows(self) -> list[list[int]]:
        """`requests` as plain numbers."""
        rows: list[list[int]] = self.requests.tolist()
        return rows

    def gang_pods(self, gang: int) -> slice:
        """The rows of a gang's pods."""
        root = self.gangs.root[gang]
        return slice(int(self.groups.first_pod[root]), int(self.groups.last_pod[root]))

    def gang_groups(self, gang: int) -> range:
        """The rows of a gang's groups, root first."""
        root = int(self.gangs.root[gang])
        return range(root, int(self.groups.end[root]))
