"""Members that a gang expects stand in its rows until they exist, so that their seats are found and held.

A seat that is held for one is an active member on that node; without a seat it is a pending one. The pod that
announced them has to live: without it nobody is expected, and what was held is free again.
"""

from collections.abc import Callable, Iterator, Mapping
from math import inf

from msgspec import structs

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.expected import ExpectedError, ExpectedPod, expected_of, held_seats
from quorate.api.podgroup import PodGroup
from quorate.scheduling.encode.nodes import NodeTable
from quorate.scheduling.encode.pods import Entry, Key, Shapes, entry_of
from quorate.scheduling.encode.volumes import Ties
from quorate.scheduling.snapshot import State

TiesOf = Callable[[Pod], Ties]


class Expectations:
    """Whom each gang expects, and the entries that stand in for them now."""

    def __init__(self, scheduler: str, shapes: Shapes, ties_of: TiesOf) -> None:
        self._scheduler = scheduler
        self._shapes = shapes
        self._ties_of = ties_of
        self._announced: dict[Key, list[tuple[str, ExpectedPod]]] = {}  # with who announces each
        self._texts: dict[Key, str] = {}  # what was read, because a PodGroup changes often and this hardly
        self._standing: dict[Key, list[Entry]] = {}

    def __iter__(self) -> Iterator[Key]:
        return iter(self._announced)

    def read(self, podgroup: PodGroup) -> None:
        """Take note of whom a gang expects, and of what their terms read."""
        meta = podgroup.metadata
        key = meta.namespace, meta.name
        text = meta.annotation(labels.EXPECTED_MEMBERS)
        if text == self._texts.get(key, ""):
            return
        self.forget(key)
        self._texts[key] = text
        try:
            expected = expected_of(meta.annotations)
        except ExpectedError:
            return  # the grouper, who writes it, warns about the pod that it has it from
        found = [
            (each.announcer, self._of_gang(each.pod(name, key[0]), key))
            for each in expected
            for name in each.pods
        ]
        if found:
            self._announced[key] = found
            for _, pod in found:
                self._shapes.of(pod, self._ties_of(pod))

    def forget(self, key: Key) -> None:
        self._announced.pop(key, None)
        self._texts.pop(key, None)

    def leave(self, key: Key) -> list[Entry]:
        """Those who stood in so far."""
        return self._standing.pop(key, [])

    def __contains__(self, key: Key) -> bool:
        return key in self._announced

    def stand_in(self, key: Key, members: Mapping[str, Entry], nodes: NodeTable) -> list[Entry]:
        """Those who stand in now, given the gang's pods by name."""
        found = []
        for announcer, pod in self._announced.get(key, ()):
            if pod.metadata.name in members or not _lives(members.get(announcer)):
                continue
            node = seats_of(members[announcer]).get(pod.metadata.name, "")
            entry = self._entry(pod, nodes, node if nodes.is_there(node) else "")
            if entry is not None:
                found.append(_after_others(entry, announcer))
        self._standing[key] = found
        return found

    def _of_gang(self, pod: ExpectedPod, gang: Key) -> ExpectedPod:
        pod.metadata.annotations = {labels.POD_GROUP_NAME: gang[1]}
        pod.spec = structs.replace(pod.spec, scheduler_name=self._scheduler)
        return pod

    def _entry(self, pod: ExpectedPod, nodes: NodeTable, node: str = "") -> Entry | None:
        seated = structs.replace(pod, spec=structs.replace(pod.spec, node_name=node))
        return entry_of(seated, self._scheduler, self._shapes, self._ties_of(pod), nodes.slot)


def _after_others(entry: Entry, announcer: str) -> Entry:
    """Members that exist come first, and are the last to be taken away."""
    order = (inf, *entry.member.order[1:])
    return structs.replace(entry, member=structs.replace(entry.member, announcer=announcer, order=order))


def seats_of(entry: Entry) -> dict[str, str]:
    """The seats that are held for those whom a bound pod announced."""
    return held_seats(entry.pod.metadata.annotations) if entry.member.state is State.ACTIVE else {}


def _lives(entry: Entry | None) -> bool:
    return entry is not None and entry.member.state in {State.PENDING, State.ACTIVE}
