"""Passes over a RoleBasedGroup until nothing changes: what it grows to, in which steps, and what it never does."""

import pytest

from quorate.plan import Emit, SetStatus
from quorate.workloads.rbg.reconcile import reconcile
from quorate.workloads.rbg.revisions import restored
from tests.fakes.rbg_world import TEMPLATE, World, placed, role


def test_segments_grow_one_after_the_other_until_room_ends() -> None:
    world = World([role("prefill", 100), role("decode", 50)], placed({"prefill": 10, "decode": 5}), room=140)
    world.settle()
    assert (len(world.bound("prefill")), len(world.bound("decode"))) == (90, 45)
    assert (world.told("prefill"), world.told("decode")) == (100, 50)
    assert world.condition("MinimumSegmentsAvailable") == (
        "True",
        "MinimumSegmentReady",
        "9/10 segments ready (135/150 pods)",
    )
    world.room = 150
    world.settle()
    assert world.condition("Ready")[1] == "AllReplicasReady"
    assert world.status["segmentsReady"] == "10/10"


def test_a_pass_over_what_is_settled_writes_nothing() -> None:
    world = World([role("a", 3), role("b", 2, size=2)], placed({"a": 2, "b": 1}))
    world.settle()
    assert not world.step().changes


def test_two_coordinations_end_at_what_is_wanted() -> None:
    roles = [role("prefill", 60), role("decode", 20), role("router", 10)]
    world = World(roles, placed({"prefill": 5, "decode": 3}, {"decode": 3, "router": 2}))
    world.settle()
    assert [world.ready(name) for name in ("prefill", "decode", "router")] == [60, 20, 10]


def test_a_composite_counts_the_instances_that_may_exist() -> None:
    world = World([role("a", 3), role("b", 1)], placed({"a": 2, "b": 1}))
    world.settle()
    assert (world.minimum(1), world.minimum(2)) == (3, 1)


def test_growth_that_finds_no_room_removes_nobody() -> None:
    world = World([role("a", 4), role("b", 2)], placed({"a": 2, "b": 1}), room=6)
    world.settle()
    world.roles = [role("a", 6), role("b", 3)]
    world.settle()
    assert (world.ready("a"), world.ready("b")) == (4, 2)
    assert world.condition("MinimumSegmentsAvailable")[:2] == ("True", "MinimumMet")
    assert world.condition("Ready")[1] == "ScalingInProgress"


def test_shrinking_goes_at_once_though_a_segment_waits() -> None:
    world = World([role("a", 6), role("b", 3)], placed({"a": 2, "b": 1}), room=3)
    world.settle()
    world.roles = [role("a", 2), role("b", 1)]
    world.settle()
    assert (world.told("a"), world.told("b")) == (2, 1)
    assert [name for kind, name in world.objects if kind == "CompositePodGroup"] == ["g-segment-1"]


def test_the_rollout_goes_segment_by_segment_from_the_highest() -> None:
    world = World([role("a", 6), role("b", 3)], placed({"a": 2, "b": 1}))
    world.settle()
    world.roles = [role("a", 6, image="2"), role("b", 3, image="2")]
    updating: list[int] = []
    for _ in range(60):
        world.step()
        segments = {index // 2 for index, one in world.instances["g-a"].items() if not one.ready}
        segments |= {index for index, one in world.instances["g-b"].items() if not one.ready}
        assert len(segments) <= 1
        updating += sorted(segments - {*updating[-1:]})
    assert updating == [2, 1, 0]
    assert [one["updatedReplicas"] for one in world.status["roleStatuses"]] == [6, 3]
    assert world.condition("Ready")[0] == "True"


def test_a_bad_revision_costs_one_segment() -> None:
    world = World([role("a", 3)], placed({"a": 1}))
    world.settle()
    world.stuck = {("a", 2)}
    world.roles = [role("a", 3, image="bad")]
    world.settle()
    assert [one.ready for one in world.instances["g-a"].values()] == [True, True, False]
    world.stuck = set()
    world.roles = [role("a", 3)]
    world.settle()
    assert world.ready("a") == 3


def test_a_segment_that_never_started_does_not_hold_the_rollout() -> None:
    world = World([role("a", 3)], placed({"a": 1}), room=2)
    world.settle()
    world.roles = [role("a", 3, image="2")]
    world.settle()
    old = {one.revision for one in world.instances["g-a"].values()}
    assert len(old) == 1
    assert world.ready("a") == 2


def test_a_segment_without_room_does_not_take_the_seats_that_an_update_leaves() -> None:
    """While both roles of segment 1 are replaced, there would be room for the three pods of segment 2."""
    world = World([role("a", 4), role("b", 2)], placed({"a": 2, "b": 1}), room=5)
    world.settle()
    assert (world.bound("a"), world.bound("b")) == ([0, 1], [0])
    world.roles = [role("a", 4, image="2"), role("b", 2, image="2")]
    world.settle()
    assert (world.bound("a"), world.bound("b")) == ([0, 1], [0])
    assert len({one.revision for name in ("g-a", "g-b") for one in world.instances[name].values()}) == 2
    assert world.minimum(2) == 3
    world.room = 6
    world.settle()
    assert (world.ready("a"), world.ready("b")) == (4, 2)


@pytest.mark.parametrize("steps", range(5))
def test_nor_does_one_that_is_new_when_the_update_begins(steps: int) -> None:
    """Segment 3 is one pod, which fits as soon as anything is replaced."""
    world = World([role("a", 4), role("b", 2)], placed({"a": 2, "b": 1}), room=6)
    world.settle()
    world.roles = [role("a", 5), role("b", 2)]
    for _ in range(steps):
        world.step()
    world.roles = [role("a", 5, image="2"), role("b", 2, image="2")]
    world.settle()
    assert (world.bound("a"), world.bound("b")) == ([0, 1, 2, 3], [0, 1])
    assert len({one.revision for name in ("g-a", "g-b") for one in world.instances[name].values()}) == 2
    world.room = 7
    world.settle()
    assert (world.ready("a"), world.ready("b")) == (5, 2)


def test_a_segment_without_room_does_not_take_the_seat_of_an_instance_that_was_lost() -> None:
    world = World([role("a", 4), role("b", 2)], placed({"a": 2, "b": 1}), room=5)
    world.settle()
    for name in ("g-a", "g-b"):
        world.instances[name][0].bound = False
    world.settle()
    assert (world.bound("a"), world.bound("b")) == ([0, 1], [0])


def test_a_paused_group_keeps_its_pods() -> None:
    world = World([role("a", 2), role("b", 2)], placed({"a": 1, "b": 1}))
    world.settle()
    before = repr(world.instances)
    world.annotations = {"quorate.dev/paused": "true"}
    world.roles = [role("a", 2, image="2"), role("b", 2, image="2")]
    world.settle()
    assert repr(world.instances) == before
    world.annotations = {}
    world.settle()
    assert repr(world.instances) != before


def test_who_waits_for_a_role_grows_once_it_is_ready_and_nobody_else_waits() -> None:
    roles = [role("store", 1), role("server", 2, dependencies=["store"]), role("other", 1)]
    world = World(roles)
    world.stuck = {("store", 0)}
    world.settle()
    assert "g-server" not in world.instances
    assert world.ready("other") == 1
    world.stuck = set()
    world.settle()
    assert world.ready("server") == 2


def test_a_role_that_starts_in_order_waits_for_each_instance() -> None:
    world = World([role("store", 3, podManagementPolicy="OrderedReady"), role("other", 3)])
    world.stuck = {("store", 1)}
    world.settle()
    assert (world.told("store"), world.ready("other")) == (2, 3)
    world.stuck = set()
    world.settle()
    assert world.ready("store") == 3


def test_an_instance_counts_once_it_was_ready_for_so_long() -> None:
    world = World([role("a", 2, minReadySeconds=30)], placed({"a": 1}))
    for _ in range(10):
        world.step()
    assert (world.told("a"), world.ready("a")) == (1, 1)
    assert world.condition("Ready")[2] == "0/2 pods ready"
    world.now += 30
    for _ in range(4):
        world.step()
    assert world.told("a") == 2


def test_delays_between_restarts_reach_the_set() -> None:
    config = {"type": "RecreateRoleInstanceOnPodRestart", "baseDelaySeconds": 5, "maxDelaySeconds": 20}
    pattern = {"template": TEMPLATE, "restartPolicyConfig": config}
    world = World([{"name": "a", "standalonePattern": pattern}])
    world.settle()
    body = world.objects["LeaderWorkerSet", "g-a"]
    assert body["metadata"]["annotations"]["quorate.dev/restart-backoff"] == "5/20"
    assert body["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "RecreateGroupOnPodRestart"


def test_a_dependency_inside_a_segment_starts_without_those_who_wait_for_it() -> None:
    roles = [role("prefill", 4), role("decode", 2, dependencies=["prefill"])]
    world = World(roles, placed({"prefill": 2, "decode": 1}))
    world.settle()
    assert (world.ready("prefill"), world.ready("decode")) == (4, 2)


def test_a_fault_changes_nothing_and_is_said() -> None:
    world = World([role("a", 2), role("b", 1)], placed({"a": 2, "b": 1}))
    world.settle()
    before = dict(world.objects)
    world.coordinations = placed({"a": 2, "b": 1}, {"a": 3})
    world.roles = [role("a", 9), role("b", 1)]
    world.settle()
    assert world.objects == before
    status, reason, message = world.condition("ConfigurationValid")
    assert (status, reason) == ("False", "Invalid")
    assert 'segment size conflict for role "a": coordination has segment size 3' in message
    assert world.condition("Ready") == ("False", "ScalingInProgress", "3/10 pods ready")
    world.stuck = {("a", 0)}
    world.settle()
    assert world.condition("Ready")[2] == "2/10 pods ready"
    world.stuck = set()
    world.coordinations = placed({"a": 3, "b": 1})
    world.settle()
    assert (world.ready("a"), world.condition("ConfigurationValid")[0]) == (9, "True")


def test_a_set_of_somebody_else_is_left_alone() -> None:
    world = World([role("a", 2)])
    world.objects["LeaderWorkerSet", "g-a"] = {"metadata": {"name": "g-a"}, "spec": {"replicas": 7}}
    changes = reconcile(world.seen()).changes
    assert not [change for change in changes if not isinstance(change, Emit | SetStatus)]


def test_a_role_that_is_gone_takes_its_set_along() -> None:
    world = World([role("a", 1), role("b", 1)])
    world.settle()
    world.roles = [role("a", 1)]
    world.settle()
    assert [name for kind, name in world.objects if kind == "LeaderWorkerSet"] == ["g-a"]
    assert [name for kind, name in world.objects if kind == "Service"] == ["s-g-a"]


def test_an_adapter_is_made_on_request_and_scales_the_role() -> None:
    world = World([role("a", 2, scalingAdapter={"enable": True})])
    world.settle()
    adapter = world.objects["RoleBasedGroupScalingAdapter", "g-a"]
    assert adapter["status"]["phase"] == "Bound"
    adapter["spec"]["replicas"] = 5
    world.settle()
    assert world.ready("a") == 5
    assert world.objects["RoleBasedGroupScalingAdapter", "g-a"]["status"]["replicas"] == 5


def test_the_whole_group_goes_back_to_a_revision_and_keeps_its_numbers() -> None:
    world = World([role("a", 2), role("b", 1)])
    world.settle()
    first = world.status["currentRevision"]
    world.roles = [role("a", 4, image="2"), role("b", 1, image="2")]
    world.settle()
    assert world.status["currentRevision"] != first
    patch = restored(world.wire, world.objects["ControllerRevision", first]["data"])
    world.roles = patch["spec"]["roles"]
    world.settle()
    assert world.status["currentRevision"] == first
    assert world.told("a") == 4
    numbers = [body["revision"] for (kind, _), body in world.objects.items() if kind == "ControllerRevision"]
    assert sorted(numbers) == [2, 3]


@pytest.mark.parametrize(
    ("strategy", "field"),
    [
        ("RequireSegmentAffinity", "requiredTopologyLevel"),
        ("PreferSegmentAffinity", "preferredTopologyLevel"),
        ("Require", "requiredTopologyLevel"),
        ("Prefer", "preferredTopologyLevel"),
    ],
)
def test_a_segment_keeps_to_a_domain_as_strictly_as_asked(strategy: str, field: str) -> None:
    affinity = {"topologyKey": "rack", "strategy": strategy, "spreadSegments": True}
    world = World([role("a", 2)], placed({"a": 1}, topologyAffinity=affinity))
    world.settle()
    spec = world.objects["CompositePodGroup", "g-segment-1"]["spec"]
    assert spec["topologyConstraint"] == {field: "rack"}
    assert spec["spread"] == world.objects["CompositePodGroup", "g-segment-2"]["spec"]["spread"] != ""


def test_best_effort_is_a_wish_of_each_instance() -> None:
    affinity = {"topologyKey": "rack", "strategy": "BestEffort"}
    world = World([role("a", 1, size=2)], placed({"a": 1}, topologyAffinity=affinity))
    world.settle()
    assert "topologyConstraint" not in world.objects["CompositePodGroup", "g-segment-1"]["spec"]
    notes = world.objects["LeaderWorkerSet", "g-a"]["metadata"]["annotations"]
    assert notes["kai.scheduler/topology-preferred-placement"] == "rack"


def test_a_group_is_not_ready_by_instances_that_are_about_to_go() -> None:
    """Of four segments the last two run; the first two are wanted."""
    world = World([role("a", 4)], placed({"a": 1}, progression="Parallel"), room=2)
    world.settle()
    assert world.bound("a") == [2, 3]
    world.roles = [role("a", 2)]
    world.step()
    assert world.condition("Ready") == ("False", "DeploymentInProgress", "0/2 pods ready")
    world.settle()
    assert world.condition("Ready")[0] == "True"


def test_instances_of_different_segments_make_none() -> None:
    world = World([role("a", 2), role("b", 2)], placed({"a": 1, "b": 1}))
    world.settle()
    world.stuck = {("a", 0), ("b", 1)}
    world.settle()
    assert world.condition("MinimumSegmentsAvailable") == (
        "False",
        "NoSegmentsReady",
        "0/2 segments ready (2/4 pods)",
    )
    assert world.status["segmentsReady"] == "0/2"
    assert world.status["coordinations"][0].get("ready", 0) == 0
    assert not any(row.get("ready") for row in world.status["segments"])


def test_a_coordination_says_that_a_segment_finds_no_room() -> None:
    world = World([role("a", 4), role("b", 2)], placed({"a": 2, "b": 1}), room=5)
    world.settle()
    (row,) = world.status["coordinations"]
    assert row["waitsFor"] == (
        "2 of 4 instances of role a ready, 1 of 2 instances of role b ready, room for segment 2"
    )
    world.room = 6
    world.settle()
    assert "waitsFor" not in world.status["coordinations"][0]


def test_progress_is_told_once() -> None:
    world = World([role("a", 2)], placed({"a": 1}))
    world.settle()
    assert [event for event in world.events if event.startswith("SegmentReady")] == [
        "SegmentReady: coordination coordination-1: 1 of 2 segments are ready",
        "SegmentReady: coordination coordination-1: 2 of 2 segments are ready",
    ]
    (row,) = world.status["coordinations"]
    assert (row["complete"], row["ready"], row["wanted"]) == (2, 2, 2)
