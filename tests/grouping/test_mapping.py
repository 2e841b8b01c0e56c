"""Kinds described by a file: what they become, and what of a file is refused, naming the place in it."""

import pytest

from quorate.grouping.grouper import Grouping, group
from quorate.grouping.mapping import MappingError, parse_mapping
from quorate.grouping.paths import PathError, parse
from quorate.grouping.subject import Settings
from tests.fakes.grouped import context, places, pod, refusals, thing, tree

ROLES = """
kinds:
- kind: Fleet.example.com
  priority: inference
  minSubGroup: spec.minRoles
  subGroups: {from: spec.roles, name: id, minMember: [least, replicas], annotations: template.annotations}
  subGroupOfPod: metadata.labels["example.com/role"]
- kind: Batch.example.com
  minMember: [spec.minAvailable, spec.replicas]
- kind: Server.example.com
  perPod: true
wrappers: [Flow.example.com]
"""


def grouped(*objects: dict[str, object], pods: list[object]) -> Grouping:
    settings = Settings(extensions=parse_mapping(ROLES))
    return group(pods, context(*objects, settings=settings))  # type: ignore[arg-type]


def test_the_first_path_that_has_a_value_is_the_minimum() -> None:
    for spec, expected in (({"minAvailable": 2, "replicas": 4}, 2), ({"replicas": 4}, 4), ({}, 1)):
        owner = thing("example.com/v1", "Batch", "b", spec=spec)
        (gang,) = grouped(owner, pods=[pod("a", owner)]).gangs
        assert gang.body["spec"]["minMember"] == expected


def test_groups_come_from_a_list_and_pods_say_theirs() -> None:
    noted = {"annotations": {"kai.scheduler/topology-required-placement": "rack"}}
    roles = [{"id": "head", "replicas": 1}, {"id": "Worker", "least": 2, "replicas": 3, "template": noted}]
    owner = thing("example.com/v1", "Fleet", "f", spec={"roles": roles, "minRoles": "1"})
    pods = [pod("a", owner, labels={"example.com/role": "Worker"})]
    (gang,) = grouped(owner, pods=pods).gangs  # type: ignore[arg-type]
    (name,) = places(gang).values()
    assert tree(gang) == [("head", None, 1), (name, None, 2)]
    assert name.startswith("worker-")
    spec = gang.body["spec"]
    assert (spec["minSubGroup"], spec["priorityClassName"], "minMember" in spec) == (1, "inference", False)
    assert spec["subGroups"][1]["topologyConstraint"] == {"requiredTopologyLevel": "rack"}


def test_groups_come_from_a_map_by_their_keys() -> None:
    owner = thing("example.com/v1", "Fleet", "f", spec={"roles": {"ps": {"replicas": 2}}})
    (gang,) = grouped(owner, pods=[pod("a", owner, labels={"example.com/role": "ps"})]).gangs
    assert tree(gang) == [("ps", None, 2)]


def test_a_pod_that_names_no_group_is_refused_with_the_groups_there_are() -> None:
    owner = thing("example.com/v1", "Fleet", "f", spec={"roles": [{"id": "head", "replicas": 1}]})
    assert refusals(grouped(owner, pods=[pod("a", owner)])) == [
        'metadata.labels["example.com/role"] of the pod is missing: it must name one of head'
    ]


@pytest.mark.parametrize("roles", [None, "x", [], [{"replicas": 1}], [{"id": "a", "replicas": -1}]])
def test_an_object_whose_groups_cannot_be_read_is_refused_by_path(roles: object) -> None:
    owner = thing("example.com/v1", "Fleet", "f", spec={"roles": roles})
    (said,) = refusals(grouped(owner, pods=[pod("a", owner, labels={"example.com/role": "a"})]))
    assert "spec.roles" in said or "replicas of spec.roles[0]" in said


def test_serving_kinds_are_gangs_of_one_pod_and_wrappers_are_looked_through() -> None:
    owner = thing("example.com/v1", "Server", "s")
    assert len(grouped(owner, pods=[pod("a", owner), pod("b", owner)]).gangs) == 2
    flow = thing("example.com/v1", "Flow", "w")
    inner = thing("example.com/v1", "Batch", "b", flow, spec={"replicas": 3})
    assert grouped(flow, inner, pods=[pod("a", inner)]).gangs[0].body["spec"]["minMember"] == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kinds: [{kind: Foo.example.com, minMembers: spec.x}]", "kinds[0]: Object contains unknown field"),
        ("kinds: [{kind: Foo.example.com, minMember: spec..x}]", 'kinds[0].minMember: "spec..x" is no path'),
        ("kinds: [{kind: Foo.example.com, minMember: [spec.a, 'b[']}]", "kinds[0].minMember[1]: "),
        ("kinds: [{kind: foo}]", 'kinds[0].kind: "foo" is no kind'),
        ("kinds: [{kind: Foo.a.b}, {kind: Foo.a.b}]", "kinds[1].kind: Foo.a.b stands here twice"),
        ("kinds: [{kind: Foo.a.b, subGroups: {from: spec.r}}]", "kinds[0].subGroupOfPod is missing"),
        ("kinds: [{kind: Foo.a.b, subGroupOfPod: spec.r}]", "kinds[0].subGroups is missing"),
        ("kinds: [{kind: Foo.a.b, perPod: true, minMember: a}]", "kinds[0].perPod: a gang of one pod"),
        ("kinds: [{minMember: a}]", "kinds[0]: Object missing required field `kind`"),
        (
            "kinds: [{kind: Foo.a.b, subGroups: {from: '', name: x}, subGroupOfPod: a}]",
            "kinds[0].subGroups.from",
        ),
        ("wrappers: [Foo.A]", "wrappers[0]: "),
        ("wrappers: 3", "wrappers: Expected `array`"),
        ("[", "this is not YAML"),
        ("- a", "the file: Expected `object`"),
    ],
)
def test_a_file_that_cannot_mean_anything_is_refused_at_its_place(text: str, said: str) -> None:
    with pytest.raises(MappingError) as raised:
        parse_mapping(text)
    assert str(raised.value).startswith(said)


def test_an_empty_file_maps_nothing() -> None:
    assert parse_mapping("").kinds == {}


def test_paths_reach_through_lists_and_quoted_keys() -> None:
    tree = {"a": [{"b/c": 1}]}
    assert parse('a[0]["b/c"]').read(tree) == 1
    assert parse("a[3].x").read(tree) is None
    assert parse("a.b").read(tree) is None
    for text in ("", ".", "a.", "a[x]", "a b"):
        with pytest.raises(PathError):
            parse(text)


def test_numbers_that_are_none_are_refused_at_their_path() -> None:
    owner = thing("example.com/v1", "Batch", "b", spec={"replicas": "many"})
    (said,) = refusals(grouped(owner, pods=[pod("a", owner)]))
    assert said == "spec.replicas of Batch team/b: 'many' is not a whole number"
