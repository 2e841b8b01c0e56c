import msgspec
import pytest

from quorate.admission.rbg import review
from quorate.admission.surroundings import Surroundings
from quorate.api.meta import Json
from quorate.api.rbg import RoleBasedGroup
from quorate.api.rbgpolicy import ScalingAdapter

TEMPLATE: Json = {"spec": {"containers": [{"name": "a"}]}}


def group(roles: list[Json], name: str = "llm", **spec: object) -> RoleBasedGroup:
    return msgspec.convert({"metadata": {"name": name}, "spec": {"roles": roles, **spec}}, RoleBasedGroup)


def role(name: str = "prefill", **fields: object) -> Json:
    return {"name": name, "template": TEMPLATE, **fields}


def errors(new: RoleBasedGroup) -> list[str]:
    return [str(fault) for fault in review(new).errors]


def test_the_example_of_the_design_passes() -> None:
    placement = {"segmentSize": {"prefill": 10, "decode": 5}, "progression": "OrderedReady"}
    requirements = [{"strategy": {"segmentPlacement": placement}}]
    new = group([role(replicas=100), role("decode", replicas=50)], coordinationRequirements=requirements)
    assert review(new) == ((), ())


def test_segments_name_roles_and_have_a_size() -> None:
    requirements = [{"strategy": {"segmentPlacement": {"segmentSize": {"prefill": 0, "router": 1}}}}]
    at = "spec.coordinationRequirements[0].strategy.segmentPlacement.segmentSize"
    assert errors(group([role()], coordinationRequirements=requirements)) == [
        f"{at}.prefill: Invalid value: 0: must be greater than or equal to 1",
        f'{at}.router: role "router" does not exist: the group has prefill',
    ]


@pytest.mark.parametrize(
    ("rolling", "text"),
    [
        ({"maxSurge": 0, "maxUnavailable": "10%"}, "maxSurge and maxUnavailable cannot both be 0"),
        ({"partition": "76%"}, "partition 4 must be less than replicas 4"),
    ],
)
def test_a_rollout_needs_room(rolling: Json, text: str) -> None:
    (error,) = errors(group([role(replicas=4, rolloutStrategy={"rollingUpdate": rolling})]))
    assert error.endswith(text)


def test_a_role_has_one_pattern() -> None:
    (error,) = errors(group([role(standalonePattern={"template": TEMPLATE})]))
    assert error.startswith("spec.roles[0]: a role has one of template, standalonePattern")


def test_a_role_without_pods_warns() -> None:
    (warning,) = review(group([{"name": "prefill"}])).warnings
    assert str(warning) == "spec.roles[0]: no pattern and no template is given: the role gets no pods"


def test_what_cannot_be_done_is_said() -> None:
    config = {"baseDelaySeconds": 50, "maxDelaySeconds": 10}
    roles: list[Json] = [
        {"name": "a", "standalonePattern": {"template": TEMPLATE, "restartPolicyConfig": config}},
        {"name": "b", "customComponentsPattern": {"components": []}},
        role("c", replicas=200_000),
        role("d", rolloutStrategy={"rollingUpdate": {"type": "InPlaceOnly"}}),
        role("e", annotations={"rbg.workloads.x-k8s.io/role-workload-type": "apps/v1/Deployment"}),
    ]
    found = review(group(roles))
    assert [fault.field for fault in found.errors] == [
        "spec.roles[0].standalonePattern.restartPolicyConfig.maxDelaySeconds",
        "spec.roles[1].customComponentsPattern",
        "spec.roles[2].replicas",
    ]
    assert [fault.message.partition(":")[2] for fault in found.warnings] == [
        " pods are made again, not updated in place",
        " rbg.workloads.x-k8s.io/role-workload-type has no effect, a LeaderWorkerSet runs every role",
    ]


def test_templates_are_found_by_name() -> None:
    pattern = {"templateRef": {"name": "base"}}
    roles: list[Json] = [{"name": "prefill", "standalonePattern": pattern}]
    assert errors(group(roles, roleTemplates=[{"name": "base", "template": TEMPLATE}])) == []
    assert errors(group(roles)) == [
        'spec.roles[0].templateRef: template "base" not found in spec.roleTemplates'
    ]
    (error,) = errors(group([role()], roleTemplates=[{"name": "Base", "template": TEMPLATE}]))
    assert error.startswith('spec.roleTemplates[0].name: "Base" is not a valid DNS label')


def test_circles_and_doubles_are_named() -> None:
    assert errors(group([role("a", dependencies=["b"]), role("b", dependencies=["a"])])) == [
        "spec.roles[0].dependencies: cycle detected for role 'a'"
    ]
    assert errors(group([role("a"), role("a")]))[0] == 'spec.roles[0].name: "a" is the name of two roles'
    assert errors(group([role()], name="a.b"))[0].startswith('metadata.name: "a.b" is not a valid DNS label')


def test_rules_name_roles_that_exist_and_amounts_that_can_be() -> None:
    requirements = [
        {"name": "a", "roles": ["router"], "strategy": {"scaling": {"maxSkew": "150%"}}},
        {"name": "a", "strategy": {"rollingUpdate": {"maxSkew": -1}}},
        {"strategy": {"scheduling": {"gang": {"minReplicas": {"x": 1, "prefill": 0}}}}},
    ]
    at, least = "spec.coordinationRequirements", "must be greater than or equal to 1"
    count = 'use a count of instances, or a percentage such as "5%"'
    assert errors(group([role()], coordinationRequirements=requirements)) == [
        f'{at}[0].roles: role "router" does not exist: the group has prefill',
        f'{at}[0].strategy.scaling.maxSkew: "150%" is not a percentage from 0% to 100%, such as "5%"',
        f'{at}[1].name: "a" is the name of two rules',
        f"{at}[1].strategy.rollingUpdate.maxSkew: -1 is negative: {count}",
        f'{at}[2].strategy.scheduling.gang.minReplicas.x: role "x" does not exist: the group has prefill',
        f"{at}[2].strategy.scheduling.gang.minReplicas.prefill: Invalid value: 0: {least}",
    ]


def test_a_number_that_an_adapter_overrides_is_not_edited() -> None:
    wire = {
        "metadata": {"name": "llm-prefill"},
        "spec": {"replicas": 4, "scaleTargetRef": {"name": "llm", "role": "prefill"}},
    }
    around = Surroundings(adapters={"llm-prefill": msgspec.convert(wire, ScalingAdapter)})
    old = group([role(replicas=2)])
    (error,) = review(group([role(replicas=3)]), old, around).errors
    assert str(error) == (
        'spec.roles[0].replicas: role "prefill" has 4 instances by RoleBasedGroupScalingAdapter llm-prefill: '
        "scale that, or delete it"
    )
    for same in (2, 4):
        assert not review(group([role(replicas=same)]), old, around).errors
    assert not review(group([role(replicas=3)]), None, around).errors
