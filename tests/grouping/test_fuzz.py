"""Random and mutated workloads: grouping never crashes, and what it refuses it explains in one line."""

import os
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quorate.api import labels
from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.api.podgroup import PodGroup
from quorate.grouping import writes
from quorate.grouping.grouper import group
from quorate.grouping.registry import TABLE
from quorate.grouping.subject import Settings
from quorate.grouping.toplevel import WRAPPERS
from quorate.plan import Apply
from quorate.rules.validity import validate
from tests.fakes.grouped import NAMESPACE, context, reference, thing

KINDS = sorted({*TABLE, *WRAPPERS, ("example.test", "Foo")} - {("", "Pod")})
ODD = st.sampled_from(
    [None, 0, 1, 3, -1, 2**31 - 1, 2**40, 1.5, True, "", "2", "-1", "x", [], {}, [None], {"a": 1}]
)
KEYS = st.sampled_from(
    (
        *("replicas", "size", "minReplicas", "numOfHosts", "groupName", "suspend", "name", "podReferences"),
        *("podGroupNames", "parallelism", "completions", "template", "metadata", "annotations", "spec"),
        *("subGroupPolicy", "subGroupSize", "minAvailable", "schedulingPolicy", "elasticPolicy"),
        *("topologyConstraint", "packConstraint", "required", "Master", "Worker"),
        *("subGroupPolicyType", "startupPolicyOrder", "rayClusterName", "activeServiceStatus"),
    )
)
FIELDS = st.sampled_from(
    (
        *("replicatedJobs", "pytorchReplicaSpecs", "tfReplicaSpecs", "mpiReplicaSpecs", "workerGroupSpecs"),
        *(
            "headGroupSpec",
            "podgroups",
            "leaderWorkerTemplate",
            "runPolicy",
            "elasticPolicy",
            "startupPolicy",
        ),
        *("replicas", "job", "topologyConstraintGroupConfigs"),
    )
)
TREES = st.recursive(
    ODD, lambda inner: st.dictionaries(KEYS, inner, max_size=4) | st.lists(inner, max_size=3), max_leaves=8
)
SAID = st.dictionaries(
    st.sampled_from(
        [
            labels.SEGMENT_SIZE,
            labels.BATCH_MIN_MEMBER,
            labels.MIN_MEMBER,
            labels.MIN_SUB_GROUP,
            labels.MIN_GROUPS,
            labels.GROUP_AS,
            labels.PREEMPTIBILITY,
            labels.PREEMPTION_DELAY,
            labels.LWS_SIZE,
            labels.LWS_GROUP_INDEX,
            labels.LWS_WORKER_INDEX,
            "training.kubeflow.org/replica-type",
            "training.kubeflow.org/replica-index",
            "jobset.sigs.k8s.io/replicatedjob-name",
            "jobset.sigs.k8s.io/job-index",
            "ray.io/group",
            "grove.io/podgang",
            "serving.knative.dev/revision",
        ]
    ),
    st.sampled_from(
        ["", "0", "1", "2", "-1", "99999999999", "x", "one", "worker", "a.B", "preemptible", "1m"]
    ),
    max_size=6,
)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[list[Pod], list[Json]]:
    """Up to three owners in a chain, whatever their kinds, and two pods of the lowest."""
    owners: list[Json] = []
    for place in range(draw(st.integers(0, 3))):
        group_name, kind = draw(st.sampled_from(KINDS))
        said = {"labels": draw(SAID), "annotations": draw(SAID)}
        spec, status = draw(st.dictionaries(FIELDS, TREES, max_size=3)), draw(TREES)
        above = owners[-1] if owners else None
        owners.append(thing(f"{group_name}/v1", kind, f"o{place}", above, spec=spec, status=status, **said))
    pods = [_pod(f"p{place}", owners, draw(SAID), draw(SAID)) for place in range(2)]
    extra = thing("scheduler.grove.io/v1alpha1", "PodGang", "1", spec=draw(st.dictionaries(FIELDS, TREES)))
    return pods, [*owners, extra]


def _pod(name: str, owners: list[Json], said: dict[str, str], noted: dict[str, str]) -> Pod:
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": NAMESPACE,
        "uid": name,
        "labels": said,
        "annotations": noted,
    }
    if owners:
        metadata["ownerReferences"] = [reference(owners[-1])]
    return msgspec.convert({"metadata": metadata, "spec": {"schedulerName": "quorate"}}, Pod)


def check(pods: list[Pod], objects: list[Json]) -> None:
    found = group(pods, context(*objects))
    for warned in found.warnings:
        assert warned.message
        assert "\n" not in warned.message
    for gang in found.gangs:
        (change,) = writes.gang_changes(gang, None, Settings())
        assert isinstance(change, Apply)
        shown = msgspec.convert(change.body, PodGroup)
        assert list(writes.gang_changes(gang, shown, Settings())) == []
        assert validate(shown.spec).errors == ()
        names = [each.name for each in shown.spec.sub_groups or ()]
        assert all(place in {"", *names} for _, place in gang.members)


@given(workloads())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_workload_is_grouped_or_refused(workload: tuple[list[Pod], list[Json]]) -> None:
    check(*workload)


CHANGES = ("shown again", "labelled", "gone", "new", "owner changed", "class made")


@given(workloads(), st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 1), SAID), max_size=4))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_taken_over_from_the_last_pass_is_what_would_be_found(
    workload: tuple[list[Pod], list[Json]], changes: list[tuple[str, int, dict[str, str]]]
) -> None:
    pods, objects = workload
    classes = {"train"}
    before = group(pods, replace(context(*objects), priority_classes=frozenset(classes)))
    for change, place, said in changes:
        pods, objects = list(pods), list(objects)
        chosen = pods[place % len(pods)] if pods else _pod("p9", [], {}, {})
        labelled = msgspec.structs.replace(
            chosen, metadata=msgspec.structs.replace(chosen.metadata, labels=said)
        )
        match change:
            case "shown again":
                pods = [msgspec.structs.replace(pod) if pod is chosen else pod for pod in pods]
            case "labelled":
                pods = [labelled if pod is chosen else pod for pod in pods]
            case "gone":
                pods = [pod for pod in pods if pod is not chosen]
            case "new":
                named = msgspec.structs.replace(labelled.metadata, name=f"p{len(pods)}-new", uid="new")
                pods.append(msgspec.structs.replace(labelled, metadata=named))
            case "owner changed":
                metadata = {**objects[0]["metadata"], "annotations": said}
                objects[0] = {**objects[0], "metadata": metadata}
            case _:
                classes.add("build")
        seen = replace(context(*objects), priority_classes=frozenset(classes))
        after = group(pods, seen, before=before)
        assert after == group(pods, seen)
        before = after


@pytest.mark.nightly
@pytest.mark.skipif("QUORATE_NIGHTLY" not in os.environ, reason="a minute long")
@given(workloads())
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_ten_thousand_workloads_are_grouped_or_refused(workload: tuple[list[Pod], list[Json]]) -> None:
    check(*workload)
