"""Pods as the encoder remembers them: which gang, which shape, where, in which state."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec
import numpy as np

from quorate.api import labels
from quorate.api.core import POD, Pod
from quorate.api.podspec import PodSpec
from quorate.plan import Ref
from quorate.rules.podresources import requested
from quorate.scheduling.encode.gangs import Member
from quorate.scheduling.encode.nodes import MOST, is_bytes
from quorate.scheduling.encode.shapes import request_of
from quorate.scheduling.encode.volumes import Ties
from quorate.scheduling.request import Request, Selector
from quorate.scheduling.snapshot import NONE, Ints, State

Key = tuple[str, str]  # namespace, name
LabelSet = tuple[str, tuple[tuple[str, str], ...]]

REMEMBERED = 10_000  # specs
LITTER = 10_000  # shapes

_encode = msgspec.json.Encoder().encode
_DIGITS = re.compile(r"(\d+)")


class Entry(msgspec.Struct, frozen=True):
    """A pod read once."""

    pod: Pod
    gang: Key | None  # None: no gang of ours
    node: str
    member: Member


class Shapes:
    """Numbers requests and label sets; a number once given stays, until there are too many."""

    def __init__(self, most: int = LITTER) -> None:
        self._most = most
        self.requests: list[Request] = []
        self.label_sets: list[LabelSet] = []
        self.read_labels: set[str] = set()  # keys that some term reads
        self._coupled = False
        self._numbers: dict[Request, int] = {}
        self._label_numbers: dict[LabelSet, int] = {}
        self._known: dict[tuple[bytes, int], int] = {}  # by what a spec says, and the label set
        self._takes: dict[int, Ints] = {}

    def of(self, pod: Pod, ties: Ties) -> int:
        """The number of a pod's shape; a spec that was seen before is not read again."""
        text = _text(pod.spec) if ties.are_none else b""
        known = self._known.get((text, self.label_set(pod))) if text else None
        if known is not None:
            return known
        amounts = {
            name: min(-(-milli // 1000) if is_bytes(name) else milli, MOST)
            for name, milli in requested(pod.spec).items()
        }
        for name, amount in ties.takes:
            amounts[name] = amounts.get(name, 0) + amount
        request = request_of(pod, amounts, ties)
        self.read(request)
        labels = self.label_set(pod)
        number = self.number(replace(request, labels=labels))
        if text:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[text, labels] = number
        return number

    def read(self, request: Request) -> None:
        """Take note of what the terms of a request read."""
        self._coupled |= request.is_coupled
        self.read_labels.update(test.key for selector in _selectors(request) for test in selector.term)

    def number(self, request: Request) -> int:
        if request not in self._numbers:
            self._numbers[request] = len(self.requests)
            self.requests.append(request)
        return self._numbers[request]

    def takes(self, shape: int, row: Callable[[str], int]) -> Ints:
        """What a pod of a shape takes of each resource, in rows as far as the last that it names."""
        if shape not in self._takes:
            amounts = {row(name): one for name, one in self.requests[shape].amounts}
            last = max(amounts, default=NONE)
            self._takes[shape] = np.array([amounts.get(at, 0) for at in range(last + 1)], dtype=np.int64)
        return self._takes[shape]

    @property
    def is_littered(self) -> bool:
        """Whether most numbers may be of pods that are gone."""
        return len(self.requests) > self._most

    def renewed(self, live: int) -> "Shapes":
        """An empty table with room for many times the numbers that live."""
        return Shapes(max(LITTER, 5 * live))

    @property
    def what_is_read(self) -> tuple[bool, int]:
        """Changes when the shapes of pods seen before may no longer hold."""
        return self._coupled, len(self.read_labels)

    @property
    def reads_neighbours(self) -> bool:
        """Whether where a pod may go depends on other pods, for some shape."""
        return self._coupled

    def label_set(self, pod: Pod) -> int:
        """The number of a pod's labels, those left out that nobody reads; NONE if nobody reads any."""
        if not self._coupled:
            return NONE
        mine = pod.metadata.labels or {}
        read = tuple((key, mine[key]) for key in sorted(self.read_labels & mine.keys()))
        found = (pod.metadata.namespace, read)
        if found not in self._label_numbers:
            self._label_numbers[found] = len(self.label_sets)
            self.label_sets.append(found)
        return self._label_numbers[found]


def entry_of(
    pod: Pod, scheduler: str, shapes: Shapes, ties: Ties, slot: Callable[[str], int]
) -> Entry | None:
    """What the scheduler knows of a pod; None if the pod is no concern of its."""
    group = pod.metadata.annotation(labels.POD_GROUP_NAME)
    gang = (pod.metadata.namespace, group) if group else None
    is_ours = pod.spec.scheduler_name == scheduler and gang is not None
    state, node = _state(pod), pod.spec.node_name
    if state is None or (not node and not is_ours):
        return None
    nominated = pod.status.nominated_node_name
    member = Member(
        ref=ref_of(pod),
        order=order_of(pod),
        group=pod.metadata.label(labels.SUB_GROUP_NAME),
        shape=shapes.of(pod, ties),
        slot=slot(node) if node else NONE,
        state=state,
        nominated=slot(nominated) if nominated and not node else NONE,
        preemptibility=pod.metadata.label(labels.PREEMPTIBILITY),
    )
    return Entry(pod, gang, node, member)


def _text(spec: PodSpec) -> bytes:
    """What of a spec the shape is made of; nothing where it also depends on the labels of the pod."""
    if spec.affinity is not None or spec.topology_spread_constraints:
        return b""
    return _encode(
        (
            spec.containers,
            spec.init_containers,
            spec.overhead,
            spec.resources,
            spec.node_selector,
            spec.tolerations,
            spec.host_network,
        )
    )


def _state(pod: Pod) -> State | None:
    if pod.status.phase == "Failed":
        return None
    if pod.status.phase == "Succeeded":
        return State.SUCCEEDED
    if pod.is_deleting:
        return State.RELEASING if pod.spec.node_name else None
    if pod.spec.node_name:
        return State.ACTIVE
    return State.GATED if pod.is_gated else State.PENDING


def order_of(pod: Pod) -> tuple[object, ...]:
    """Members in the order in which they start: task priority, age, name with its numbers read as numbers."""
    text = pod.metadata.label(labels.TASK_PRIORITY)
    priority = int(text) if text.lstrip("-").isdigit() else 0
    parts: list[str | int] = [*_DIGITS.split(pod.metadata.name)]  # text, number, text, …
    parts[1::2] = map(int, parts[1::2])
    return -priority, pod.metadata.creation_timestamp, tuple(parts), pod.metadata.name


def ref_of(pod: Pod) -> Ref:
    meta = pod.metadata
    return Ref(
        kind=POD,
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )


def _selectors(request: Request) -> Iterator[Selector]:
    yield from (one.selector for one in (*request.near, *request.apart))
    yield from (one.selector for one in request.spreads)
