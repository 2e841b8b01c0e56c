"""How groups of LeaderWorkerSets roll, what takes a group with it, and what conditions say."""

from collections.abc import Callable
from typing import Any

import msgspec

from quorate.api import labels
from quorate.api.core import ContainerStatus, Pod, PodStatus
from quorate.api.meta import Condition, ObjectMeta, OwnerReference
from quorate.rules.conditions import transitioned
from quorate.workloads.builtin.amounts import resolve
from quorate.workloads.lws.conditions import Counts, conditions_of
from quorate.workloads.lws.groups import observe
from quorate.workloads.lws.names import Place, pod_name
from quorate.workloads.lws.restart import called
from quorate.workloads.lws.rollout import (
    Extent,
    GroupState,
    Pace,
    advance,
    next_partition,
    ready_tail,
    unfit_count,
    wanted_groups,
)
from tests.cases.lws_pods import compared
from tests.cases.outcome import Outcome, unsupported

Json = dict[str, Any]

LETTERS = {
    "O": GroupState(is_ready=True, is_updated=False),
    "o": GroupState(is_ready=False, is_updated=False),
    "U": GroupState(is_ready=True, is_updated=True),
    "u": GroupState(is_ready=False, is_updated=True),
}
SET, UID = "web", "set-uid"


def run(case: Json, file: Json) -> Outcome:
    return TOPICS[file["topic"]](case)


def _states(text: str) -> list[GroupState]:
    return [LETTERS[letter] for letter in text]


def _wanted(case: Json) -> Outcome:
    pace = Pace(case["replicas"], case["max_unavailable"], case["max_surge"])
    return compared("lws_rollout", case, wanted_groups(pace, case["unready"]), case["want_replicas"])


def _partition(case: Json) -> Outcome:
    got = next_partition(_states(case["groups"]), case["current_partition"], case["rolling_step"])
    return compared("lws_rollout", case, got, case["want_partition"])


def _counts(case: Json) -> Outcome:
    states = _states(case["groups"])
    got = {"unready": unfit_count(states, case["replicas"]), "ready_tail": ready_tail(states)}
    return compared("lws_rollout", case, got, {name: case[name] for name in got})


def _trace(case: Json) -> Outcome:
    n = case["replicas"]
    pace = Pace(
        n,
        resolve(case["max_unavailable"], n, up=False),
        min(n, resolve(case["max_surge"], n, up=True)),
        case["user_partition"],
    )
    got: list[Json | list[Any]] = []
    want: list[Json | list[Any]] = []
    for event, groups, replicas, partition, is_changed, *expected in case["steps"]:
        now = Extent(partition, replicas)
        found = advance(pace, _states(groups), now, revision_changed=is_changed)
        got.append([event, found.replicas, found.partition])
        want.append([event, *expected])
    return compared("lws_rollout", case, got, want)


def _restart(case: Json) -> Outcome:
    if "policy" not in case:
        case = {**TABLE_ROW, "leader_delete_sent": case["expect_leader_deleted"]}
    group = observe(SET, UID, _pods(case)).get(0)
    got = group is not None and called(group, case["policy"], after_start=case["after_start_annotation"])
    return compared("lws_restart", case, bool(got), case["leader_delete_sent"])


TABLE_ROW: Json = {
    "policy": "RecreateGroupOnPodRestart",
    "after_start_annotation": False,
    "another_pod_pending": False,
    "a_group_pod_missing": False,
    "trigger": "container_restarted",
    "trigger_pod": "worker",
    "worker_relation": "current",
}


def _pods(case: Json) -> list[Pod]:
    """A group of three; what happens to a worker happens to the first, the second may be pending or missing."""
    at = 0 if case["trigger_pod"] == "leader" else 1
    pods = []
    for index in range(2 if case["a_group_pod_missing"] else 3):
        status = PodStatus(phase="Pending" if index == 2 and case["another_pod_pending"] else "Running")
        pod = _pod(index, status)
        pods.append(_related(_triggered(pod, case["trigger"]), case) if index == at else pod)
    return pods


def _pod(index: int, status: PodStatus) -> Pod:
    meta = ObjectMeta(
        name=pod_name(SET, Place(0, index)),
        labels={labels.LWS_REVISION: "new"},
        annotations={labels.LWS_SIZE: "3"},
        owner_references=[OwnerReference(kind="LeaderWorkerSet", name=SET, uid=UID, controller=True)],
    )
    return Pod(metadata=meta, status=status)


def _triggered(pod: Pod, trigger: str) -> Pod:
    restarted = [ContainerStatus(name="app", restart_count=1)]
    if trigger == "deleting":
        meta = msgspec.structs.replace(pod.metadata, deletion_timestamp="2026-11-19T02:00:00Z")
        return msgspec.structs.replace(pod, metadata=meta)
    kinds: Json = {
        "container_restarted": {"container_statuses": restarted},
        "init_container_restarted": {"init_container_statuses": restarted},
    }
    return msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, **kinds.get(trigger, {})))


def _related(pod: Pod, case: Json) -> Pod:
    """A worker that is not of this leader's group: of nobody, of another set, or of an older revision."""
    relations: dict[str, Json] = {
        "current": {},
        "no_owner": {"owner_references": None},
        "stale_worker_set": {
            "owner_references": [
                OwnerReference(kind="LeaderWorkerSet", name=SET, uid="gone", controller=True)
            ]
        },
        "old_revision": {"labels": {labels.LWS_REVISION: "old"}},
    }
    changes = relations[case["worker_relation"] if case["trigger_pod"] == "worker" else "current"]
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, **changes))


def _condition(case: Json) -> Outcome:
    if case["function"] == "mutually_exclusive":
        return compared("lws_conditions", case, _excludes(case["a"], case["b"]), case["expect"])
    if case["function"] != "set_condition":
        return unsupported(f"LWS function {case['function']}")
    previous = msgspec.convert(case["existing"], list[Condition])
    new = msgspec.convert(case["new"], Condition)
    others = [found for found in previous if found.type != new.type]
    after = transitioned([*others, new], previous, "2026-11-19T02:00:00Z")
    by_type = {found.type: found for found in previous}
    got = any(_said(found) != _said(by_type.get(found.type)) for found in after)
    return compared("lws_conditions", case, got, case["expect_changed"])


def _excludes(one: str, other: str) -> bool:
    """Whether both hold in some state of a set of two groups, but never in the same."""
    states = [
        Counts(wanted=2, existing=2, ready=fit, updated=2 - old, held=0, old=old, fit=fit)
        for fit in range(3)
        for old in range(3 - fit)
    ]
    holding = [
        {found.type for found in conditions_of(state, "", None, 1, "") if found.status == "True"}
        for state in states
    ]
    return all(any(kind in held for held in holding) for kind in (one, other)) and not any(
        {one, other} <= held for held in holding
    )


def _said(condition: Condition | None) -> object:
    if condition is None:
        return None
    return condition.status, condition.reason, condition.message, condition.observed_generation


TOPICS: dict[str, Callable[[Json], Outcome]] = {
    "rollout_want_replicas": _wanted,
    "rollout_partition": _partition,
    "rollout_counts": _counts,
    "rollout_traces": _trace,
    "restart_policy": _restart,
    "conditions": _condition,
}
