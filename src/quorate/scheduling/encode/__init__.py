"""API objects to a `Snapshot`, incrementally: `update` for each change, `snapshot` joins what is there.

The only part of the scheduler that sees `api` and `rules`. A change costs what the gang or the node it
touches costs; a snapshot costs a few array copies. The result does not depend on the order of the changes.

1. A node's usage is kept by adding and taking away what its pods request, never counted anew.
2. A gang is a block of rows, made anew when it changed (`gangs`), among those of all others (`joined`).
3. Nodes and shapes are numbered; when most numbers are of what is gone, everything is numbered anew.
4. Bound-but-unseen pods are ordinary pods with a node: whoever assumes a bind calls `update` with it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from math import inf

from msgspec.structs import replace as replace_fields

from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.core import NAMESPACE, NODE, POD, PRIORITY_CLASS, Node, Pod, PriorityClass
from quorate.api.meta import Kind, Object
from quorate.api.podgroup import POD_GROUP, POD_GROUP_KINDS, PodGroup
from quorate.api.policy import POD_DISRUPTION_BUDGET
from quorate.api.queue import QUEUE, Queue
from quorate.api.storage import STORAGE_KINDS
from quorate.api.topology import TOPOLOGY, Topology
from quorate.scheduling.encode.assembly import Parts, assemble
from quorate.scheduling.encode.budgets import BudgetTable
from quorate.scheduling.encode.expected import Expectations, seats_of
from quorate.scheduling.encode.gangs import Block, Frame, Member, block_of, epoch, frame_of, label_levels
from quorate.scheduling.encode.joined import Joined
from quorate.scheduling.encode.nodes import NodeTable
from quorate.scheduling.encode.pods import Entry, Key, Shapes, entry_of
from quorate.scheduling.encode.queues import queues_of
from quorate.scheduling.encode.topologies import Topologies
from quorate.scheduling.encode.volumes import Volumes, claimed, store
from quorate.scheduling.snapshot import NONE, Floats, Problem, Queues, Snapshot, State, Unbound

STUCK_AFTER = 60.0  # seconds past the time by which a pod should have been gone

Change = Callable[[Object | None, Object | None], None]


class Encoder:
    """Holds what was read from each object; one writer, no locks."""

    def __init__(self, scheduler: str) -> None:
        self._scheduler = scheduler
        self._nodes = NodeTable()
        self._known_nodes: dict[str, Node] = {}
        self._shapes = Shapes()
        self._entries: dict[Key, Entry] = {}
        self._members: dict[Key, set[Key]] = {}  # pods by gang
        self._volumes = Volumes()
        self._budgets = BudgetTable()
        self._unbound: dict[Key, Unbound] = {}  # pods whose claims wait for a node
        self._expected = Expectations(scheduler, self._shapes, self._volumes.of)
        self._leaving: dict[Key, float] = {}  # pods being deleted, and when they should be gone
        self._podgroups: dict[Key, tuple[Kind, PodGroup]] = {}
        self._frames: dict[Key, Frame] = {}
        self._gangs = Joined()
        self._dirty: set[Key] = set()
        self._foreign: set[Key] = set()  # pods that name no gang
        self._queues: dict[str, Queue] = {}
        self._classes: dict[str, PriorityClass] = {}
        self._topologies: dict[str, Topology] = {}
        self._composites: dict[Key, CompositePodGroup] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}  # their labels
        self._levels = Topologies()
        self._label_levels: set[str] = set()  # node labels that gangs have asked for as levels
        self._usage: Mapping[str, Floats] = {}
        self._revision = 0
        self._divided: tuple[Queues, tuple[Problem, ...]] | None = None  # as long as no queue changed
        self._last: Snapshot | None = None  # as long as nothing changed
        changes: list[tuple[Kind, Change]] = [
            (POD, self._pod),
            (NODE, self._node),
            (QUEUE, self._queue),
            (PRIORITY_CLASS, self._priority_class),
            (TOPOLOGY, self._topology),
            (NAMESPACE, self._namespace),
            (COMPOSITE_POD_GROUP, self._composite),
            (POD_DISRUPTION_BUDGET, self._budgets.update),
            *((kind, self._storage) for kind in STORAGE_KINDS),
            *((kind, partial(self._podgroup, kind)) for kind in POD_GROUP_KINDS),
        ]
        self._updates = {(kind.group, kind.kind): change for kind, change in changes}

    def update(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        """One object changed: `old` is None where it is new, `new` where it is gone."""
        change = self._updates.get((kind.group, kind.kind))
        if change is None:
            return
        for one in (old, new):
            if one is not None and one.metadata.resource_version.isdigit():
                self._revision = max(self._revision, int(one.metadata.resource_version))
        self._last = None
        change(old, new)

    def record_usage(self, usage: Mapping[str, Floats]) -> None:
        """Take over what each queue used of the capacity in the recorded window, per shared resource."""
        self._usage = usage
        self._last = self._divided = None

    def snapshot(self, now: float) -> Snapshot:
        """Everything known at this time, as arrays."""
        if self._nodes.is_littered or self._shapes.is_littered or self._budgets.is_littered:
            self._renumber()
        self._reread_guarded(self._budgets.changed())
        self._reread(self._volumes.restocked())
        stock = self._nodes.offer(self._volumes.stock.on_hosts)
        self._rebuild()
        self._give_up_on_stuck(now)
        if self._last is not None:
            return replace(self._last, now=now)
        if self._divided is None:
            self._divided = queues_of(self._queues.values(), self._usage)
        queues, problems = self._divided
        parts = Parts(
            nodes=self._nodes,
            shapes=self._shapes,
            levels=self._levels,
            gangs=self._gangs,
            loose=self._loose(),
            composites=self._composites,
            queues=queues,
            namespaces=dict(self._namespaces),
            budgets=self._budgets.freeze(),
            unbound=tuple(one for _, one in sorted(self._unbound.items())),
            stock=stock,
            problems=problems,
        )
        self._last = assemble(parts, now=now, revision=str(self._revision))
        return self._last

    def _renumber(self) -> None:
        """Forget the numbers of what is gone, by reading all that is there again."""
        pods = [entry.pod for entry in self._entries.values()]
        live = {entry.member.shape for entry in self._entries.values()}
        self._nodes, self._shapes = NodeTable(), self._shapes.renewed(len(live))
        self._budgets.renumber()
        self._expected = Expectations(self._scheduler, self._shapes, self._volumes.of)
        for table in (self._entries, self._members, self._leaving, self._foreign, self._unbound):
            table.clear()
        for node in self._known_nodes.values():
            self._nodes.put(node)
        for kind, podgroup in list(self._podgroups.values()):
            self._podgroup(kind, None, podgroup)
        for pod in pods:
            self._pod(None, pod)
        self._lay_levels()
        self._last = None

    def _rebuild(self) -> None:
        """Bring the blocks of changed gangs up to date."""
        if self._dirty:
            self._gangs = self._gangs.replaced({key: self._block(key) for key in self._dirty})
            self._dirty.clear()

    def _block(self, key: Key) -> Block | None:
        for entry in self._expected.leave(key):
            self._charge(key, entry, -1)
        if key not in self._podgroups:
            return None
        if key not in self._frames:
            kind, podgroup = self._podgroups[key]
            self._frames[key] = frame_of(podgroup, kind, self._levels, self._classes)
        return block_of(self._frames[key], self._members_of(key))

    def _members_of(self, gang: Key) -> Iterable[Member]:
        """The pods of a gang, and those who stand in for pods to come."""
        pods = self._members.get(gang, ())
        if gang not in self._expected:
            return (self._entries[pod].member for pod in pods)
        there = {pod[1]: self._entries[pod] for pod in pods}
        expected = self._expected.stand_in(gang, there, self._nodes)
        for entry in expected:
            self._charge(gang, entry, 1)
        seats = {name: node for entry in there.values() for name, node in seats_of(entry).items()}
        found = (self._drawn(entry.member, seats.get(name, "")) for name, entry in there.items())
        return [*found, *(entry.member for entry in expected)]

    def _drawn(self, member: Member, seat: str) -> Member:
        """A member that waits goes where a seat was held for it."""
        if not seat or member.slot != NONE or member.nominated != NONE:
            return member
        return replace_fields(member, nominated=self._nodes.slot(seat))

    def _loose(self) -> list[Member]:
        """Pods of no gang that hold a node: asked for only where a term of some pod reads other pods."""
        if not self._shapes.reads_neighbours:
            return []
        orphans = (pods for gang, pods in self._members.items() if gang not in self._podgroups)
        found = sorted(chain(self._foreign, *orphans))
        return [self._entries[key].member for key in found if self._entries[key].node]

    def _pod(self, old: Object | None, new: Object | None) -> None:
        known = self._keys(old, new)
        before = self._entries.pop(known, None)
        if before is not None:
            self._leave(known, before)
        if not isinstance(new, Pod):
            return
        read = self._shapes.what_is_read
        ties = self._volumes.of(new)
        entry = entry_of(new, self._scheduler, self._shapes, ties, self._nodes.slot)
        if entry is None:
            return
        if (budget := self._budgets.of(new)) != NONE:
            entry = replace_fields(entry, member=replace_fields(entry.member, budget=budget))
        self._entries[known] = entry
        if (ties.waiting or ties.by_hand) and new.spec.scheduler_name == self._scheduler:
            self._unbound[known] = Unbound(entry.member.ref, ties.waiting, ties.by_hand, entry.node)
        self._charge(known, entry, 1)
        if entry.gang is None:
            self._foreign.add(known)
        else:
            self._members.setdefault(entry.gang, set()).add(known)
            self._dirty.add(entry.gang)
        if self._shapes.what_is_read != read:
            self._reread_all()

    def _leave(self, key: Key, entry: Entry) -> None:
        self._charge(key, entry, -1)
        self._foreign.discard(key)
        self._unbound.pop(key, None)
        if entry.gang is None:
            return
        members = self._members[entry.gang]
        members.discard(key)
        if not members:
            del self._members[entry.gang]
        self._dirty.add(entry.gang)

    def _charge(self, key: Key, entry: Entry, sign: int) -> None:
        one = entry.member
        if not entry.node or one.state is State.SUCCEEDED:
            return
        takes = sign * self._shapes.takes(one.shape, self._nodes.row)
        self._nodes.charge(one.slot, takes, foreign=entry.gang is None)
        if sign > 0 and one.state is State.RELEASING:
            self._leaving[key] = epoch(entry.pod.metadata.deletion_timestamp or "", inf)
            self._nodes.release(one.slot, takes)
        elif sign < 0 and self._leaving.pop(key, None) is not None:
            self._nodes.release(one.slot, takes)

    def _give_up_on_stuck(self, now: float) -> None:
        """Seats of pods that should have been gone long ago are not counted as being freed."""
        for key in [key for key, due in self._leaving.items() if due + STUCK_AFTER < now]:
            self._last = None
            del self._leaving[key]
            one = self._entries[key].member
            self._nodes.release(one.slot, -self._shapes.takes(one.shape, self._nodes.row))

    def _storage(self, old: Object | None, new: Object | None) -> None:
        self._reread(self._volumes.update(old, new))

    def _reread_all(self) -> None:
        """A term reads labels that no term read before: every pod may have another shape now."""
        for entry in list(self._entries.values()):
            self._pod(entry.pod, entry.pod)

    def _reread_guarded(self, namespaces: set[str]) -> None:
        """Budgets came, went or guard others now: the pods that are under other ones than before."""
        if not namespaces:
            return
        for (namespace, _), entry in list(self._entries.items()):
            if namespace in namespaces and self._budgets.of(entry.pod) != entry.member.budget:
                self._pod(entry.pod, entry.pod)

    def _reread(self, claims: set[Key]) -> None:
        """The pods of these claims may have another shape now."""
        if not claims:
            return
        self._dirty.update(self._expected)
        for (namespace, _), entry in list(self._entries.items()):
            if any((namespace, name) in claims for name in claimed(entry.pod)):
                self._pod(entry.pod, entry.pod)

    def _node(self, old: Object | None, new: Object | None) -> None:
        store(self._known_nodes, self._keys(old, new)[1], new)
        if isinstance(new, Node):
            self._nodes.put(new)
        elif isinstance(old, Node):
            self._nodes.remove(old)
        if old is None or new is None:
            self._dirty.update(self._expected)  # a seat is held only where there is a node

    def _podgroup(self, kind: Kind, old: Object | None, new: Object | None) -> None:
        """Of two PodGroups of one name in the two API groups, the one in our own group counts."""
        key = self._keys(old, new)
        known = self._podgroups.get(key)
        if known is not None and known[0] == POD_GROUP != kind:
            return
        if isinstance(new, PodGroup):
            self._podgroups[key] = kind, new
        else:
            self._podgroups.pop(key, None)
        self._frames.pop(key, None)
        self._expect(key, new)
        self._dirty.add(key)
        if isinstance(new, PodGroup) and not label_levels(new) <= self._label_levels:
            self._label_levels |= label_levels(new)
            self._lay_levels()

    def _expect(self, key: Key, podgroup: Object | None) -> None:
        read = self._shapes.what_is_read
        if isinstance(podgroup, PodGroup):
            self._expected.read(podgroup)
        else:
            self._expected.forget(key)
        if self._shapes.what_is_read != read:
            self._reread_all()

    def _queue(self, old: Object | None, new: Object | None) -> None:
        store(self._queues, self._keys(old, new)[1], new)
        self._divided = None

    def _priority_class(self, old: Object | None, new: Object | None) -> None:
        store(self._classes, self._keys(old, new)[1], new)
        self._frames.clear()
        self._dirty.update(self._podgroups)

    def _topology(self, old: Object | None, new: Object | None) -> None:
        store(self._topologies, self._keys(old, new)[1], new)
        self._lay_levels()

    def _namespace(self, old: Object | None, new: Object | None) -> None:
        _, name = self._keys(old, new)
        self._namespaces.pop(name, None)
        if new is not None:
            self._namespaces[name] = new.metadata.labels or {}

    def _lay_levels(self) -> None:
        self._levels = Topologies.of(self._topologies.values(), self._label_levels)
        self._frames.clear()
        self._dirty.update(self._podgroups)

    def _composite(self, old: Object | None, new: Object | None) -> None:
        store(self._composites, self._keys(old, new), new)

    @staticmethod
    def _keys(old: Object | None, new: Object | None) -> Key:
        known = new or old
        assert known is not None, "a change has an object before or after"
        return known.metadata.namespace, known.metadata.name
