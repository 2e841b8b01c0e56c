"""Which rules judge which kind: one literal table, the same for the webhook and for `quorate lint`.

A judge takes the objects as JSON, so that a value of the wrong type is one more fault with a field.
"""

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from quorate.admission import composite, coordinatedpolicy, lws, pod, podgroup, queue, rbg, topology
from quorate.admission.surroundings import NOTHING_KNOWN, Surroundings
from quorate.api.composite import COMPOSITE_POD_GROUP, CompositePodGroup
from quorate.api.core import POD, Pod
from quorate.api.lws import LEADER_WORKER_SET, LeaderWorkerSet
from quorate.api.meta import Json, Kind, Object
from quorate.api.podgroup import POD_GROUP_KINDS, PodGroup
from quorate.api.queue import QUEUE, Queue
from quorate.api.rbg import COORDINATED_POLICY, ROLE_BASED_GROUP_KINDS, RoleBasedGroup
from quorate.api.rbgpolicy import CoordinatedPolicy
from quorate.api.topology import TOPOLOGY, Topology
from quorate.rules.validity import Cause, Fault, Findings

Shape = TypeVar("Shape", bound=Object)
Judge = Callable[[Json, Json | None, Surroundings], Findings]

_TYPES = re.compile(r"Expected `(.*)`, got `(.*)`")
_WORDS = {"int": "integer", "str": "string", "float": "number", "bool": "boolean"}  # as JSON calls them
_AT = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<field>.*)`)?", re.DOTALL)


def judge_of(api_version: str, kind: str) -> Judge | None:
    """By group and kind: every version of a kind of ours has the same rules."""
    return JUDGES.get((api_version.rpartition("/")[0], kind))


def judge_deletion(kind: Kind, old: Json, around: Surroundings = NOTHING_KNOWN) -> Findings:
    """Only queues are held back; any other object may go at any time."""
    if kind != QUEUE:
        return Findings()
    return queue.review_deletion(msgspec.convert(old, Queue), around)


def _judge(shape: type[Shape], review: Callable[[Shape, Shape | None, Surroundings], Findings]) -> Judge:
    def judge(new: Json, old: Json | None, around: Surroundings) -> Findings:
        try:
            read = msgspec.convert(new, shape)
        except msgspec.ValidationError as error:
            return Findings((_fault(error),))
        return review(read, None if old is None else msgspec.convert(old, shape), around)

    return judge


def _fault(error: msgspec.ValidationError) -> Fault:
    found = _AT.fullmatch(str(error))
    assert found is not None, "the pattern takes any text"
    return Fault(found["field"] or "", _worded(found["what"]), Cause.VALUE)


def _worded(what: str) -> str:
    """`Expected `int | null`, got `str`` in the words of the schema."""
    types = _TYPES.fullmatch(what)
    if types is None:
        return what
    wanted, got = (re.sub(r"\w+", lambda each: _WORDS.get(each[0], each[0]), types[n]) for n in (1, 2))
    return f"must be {wanted.removesuffix(' | null').replace(' | ', ' or ')}, not {got}"


JUDGES: dict[tuple[str, str], Judge] = {
    **{(kind.group, kind.kind): _judge(PodGroup, podgroup.review) for kind in POD_GROUP_KINDS},
    (POD.group, POD.kind): _judge(Pod, pod.review),
    (QUEUE.group, QUEUE.kind): _judge(Queue, queue.review),
    (TOPOLOGY.group, TOPOLOGY.kind): _judge(Topology, topology.review),
    (COMPOSITE_POD_GROUP.group, COMPOSITE_POD_GROUP.kind): _judge(CompositePodGroup, composite.review),
    (LEADER_WORKER_SET.group, LEADER_WORKER_SET.kind): _judge(LeaderWorkerSet, lws.review),
    **{(kind.group, kind.kind): _judge(RoleBasedGroup, rbg.review) for kind in ROLE_BASED_GROUP_KINDS},
    (COORDINATED_POLICY.group, COORDINATED_POLICY.kind): _judge(CoordinatedPolicy, coordinatedpolicy.review),
}
