"""Reading a RoleBasedGroup of either shape, and what is refused about it."""

from typing import Any

import msgspec

from quorate.api.meta import Json
from quorate.api.rbg import ROLE_BASED_GROUP, RoleBasedGroup
from quorate.api.rbgpolicy import CoordinatedPolicy
from quorate.workloads.rbg.gang import GangRole, GroupGang
from quorate.workloads.rbg.group import Group, read
from tests.workloads.rbg.test_convert import POLICY, TEMPLATE, UPSTREAM


def of(*roles: Json, **more: Any) -> Group:
    spec = {"roles": list(roles), **{key: value for key, value in more.items() if key != "metadata"}}
    wire = {"metadata": {"name": "llm", **more.get("metadata", {})}, "spec": spec}
    return read(ROLE_BASED_GROUP, msgspec.convert(wire, RoleBasedGroup))


def role(name: str, replicas: int = 1, **fields: Any) -> Json:
    return {"name": name, "replicas": replicas, "template": TEMPLATE, **fields}


def together(**instances: int) -> GroupGang:
    return GroupGang({name: GangRole(count, 1) for name, count in instances.items()})


def coordination(**placement: Any) -> list[Json]:
    return [{"strategy": {"segmentPlacement": placement}}]


def test_patches_meet_the_shared_template() -> None:
    found = read(
        ROLE_BASED_GROUP,
        msgspec.convert(UPSTREAM, RoleBasedGroup),
        msgspec.convert(POLICY, CoordinatedPolicy),
    )
    prefill = found.by_name["prefill"]
    assert prefill.size == 3
    assert prefill.templates.worker["spec"] == {
        "containers": TEMPLATE["spec"]["containers"],
        "hostNetwork": True,
    }
    assert prefill.templates.leader is not None
    (container,) = prefill.templates.leader["spec"]["containers"]
    assert container == {**TEMPLATE["spec"]["containers"][0], "env": [{"name": "L", "value": "1"}]}
    assert found.by_name["decode"].templates.leader is None


def test_an_adapter_comes_before_the_replicas_of_the_role() -> None:
    wire = {"metadata": {"name": "llm"}, "spec": {"roles": [role("a", 3), role("b", 2)]}}
    found = read(ROLE_BASED_GROUP, msgspec.convert(wire, RoleBasedGroup), scaled={"b": 7})
    assert {one.name: one.replicas for one in found.roles} == {"a": 3, "b": 7}


def test_the_annotation_makes_the_whole_group_one_gang() -> None:
    asked = {"annotations": {"rbg.workloads.x-k8s.io/group-gang-scheduling": "true"}}
    assert of(role("a", 3), role("b", 2), metadata=asked).gang == together(a=3, b=2)
    assert of(role("a", 3)).gang is None


def test_the_minimums_of_a_policy_come_before_the_annotation() -> None:
    def scheduling(**minimums: int) -> Json:
        return {"strategy": {"scheduling": {"gang": {"minReplicas": minimums}}}}

    several = [scheduling(a=1), scheduling(a=2, b=1)]
    roles = role("a", 3), role("b", 2), role("c", 1)
    assert of(*roles, coordinationRequirements=several).gang == together(a=2, b=1)
    assert of(*roles, coordinationRequirements=[scheduling()]).gang == together(a=3, b=2, c=1)


def test_a_segment_without_sizes_takes_them_from_the_ratio() -> None:
    found = of(role("a", 100), role("b", 50), coordinationRequirements=coordination())
    assert not found.faults
    assert [one.sizes for one in found.coordinations] == [{"a": 2, "b": 1}]


def test_faults_name_role_and_field_and_leave_nothing_to_act_on() -> None:
    found = of(role("a", 4), coordinationRequirements=coordination(segmentSize={"a": 2, "ghost": 1}))
    assert found.roles == ()
    (fault,) = found.faults
    assert fault.field == "spec.coordinationRequirements[0].strategy.segmentPlacement.segmentSize.ghost"
    assert fault.message == 'role "ghost" does not exist: the group has a'


def test_faults_of_a_policy_are_named_there() -> None:
    wire = {"metadata": {"name": "llm"}, "spec": {"roles": [role("a")]}}
    rule = {"strategy": {"segmentPlacement": {"segmentSize": {"a": 0}}}}
    policy = msgspec.convert({"spec": {"policies": [rule]}}, CoordinatedPolicy)
    (fault,) = read(ROLE_BASED_GROUP, msgspec.convert(wire, RoleBasedGroup), policy).faults
    assert fault.field == "CoordinatedPolicy spec.policies[0].strategy.segmentPlacement.segmentSize.a"


def test_a_role_without_a_template_is_a_fault() -> None:
    (fault,) = of(role("a"), {"name": "b"}).faults
    assert str(fault) == (
        'spec.roles[1]: role "b" has no pod template: '
        "give it a template, a standalonePattern or a leaderWorkerPattern"
    )


def test_components_are_refused_by_name() -> None:
    (fault,) = of({"name": "b", "customComponentsPattern": {"components": []}}).faults
    assert fault.field == "spec.roles[0].customComponentsPattern"
