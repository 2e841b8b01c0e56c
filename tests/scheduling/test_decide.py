"""Whole cycles on small clusters: the shapes of gangs that the product promises to start."""

import pytest

from quorate.plan import Bind
from quorate.scheduling.decide import decide, solve
from tests.fakes.clusters import Cluster, Group


def test_other_replicas_start_where_the_first_is_impossible() -> None:
    cluster = Cluster()
    for number in range(6):
        cluster.node(f"n{number}", 4)
    replicas = [Group(f"replica-{at}", min_member=8, members=8, gpus=9 if at == 0 else 1) for at in range(4)]
    cluster.gang("job", [Group("", min_sub_group=3), *replicas])
    cluster.settle()
    assert [len(cluster.bound("job", f"replica-{at}")) for at in range(4)] == [0, 8, 8, 8]


def test_children_share_racks_in_the_only_way_that_fits() -> None:
    cluster = Cluster()
    cluster.node("four", 4, zone="z", rack="a")
    cluster.node("five", 5, zone="z", rack="b")
    children = [
        Group(name, min_member=size, members=size, required="rack")
        for name, size in (("a", 2), ("b", 3), ("c", 4))
    ]
    cluster.gang("job", [Group(""), *children])
    cluster.settle()
    assert [len(set(cluster.bound("job", name))) for name in "abc"] == [1, 1, 1]
    assert len(cluster.bound("job")) == 9


def test_a_child_of_which_half_exists_does_not_block_its_sibling() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    cluster.gang(
        "job",
        [
            Group("", min_sub_group=1),
            Group("a", min_member=4, members=2),
            Group("b", min_member=4, members=4),
        ],
    )
    cluster.settle()
    assert (len(cluster.bound("job", "a")), len(cluster.bound("job", "b"))) == (0, 4)


def test_a_gang_that_does_not_fit_binds_nobody_and_says_how_many_found_room() -> None:
    cluster = Cluster()
    cluster.node("n", 3)
    cluster.gang("job", [Group("", min_member=4, members=4)])
    plan = cluster.cycle()
    assert not plan.changes
    (refusal,) = plan.refusals
    assert refusal.gate == "NotEnoughResources"
    assert refusal.message == (
        "Resources were found for 3 pods while 4 are required for gang scheduling. Additional pods cannot be "
        "scheduled due to: no nodes with enough resources were found: 1 node(s) didn't have enough resources: GPUs"
    )


def test_an_elastic_gang_grows_into_what_is_left() -> None:
    cluster = Cluster()
    cluster.node("n", 5)
    cluster.gang("job", [Group("", min_member=2, members=8)])
    cluster.settle()
    assert len(cluster.bound("job")) == 5


def test_a_queue_that_does_not_exist_is_named() -> None:
    cluster = Cluster()
    cluster.queue("real", quota=1)
    cluster.node("n", 1)
    cluster.gang("job", [Group("", min_member=1, members=1)], queue="unreal")
    (refusal,) = cluster.cycle().refusals
    assert (refusal.gate, refusal.numbers["queue"]) == ("QueueDoesNotExist", "unreal")


@pytest.mark.parametrize(
    ("queue", "told"),
    [
        ("unreal", "Queue 'unreal' does not exist: create it, or set spec.queue"),
        ("org", "Queue 'org' has queues below it: set spec.queue"),
        ("lost", "Queue 'lost' cannot be used: spec.parentQueue: queue lost needs parent queue gone"),
    ],
)
def test_a_queue_that_takes_no_gang_says_why(queue: str, told: str) -> None:
    cluster = Cluster()
    cluster.queue("org")
    cluster.queue("team", parent="org")
    cluster.queue("lost", parent="gone")
    cluster.node("n", 1)
    cluster.gang("job", [Group("", min_member=1, members=1)], queue=queue)
    (refusal,) = cluster.cycle().refusals
    assert refusal.message.startswith(told)


def test_too_few_members_are_waited_for() -> None:
    cluster = Cluster()
    cluster.node("n", 8)
    cluster.gang("job", [Group("", min_member=3, members=2)])
    (refusal,) = cluster.cycle().refusals
    assert refusal.message == "Job is not ready for scheduling. Waiting for pods: 2 of 3 pods exist"


def test_the_rack_that_just_suffices_is_taken() -> None:
    cluster = Cluster()
    for rack, gpus in (("big", 8), ("small", 4)):
        cluster.node(rack, gpus, zone="z", rack=rack)
    cluster.gang("job", [Group("", min_member=3, members=3, required="rack")])
    cluster.settle()
    assert set(cluster.bound("job")) == {"small"}


def test_growth_stays_in_the_rack_of_those_who_run() -> None:
    cluster = Cluster()
    cluster.node("a", 2, zone="z", rack="a")
    cluster.node("b", 8, zone="z", rack="b")
    running = Group("", min_member=2, members=4, required="rack", running=("a", "a"))
    cluster.gang("job", [running])
    cluster.settle()
    assert cluster.bound("job") == ["a", "a"]


def test_an_unknown_level_refuses_the_gang() -> None:
    cluster = Cluster()
    cluster.node("n", 8, zone="z", rack="r")
    cluster.gang("job", [Group("", min_member=1, members=1, required="row")])
    plan = cluster.cycle()
    assert not any(isinstance(change, Bind) for change in plan.changes)
    assert [refusal.gang.name for refusal in plan.refusals] == ["job"]


def test_the_same_objects_in_another_order_give_the_same_plan() -> None:
    plans = []
    for order in (1, -1):
        cluster = Cluster()
        for name, gpus in [("a", 4), ("b", 4), ("c", 2)][::order]:
            cluster.node(name, gpus)
        for name in ["one", "two", "three"][::order]:
            cluster.gang(name, [Group("", min_member=2, members=3)])
        for podgroup in cluster.podgroups.values():
            podgroup.metadata.creation_timestamp = ""
        cluster.encoder._dirty.update(cluster.encoder._podgroups)  # noqa: SLF001  ages follow the order of arrival
        plans.append(decide(cluster.encoder.snapshot(0.0)).changes)
    assert plans[0] == plans[1]


def test_a_child_that_its_queue_refuses_gives_way_to_one_that_it_takes() -> None:
    cluster = Cluster()
    cluster.queue("q", quota=-1, limit=2)
    cluster.node("n", 8)
    children = [
        Group(name, min_member=1, members=1, gpus=gpus) for name, gpus in (("large", 4), ("small", 2))
    ]
    cluster.gang("job", [Group("", min_sub_group=1), *children], queue="q")
    cluster.settle()
    assert [len(cluster.bound("job", name)) for name in ("large", "small")] == [0, 1]


def test_a_gang_that_no_rack_takes_is_told_which_came_nearest() -> None:
    cluster = Cluster()
    for rack, gpus in (("a", 2), ("b", 3)):
        cluster.node(rack, gpus, zone="z", rack=rack)
    cluster.gang("job", [Group("", min_member=4, members=4, required="rack")])
    (refusal,) = cluster.cycle().refusals
    assert (refusal.domain, refusal.numbers["found"], refusal.numbers["required"]) == ("z/b", 3, 4)
    assert refusal.message == (
        "topology places, requirement rack couldn't be satisfied for job <ns/job>: "
        "node-group z/b can allocate only 3 of 4 required pods "
        "(2 node-group(s) didn't have enough resources: GPUs)"
    )


def test_an_unknown_level_is_refused_with_the_known_ones() -> None:
    cluster = Cluster()
    cluster.node("n", 8, zone="z", rack="r")
    cluster.gang("job", [Group("", min_member=1, members=1, required="row")])
    (refusal,) = cluster.cycle().refusals
    assert (
        refusal.message == "topologyConstraint: level row is not in topology places; its levels: zone, rack"
    )


def test_a_queue_that_refuses_is_not_asked_about_every_packing() -> None:
    cluster = Cluster()
    for number in range(8):
        cluster.node(f"n{number}", 8)
    cluster.queue("small", limit=23)
    replicas = [Group(f"replica-{at}", min_member=8, members=8) for at in range(4)]
    cluster.gang("job", [Group("", min_sub_group=3), *replicas], queue="small")
    cycle = solve(cluster.encoder.snapshot(cluster.now), cluster.policy)
    assert (list(cycle.refused), cycle.trial.placements) == ([0], [])
    assert cycle.trial.tally.states < 100


def test_a_gang_that_names_no_queue_is_in_the_one_that_admission_would_have_named() -> None:
    for queue, others in (("", ["default-queue"]), ("default-queue", [])):
        cluster = Cluster()
        for name in others:
            cluster.queue(name, quota=-1)
        cluster.node("n", 1)
        cluster.gang("job", [Group("", min_member=1, members=1)], queue=queue)
        cluster.settle()
        assert cluster.bound("job") == ["n"]
