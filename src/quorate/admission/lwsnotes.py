"""What is wrong about annotations of a LeaderWorkerSet: each says which texts it takes."""

import re
from collections.abc import Callable, Iterator

from quorate.admission.rollout import invalid
from quorate.api import labels
from quorate.api.lws import LeaderWorkerSet
from quorate.rules.evictable import evictable_pods
from quorate.rules.segments import sub_group_count
from quorate.rules.validity import Cause, Fault

_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_LABEL = re.compile(rf"([a-z0-9]([-a-z0-9.]{{0,251}}[a-z0-9])?/)?{_NAME}")
_COUNT = re.compile(r"\d{1,9}")
_DELAYS = re.compile(r"\d{1,9}/\d{1,9}")


def _is_count(text: str) -> bool:
    return _COUNT.fullmatch(text) is not None


def _is_positive(text: str) -> bool:
    return _is_count(text) and int(text) > 0


def _is_label(text: str) -> bool:
    return _LABEL.fullmatch(text) is not None


TOPOLOGY = "must be the key of a node label, as topology.kubernetes.io/zone"
KNOWN: tuple[tuple[str, Callable[[str], bool], str], ...] = (
    (labels.LWS_EXCLUSIVE_TOPOLOGY, _is_label, TOPOLOGY),
    (labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY, _is_label, TOPOLOGY),
    (
        labels.DISRUPTION_BUDGET,
        lambda text: evictable_pods(text, 1) is not None,
        'must be how many pods of a group may be evicted at a time, as "1", or a percentage, as "25%"',
    ),
    (labels.MIN_GROUPS, _is_positive, 'must be how many groups have to start together, as "3"'),
    (labels.MAX_GROUP_RESTARTS, _is_count, 'must be how often a group may be recreated, as "5"'),
    (
        labels.RESTART_BACKOFF,
        lambda text: _DELAYS.fullmatch(text) is not None,
        'must be the seconds before the second recreation and the most there can be, as "30/600"',
    ),
    (labels.SCALE_DOWN, lambda text: text == "unready-first", 'must be "unready-first"'),
    (labels.PAUSED, lambda text: text in {"true", "false"}, 'must be "true" or "false"'),
)


def note_faults(new: LeaderWorkerSet) -> Iterator[Fault]:
    for key, is_known, text in KNOWN:
        value = new.metadata.annotation(key)
        if value and not is_known(value):
            yield invalid(f"metadata.annotations.{key}", value, text)


def note_warnings(new: LeaderWorkerSet) -> Iterator[Fault]:
    """What can never be as it is asked for, unless the set is changed."""
    yield from _topology_warnings(new)
    needed, replicas = new.metadata.annotation(labels.MIN_GROUPS), new.spec.replicas
    if _is_positive(needed) and int(needed) > replicas:
        text = f"{needed} groups have to start together, but spec.replicas is {replicas}: none will start"
        yield Fault(f"metadata.annotations.{labels.MIN_GROUPS}", text, Cause.IMPOSSIBLE)


def _topology_warnings(new: LeaderWorkerSet) -> Iterator[Fault]:
    template, topology = (
        new.spec.leader_worker_template,
        new.metadata.annotation(labels.LWS_EXCLUSIVE_TOPOLOGY),
    )
    policy = template.sub_group_policy
    if not topology or policy is None or not policy.sub_group_size:
        return
    is_same = topology == new.metadata.annotation(labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY)
    count = sub_group_count(template.size, policy.sub_group_size)
    if is_same and count > 1:
        field = f"metadata.annotations.{labels.LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY}"
        text = f"{count} sub-groups cannot have a {topology} each inside the one of their group: name a lower level"
        yield Fault(field, text, Cause.IMPOSSIBLE)
