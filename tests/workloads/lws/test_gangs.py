"""Groups as gangs: what the grouper makes of the pods and where the scheduler then puts them."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate.api.expected import held_seats
from quorate.api.labels import (
    HELD_SEATS,
    LWS_EXCLUSIVE_TOPOLOGY,
    LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY,
    MIN_GROUPS,
)
from tests.fakes.lws_world import LwsWorld, lws


def waiting_for_leader(*names: str, size: int = 3, nodes: int = 3) -> LwsWorld:
    world = LwsWorld()
    for index in range(nodes):
        world.node(f"n{index}", 1)
    for name in names:
        world.add(lws(name, size=size, startupPolicy="LeaderReady"))
        world.leader(name)
    return world


def test_a_leader_starts_alone_where_its_workers_can_follow() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    assert list(world.bound) == ["a-0"]
    world.workers("a")
    world.cycle()
    assert sorted(world.bound.values()) == ["n0", "n1", "n2"]


def test_a_leader_does_not_start_where_its_workers_cannot_follow() -> None:
    world = waiting_for_leader("a", nodes=2)
    plan = world.cycle()
    assert not world.bound
    assert "2" in plan.refusals[0].message


def test_seats_that_are_held_go_to_nobody_else() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    world.add(lws("b", size=1))
    world.leader("b")
    world.cycle()
    assert "b-0" not in world.bound
    world.workers("a", only=[2])
    world.cycle()
    world.workers("a", only=[1])
    world.cycle()
    assert len(world.bound) == 3
    assert "b-0" not in world.bound


def test_two_leaders_never_take_the_seats_of_each_others_workers() -> None:
    world = waiting_for_leader("a", "b", nodes=4)
    world.cycle()
    first = next(iter(world.bound))[0]
    assert len(world.bound) == 1
    world.workers(first)
    world.cycle()
    assert {name[0] for name in world.bound} == {first}
    assert len(world.bound) == 3
    world.gone(*list(world.bound))
    world.cycle()
    assert len(world.bound) == 1


def test_a_leader_that_is_gone_holds_nothing() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    world.add(lws("b", size=1))
    world.leader("b")
    world.gone("a-0")
    world.cycle()
    assert "b-0" in world.bound


def test_a_seat_on_a_node_that_is_lost_is_found_again_elsewhere() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    lost = next(node for node in world.nodes if node not in world.bound.values())
    world.lose(lost)
    assert world.cycle().refusals
    world.node("spare", 1)
    world.cycle()
    held = (world.pods["a-0"].metadata.annotations or {})[HELD_SEATS]
    assert "spare" in held
    assert lost not in held
    world.workers("a")
    world.cycle()
    assert len(world.bound) == 3


def test_nothing_is_written_while_the_leader_gets_ready() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    for _ in range(3):
        assert not world.cycle().changes


def test_a_scheduler_that_starts_anew_holds_the_same_seats() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    world.restart()
    world.add(lws("b", size=1))
    world.leader("b")
    world.cycle()
    assert list(world.bound) == ["a-0"]


def test_a_leader_takes_as_many_victims_as_its_group_needs_and_no_more() -> None:
    world = LwsWorld()
    for index in range(5):
        world.node(f"n{index}", 1)
    world.add(lws("low", size=1, replicas=5))
    for index in range(5):
        world.leader("low", index)
    world.cycle()
    world.add(lws("a", size=3, startupPolicy="LeaderReady", priority="inference"))
    world.leader("a")
    for _ in range(4):
        world.cycle()
    assert len(world.evicted) == 3
    assert "a-0" in world.bound
    world.workers("a")
    world.cycle()
    assert {name for name in world.bound if name.startswith("a")} == {"a-0", "a-0-1", "a-0-2"}
    assert len(world.evicted) == 3


def test_a_group_that_is_taken_gives_up_its_held_seats_too() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    world.add(lws("high", size=3, priority="inference"))
    world.leader("high")
    world.workers("high")
    for _ in range(3):
        world.cycle()
    assert world.evicted == ["a-0"]
    assert sorted(world.bound) == ["high-0", "high-0-1", "high-0-2"]


def test_a_group_whose_leader_gets_ready_slowly_is_not_stale() -> None:
    world = waiting_for_leader("a")
    world.cycle()
    world.now += 3600
    assert not world.cycle().changes


def test_groups_of_a_whole_set_that_wait_for_their_leaders_start_together() -> None:
    world = LwsWorld()
    for index in range(5):
        world.node(f"n{index}", 1)
    world.add(lws("a", size=2, replicas=3, startupPolicy="LeaderReady", annotations={MIN_GROUPS: "3"}))
    for index in range(3):
        world.leader("a", index)
    world.cycle()
    assert not world.bound
    world.node("n5", 1)
    world.cycle()
    assert sorted(world.bound) == ["a-0", "a-1", "a-2"]
    world.gone("a-1")
    world.leader("a", 1)
    world.cycle()
    assert "a-1" in world.bound
    for index in range(3):
        world.workers("a", index)
    world.cycle()
    assert len(world.bound) == 6


STEPS = st.lists(
    st.tuples(st.sampled_from(["leader", "workers", "some", "gone"]), st.integers(0, 3)),
    max_size=10,
)


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_whatever_comes_and_goes_a_bound_leader_has_its_workers_or_their_seats(
    steps: list[tuple[str, int]],
) -> None:
    world = LwsWorld()
    for index in range(4):
        world.node(f"n{index}", 2)
    for index in range(4):
        world.add(lws(f"s{index}", size=2 + index % 3, startupPolicy="LeaderReady"))
    for step, index in steps:
        played(world, step, index)
        world.cycle()
        world.cycle()
        assert_seated(world)
    for index in range(4):
        played(world, "workers", index)
    world.cycle()
    world.cycle()
    for name in [name for name in world.sets if f"{name}-0" in world.bound]:
        assert all(pod in world.bound for pod in world.pods if pod.startswith(f"{name}-"))


def played(world: LwsWorld, step: str, index: int) -> None:
    name = f"s{index}"
    match step:
        case "leader" if f"{name}-0" not in world.pods:
            world.leader(name)
        case "workers" | "some" if f"{name}-0" in world.bound:
            size = world.blueprint(name).size
            wanted = range(1, size) if step == "workers" else [size - 1]
            for one in wanted:
                if f"{name}-0-{one}" not in world.pods:
                    world.workers(name, only=[one])
        case "gone":
            world.gone(*[pod for pod in world.pods if pod.startswith(f"{name}-")])
        case _:
            pass


def assert_seated(world: LwsWorld) -> None:
    """Per node what is bound and what is held fits; each worker that misses has a seat."""
    taken = Counter(world.bound.values())
    for name in world.sets:
        leader = world.pods.get(f"{name}-0")
        if leader is None or not leader.spec.node_name:
            continue
        seats = held_seats(leader.metadata.annotations)
        missing = [f"{name}-0-{one}" for one in range(1, world.blueprint(name).size)]
        for pod in missing:
            if pod not in world.bound:
                assert seats[pod] in world.nodes
                taken[seats[pod]] += 1
    assert all(count <= world.gpus[node] for node, count in taken.items())


# exclusive topology


def racks(count: int, *, gpus: int, nodes: int = 1, blocks: int = 1) -> LwsWorld:
    world = LwsWorld()
    for rack in range(count):
        for node in range(nodes):
            world.node(f"r{rack}-{node}", gpus, rack=f"r{rack}", block=f"b{rack % blocks}")
    return world


def started(world: LwsWorld, name: str, groups: int = 1) -> None:
    for index in range(groups):
        world.leader(name, index)
        world.workers(name, index)
    for _ in range(4):
        world.cycle()


def test_a_group_that_is_exclusive_in_a_rack_is_placed_whole_in_one() -> None:
    world = racks(2, gpus=2, nodes=2)
    world.node("loose", 8)  # room for all, in no rack
    world.add(lws("a", size=4, annotations={LWS_EXCLUSIVE_TOPOLOGY: "rack"}))
    started(world, "a")
    assert len({world.place(name, "rack") for name in world.pods}) == 1
    assert len(world.bound) == 4


def test_a_group_too_large_for_any_rack_does_not_start() -> None:
    world = racks(2, gpus=2)
    world.add(lws("a", size=3, annotations={LWS_EXCLUSIVE_TOPOLOGY: "rack"}))
    started(world, "a")
    assert not world.bound


def test_two_sets_never_share_an_exclusive_rack() -> None:
    world = racks(3, gpus=8)
    for name in "ab":
        world.add(lws(name, size=2, annotations={LWS_EXCLUSIVE_TOPOLOGY: "rack"}))
        started(world, name, groups=2)
    held = {
        name.rpartition("-")[0] if name.count("-") > 1 else name: world.place(name, "rack")
        for name in world.bound
    }
    assert len(held) == 3  # of four groups, one waits for a rack of its own
    assert len(set(held.values())) == 3


def test_a_group_beside_exclusive_ones_fills_nodes_as_usual() -> None:
    world = racks(2, gpus=4, nodes=2)
    for name in "ab":
        world.add(lws(name, size=7, annotations={LWS_EXCLUSIVE_TOPOLOGY: "rack"}))
        started(world, name)
    assert len(world.bound) == 14


def test_a_term_of_the_user_does_not_switch_exclusivity_off() -> None:
    own = {
        kind: {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "rack", "labelSelector": {"matchLabels": {"app": app}}}
            ]
        }
        for kind, app in (("podAffinity", "mine"), ("podAntiAffinity", "other"))
    }
    world = racks(1, gpus=8)
    for name in "ab":
        item = lws(name, size=2, annotations={LWS_EXCLUSIVE_TOPOLOGY: "rack"})
        template = item["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        template["metadata"] = {"labels": {"app": "mine"}}
        template["spec"]["affinity"] = own
        world.add(item)
        started(world, name)
    assert len(world.bound) == 2


@pytest.mark.parametrize("startup", ["LeaderCreated", "LeaderReady"])
def test_sub_groups_get_one_rack_each_inside_one_block(startup: str) -> None:
    world = racks(4, gpus=2, blocks=2)  # r0 and r2 are block b0, r1 and r3 are b1
    world.node("taken", 0)
    annotations = {LWS_EXCLUSIVE_TOPOLOGY: "block", LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY: "rack"}
    policy = {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}
    world.add(
        lws("a", size=5, leader_gpus=0, annotations=annotations, subGroupPolicy=policy, startupPolicy=startup)
    )
    world.leader("a")
    if startup == "LeaderReady":
        world.cycle()
        assert list(world.bound) == ["a-0"]
    world.workers("a")
    world.cycle()
    world.cycle()
    places = [world.place(f"a-0-{index}", "rack") for index in range(1, 5)]
    assert places[0] == places[1] != places[2] == places[3]
    assert len({world.place(name, "block") for name in world.pods}) == 1


def test_a_leader_outside_all_sub_groups_keeps_to_no_rack_of_theirs() -> None:
    world = racks(2, gpus=2)
    policy = {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"}
    world.add(
        lws(
            "a",
            size=5,
            leader_gpus=0,
            annotations={LWS_SUB_GROUP_EXCLUSIVE_TOPOLOGY: "rack"},
            subGroupPolicy=policy,
        )
    )
    started(world, "a")
    assert len(world.bound) == 5
    racks_of = [world.place(f"a-0-{index}", "rack") for index in range(1, 5)]
    assert racks_of[0] == racks_of[1] != racks_of[2] == racks_of[3]
    leader = next(iter(world.groups.values())).spec.sub_groups or []
    assert [(group.name, group.topology_constraint is None) for group in leader] == [
        ("leader", True),
        ("segment-0", False),
        ("segment-1", False),
    ]


def test_a_whole_set_starts_with_as_many_groups_as_it_needs() -> None:
    world = racks(2, gpus=2)
    world.add(lws("a", size=2, replicas=3, annotations={MIN_GROUPS: "3"}))
    started(world, "a", groups=3)
    assert not world.bound
    world.node("more", 2, rack="r9")
    world.cycle()
    assert len(world.bound) == 6


def test_groups_of_a_whole_set_keep_to_racks_of_their_own() -> None:
    world = racks(3, gpus=4)
    world.add(lws("a", size=2, replicas=3, annotations={MIN_GROUPS: "2", LWS_EXCLUSIVE_TOPOLOGY: "rack"}))
    started(world, "a", groups=3)
    for index in range(3):
        assert world.place(f"a-{index}", "rack") == world.place(f"a-{index}-1", "rack") != ""
    assert len({world.place(f"a-{index}", "rack") for index in range(3)}) == 3
