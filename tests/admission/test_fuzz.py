"""Random and mutated objects of our kinds: admission never crashes, and every refusal names its field."""

import os

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quorate.admission.judges import JUDGES, judge_of
from quorate.admission.surroundings import Surroundings
from quorate.api.core import Pod, PriorityClass
from quorate.api.meta import Json
from quorate.api.podgroup import PodGroup
from quorate.api.queue import Queue
from quorate.api.topology import Topology
from quorate.rules.tree import build, satisfied
from quorate.rules.validity import Findings
from quorate.status.podgroup import status_of

NAMES = st.sampled_from(["a", "b", "c", "A_b", "", "x" * 64, "zone", "kubernetes.io/hostname"])
NUMBERS = st.sampled_from([None, 0, 1, 2, 3, -1, 2**31 - 1, 2**31, 2**63])
ODD = st.sampled_from([None, 0, -1, 1.5, True, "", "x", [], {}, [None], {"a": 1}])
DURATIONS = st.sampled_from(["", "5m", "-1s", "x", "1h30m"])
CONSTRAINTS = st.fixed_dictionaries(
    {}, optional={"topology": NAMES, "requiredTopologyLevel": NAMES, "preferredTopologyLevel": NAMES}
)
MINIMUMS = {"minMember": NUMBERS, "minSubGroup": NUMBERS, "topologyConstraint": CONSTRAINTS}
GROUPS = st.fixed_dictionaries({"name": NAMES}, optional={"parent": st.none() | NAMES, **MINIMUMS})
ENV = st.lists(st.dictionaries(st.sampled_from(["name", "value"]), NAMES | st.just("LWS_GROUP_SIZE")) | ODD)
RESOURCES = st.dictionaries(
    st.sampled_from(["limits", "requests"]), st.dictionaries(st.just("google.com/tpu"), NUMBERS | ODD) | ODD
)
CONTAINER = st.fixed_dictionaries(
    {}, optional={"name": NAMES, "env": ENV | ODD, "resources": RESOURCES | ODD}
)
TEMPLATE = st.fixed_dictionaries(
    {}, optional={"spec": ODD | st.dictionaries(st.just("containers"), ODD | st.lists(CONTAINER | ODD))}
)
CLAIMS = st.lists(st.dictionaries(st.just("metadata"), ODD | st.dictionaries(st.just("name"), NAMES)))
POLICY = st.fixed_dictionaries(
    {}, optional={"subGroupSize": NUMBERS, "subGroupPolicyType": st.sampled_from(["LeaderExcluded", "x"])}
)
GROUP_OF_SET = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(-1, 5),
        "leaderTemplate": st.none() | TEMPLATE,
        "workerTemplate": TEMPLATE,
        "subGroupPolicy": st.none() | POLICY,
        "volumeClaimTemplates": st.none() | CLAIMS,
    },
)
ROLLING = st.dictionaries(
    st.sampled_from(["maxUnavailable", "maxSurge"]),
    st.sampled_from([0, 1, -1, 2**40, "", "50%", "x", "900%"]),
)
SPECS: dict[str, st.SearchStrategy[Json]] = {
    "LeaderWorkerSet": st.fixed_dictionaries(
        {"leaderWorkerTemplate": GROUP_OF_SET},
        optional={
            "replicas": st.integers(-1, 3),
            "rolloutStrategy": st.dictionaries(st.just("rollingUpdateConfiguration"), ROLLING),
        },
    ),
    "PodGroup": st.fixed_dictionaries(
        {},
        optional={
            "subGroups": st.lists(GROUPS, max_size=6),
            "queue": NAMES,
            "priorityClassName": NAMES,
            "preemptibility": st.sampled_from(["", "preemptible", "semi-preemptible", "maybe"]),
            "preemptionDelay": DURATIONS,
            "stalenessGracePeriod": DURATIONS,
            **MINIMUMS,
        },
    ),
    "Queue": st.fixed_dictionaries(
        {},
        optional={
            "parentQueue": NAMES,
            "resources": st.dictionaries(
                st.sampled_from(["cpu", "memory", "gpu"]),
                st.dictionaries(st.sampled_from(["quota", "limit", "overQuotaWeight"]), NUMBERS | ODD),
            ),
            "preemptMinRuntime": DURATIONS,
        },
    ),
    "Topology": st.fixed_dictionaries(
        {},
        optional={
            "levels": st.lists(st.dictionaries(st.sampled_from(["nodeLabel", "alias"]), NAMES), max_size=4)
        },
    ),
    "CompositePodGroup": st.fixed_dictionaries(
        {}, optional={"minGroupCount": NUMBERS, "parent": NAMES, "topologyConstraint": CONSTRAINTS}
    ),
    "Pod": st.fixed_dictionaries({}, optional={"schedulerName": NAMES, "containers": ODD}),
}
SAID = st.dictionaries(
    st.sampled_from(
        [
            "pod-group-name",
            "kai.scheduler/preemptibility",
            "kai.scheduler/topology",
            "quorate.dev/min-groups",
            "leaderworkerset.sigs.k8s.io/exclusive-topology",
        ]
    ),
    NAMES,
)
METADATA = st.fixed_dictionaries(
    {"name": NAMES, "namespace": st.just("team")}, optional={"labels": SAID, "annotations": SAID}
)


@st.composite
def documents(draw: st.DrawFn) -> Json:
    """An object of ours whose fields are mostly of the right type; now and then a part is anything at all."""
    group, kind = draw(st.sampled_from(sorted(place for place in JUDGES if place[1] in SPECS)))
    found: Json = {
        "apiVersion": f"{group}/v1" if group else "v1",
        "kind": kind,
        "metadata": draw(METADATA),
        "spec": draw(SPECS[kind]),
    }
    if draw(st.integers(0, 9)) == 0:
        found[draw(st.sampled_from(["metadata", "spec"]))] = draw(ODD)
    return found


AROUND = Surroundings(
    queues={"a": Queue()},
    topologies={"a": Topology()},
    priority_classes={"a": PriorityClass()},
    podgroups={"team/a": PodGroup()},
    composites={},
)


def judged(document: Json, old: Json | None) -> Findings:
    judge = judge_of(document["apiVersion"], document["kind"])
    assert judge is not None
    return judge(document, old, AROUND)


def check(document: Json, other: Json) -> None:
    found = judged(document, None)
    for fault in (*found.errors, *found.warnings):
        assert fault.field, fault
        assert fault.message
        assert "\n" not in fault.message
    if found.errors:
        return
    if other["kind"] == document["kind"] and not judged(other, None).errors:
        judged(document, other)
    if document["kind"] == "PodGroup":
        admitted = msgspec.convert(document, PodGroup)
        assert satisfied(build(admitted), {})
        assert status_of(admitted, [Pod()], {}, 0).phase


@given(documents(), documents())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_object_is_admitted_or_refused_at_a_field(document: Json, other: Json) -> None:
    check(document, other)


@pytest.mark.nightly
@pytest.mark.skipif("QUORATE_NIGHTLY" not in os.environ, reason="a minute long")
@given(documents(), documents())
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_ten_thousand_objects_are_admitted_or_refused_at_a_field(document: Json, other: Json) -> None:
    check(document, other)
