"""What one pass over a set reads, and the small changes that all its steps share."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from quorate.api.apps import ControllerRevision
from quorate.api.core import POD, Pod
from quorate.api.lws import LEADER_WORKER_SET, GroupRestarts, LeaderWorkerSet
from quorate.api.meta import Json, Kind, Object
from quorate.api.policy import PodDisruptionBudget
from quorate.api.storage import PersistentVolumeClaim
from quorate.plan import Change, Create, Delete, Emit, EventType, Ref
from quorate.workloads.lws.fates import Fate
from quorate.workloads.lws.groups import Group
from quorate.workloads.lws.history import History
from quorate.workloads.lws.rollout import Moves, Pace
from quorate.workloads.lws.scaling import Line

NodeLabels = Callable[[str], Mapping[str, str]]  # of a node by its name; none for one that is not known


@dataclass(frozen=True)
class Children:
    """What carries the set's name, its own and others'; Services by name, whoever they are of.

    `refusal` says what the API server would not make in the pass before, `before` are the groups of that pass.
    """

    pods: Sequence[Pod] = ()
    revisions: Sequence[ControllerRevision] = ()
    services: Sequence[Object] = ()
    claims: Sequence[PersistentVolumeClaim] = ()
    budgets: Sequence[PodDisruptionBudget] = ()
    refusal: str = ""
    before: Mapping[int, Group] = field(default_factory=dict)
    node_labels: NodeLabels = lambda _: {}


@dataclass(frozen=True)
class View:
    """One pass: the set, its groups by index and their order, which have to be recreated, and what rolls."""

    item: LeaderWorkerSet
    groups: Mapping[int, Group]
    history: History
    line: Line
    fates: Mapping[int, Fate]
    pace: Pace
    moves: Moves
    children: Children
    now: float

    @cached_property
    def restarts(self) -> Mapping[int, GroupRestarts]:
        return {record.group: record for record in self.item.status.restarts or ()}

    @property
    def removed(self) -> Collection[int]:
        return {self.line.index_at(place) for place in self.moves.remove}

    def said(self, reason: str, message: str, *, is_warning: bool = False) -> Emit:
        kind = EventType.WARNING if is_warning else EventType.NORMAL
        return Emit(about=ref(LEADER_WORKER_SET, self.item), type=kind, reason=reason, message=message)


def ref(kind: Kind, thing: Object) -> Ref:
    meta = thing.metadata
    return Ref(kind=kind, name=meta.name, namespace=meta.namespace, uid=meta.uid)


def create(kind: Kind, body: Json) -> Create:
    meta = body["metadata"]
    return Create(Ref(kind=kind, name=meta["name"], namespace=meta["namespace"]), body)


def cleared(group: Group) -> Iterator[Change]:
    """Delete whatever is left of a group, the leader first."""
    for _, pod in sorted(group.pods.items()):
        if not pod.is_deleting:
            yield Delete(ref(POD, pod))
