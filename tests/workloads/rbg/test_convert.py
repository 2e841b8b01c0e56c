"""Both API shapes of a RoleBasedGroup say the same, and the way there and back loses nothing."""

import msgspec
import pytest

from quorate.api.meta import Json
from quorate.api.rbg import ROLE_BASED_GROUP, RoleBasedGroup
from quorate.api.rbgpolicy import CoordinatedPolicy
from quorate.workloads.rbg.convert import to_segment_design, to_upstream
from quorate.workloads.rbg.group import Group, read

CONTAINER: Json = {"name": "main", "image": "example/server:1"}
TEMPLATE: Json = {"metadata": {"labels": {"tier": "x"}}, "spec": {"containers": [CONTAINER]}}
PLACEMENT: Json = {
    "segmentSize": {"prefill": 10, "decode": 5},
    "progression": "Ordered",
    "topologyAffinity": {"topologyKey": "rack", "spreadSegments": True},
}
SEED: Json = {
    "apiVersion": "workloads.instai.io/v1alpha1",
    "kind": "RoleBasedGroup",
    "metadata": {"name": "llm", "namespace": "team", "labels": {"kai.scheduler/queue": "q"}},
    "spec": {
        "roles": [
            {"name": "prefill", "replicas": 100, "template": TEMPLATE},
            {"name": "decode", "replicas": 50, "dependencies": ["prefill"], "template": TEMPLATE},
        ],
        "coordinationRequirements": [{"strategy": {"segmentPlacement": PLACEMENT}}],
    },
}
UPSTREAM: Json = {
    "apiVersion": "workloads.x-k8s.io/v1alpha2",
    "kind": "RoleBasedGroup",
    "metadata": {"name": "llm", "namespace": "team"},
    "spec": {
        "roleTemplates": [{"name": "shared", "template": TEMPLATE}],
        "roles": [
            {
                "name": "prefill",
                "replicas": 4,
                "leaderWorkerPattern": {
                    "size": 3,
                    "templateRef": {"name": "shared", "patch": {"spec": {"hostNetwork": True}}},
                    "leaderTemplatePatch": {
                        "spec": {"containers": [{"name": "main", "env": [{"name": "L", "value": "1"}]}]}
                    },
                    "restartPolicyConfig": {"type": "None", "baseDelaySeconds": 5},
                },
                "rolloutStrategy": {"rollingUpdate": {"maxUnavailable": "50%", "partition": 1}},
            },
            {
                "name": "decode",
                "replicas": 2,
                "dependencies": ["prefill"],
                "standalonePattern": {"template": TEMPLATE},
                "servicePorts": [{"name": "http", "port": 80}],
                "scalingAdapter": {"enable": True},
            },
        ],
    },
}
POLICY: Json = {
    "apiVersion": "workloads.x-k8s.io/v1alpha2",
    "kind": "CoordinatedPolicy",
    "metadata": {"name": "llm", "namespace": "team"},
    "spec": {
        "policies": [
            {
                "name": "together",
                "roles": ["prefill", "decode"],
                "strategy": {
                    "segmentPlacement": {"segmentSize": {"prefill": 2, "decode": 1}},
                    "rollingUpdate": {"maxSkew": "10%"},
                    "scaling": {"maxSkew": 2, "progression": "OrderReady"},
                },
            },
            {
                "name": "start",
                "roles": ["prefill"],
                "strategy": {"scheduling": {"gang": {"minReplicas": {"prefill": 2}}}},
            },
        ]
    },
}


def group(wire: Json, policy: Json | None = None) -> Group:
    found = msgspec.convert(wire, RoleBasedGroup)
    return read(
        ROLE_BASED_GROUP, found, None if policy is None else msgspec.convert(policy, CoordinatedPolicy)
    )


def test_the_segment_design_means_the_same_in_upstreams_shape() -> None:
    wire, policy = to_upstream(msgspec.convert(SEED, RoleBasedGroup))
    assert wire["apiVersion"] == "workloads.x-k8s.io/v1alpha2"
    assert policy is not None
    assert policy["metadata"]["name"] == "llm"
    assert "coordinationRequirements" not in wire["spec"]
    before, after = group(SEED), group(wire, policy)
    assert not before.faults
    assert after == before


def test_upstreams_shape_means_the_same_in_the_segment_design() -> None:
    found, policy = msgspec.convert(UPSTREAM, RoleBasedGroup), msgspec.convert(POLICY, CoordinatedPolicy)
    wire = to_segment_design(found, policy)
    assert wire["apiVersion"] == "workloads.instai.io/v1alpha1"
    before, after = group(UPSTREAM, POLICY), group(wire)
    assert not before.faults
    assert after == before


@pytest.mark.parametrize("wire", [SEED, UPSTREAM])
def test_there_and_back_is_the_same_text(wire: Json) -> None:
    there, policy = to_upstream(msgspec.convert(wire, RoleBasedGroup))
    given = None if policy is None else msgspec.convert(policy, CoordinatedPolicy)
    back = to_segment_design(msgspec.convert(there, RoleBasedGroup), given)
    again, policy_again = to_upstream(msgspec.convert(back, RoleBasedGroup))
    assert (again, policy_again) == (there, policy)


def test_a_group_without_coordinations_needs_no_policy() -> None:
    bare = {**SEED, "spec": {"roles": SEED["spec"]["roles"]}}
    assert to_upstream(msgspec.convert(bare, RoleBasedGroup))[1] is None
