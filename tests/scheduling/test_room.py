"""Who is taken to make room: nobody who could have stayed."""

from collections.abc import Mapping

from hypothesis import given, settings

from quorate.api.core import POD, Pod
from quorate.plan import Bind, Evict, Plan, SetStatus
from quorate.scheduling.decide import decide, solve
from quorate.scheduling.encode import Encoder
from quorate.scheduling.policy import Action, Policy
from tests.fakes import judge
from tests.fakes.clusters import Cluster, Group
from tests.fakes.drawn import EXAMPLES, Event, contests, of


def test_the_member_whose_seat_helps_is_taken_and_not_the_last_one() -> None:
    cluster = Cluster()
    cluster.node("wanted", 4, zone="z", rack="a")
    cluster.node("other", 4, zone="z", rack="b")
    on_both = ("wanted",) * 4 + ("other",) * 4
    cluster.gang("elastic", [Group("", min_member=1, members=8, running=on_both)])
    cluster.gang("dear", [Group("", min_member=2, members=2, required="rack")], priority=75)
    before = judge.seats(cluster)
    plan = cluster.cycle()
    assert not list(judge.faults(cluster, before, plan))
    assert cluster.evicted == 2


def test_a_child_without_a_seat_that_helps_stays() -> None:
    cluster = Cluster()
    cluster.node("n", 1)
    cluster.gang(
        "tree",
        [
            Group(""),
            Group("seat", min_member=0, members=1, running=("n",)),
            Group("none", min_member=0, members=1, gpus=0, running=("n",)),
        ],
    )
    cluster.gang("dear", [Group("", min_member=1, members=1)], priority=75)
    cluster.settle()
    assert (len(cluster.bound("tree", "seat")), len(cluster.bound("tree", "none"))) == (0, 1)
    assert cluster.evicted == 1


def test_a_gang_that_makes_room_keeps_seats_elsewhere_for_as_many_as_it_can_do_with() -> None:
    cluster = Cluster()
    cluster.node("wanted", 2)
    cluster.node("small", 1)
    cluster.gang("elastic", [Group("", min_member=1, members=2, running=("wanted",) * 2)])
    cluster.gang("dear", [Group("", min_member=1, members=1, gpus=2)], priority=75)
    snapshot = cluster.encoder.snapshot(cluster.now)
    placed = [
        (snapshot.pods.refs[pod].name.split(".")[0], snapshot.nodes.names[node])
        for placement in solve(snapshot, cluster.policy).trial.placements
        for pod, node in zip(placement.pods.tolist(), placement.nodes.tolist(), strict=True)
    ]
    assert placed == [("dear", "wanted"), ("elastic", "small")]
    cluster.settle()
    assert (cluster.bound("dear"), cluster.bound("elastic")) == (["wanted"], ["small"])


def seated(plan: Plan) -> set[str]:
    """Pods that a plan gives a node, now or once victims are gone."""
    binds = {change.pod.name for change in plan.changes if isinstance(change, Bind)}
    held = {
        change.target.name
        for change in plan.changes
        if isinstance(change, SetStatus) and change.status["nominatedNodeName"]
    }
    return binds | held


def still_starts(cluster: Cluster, was: Mapping[str, Pod], gone: set[str], stays: set[str]) -> bool:
    """Whether the taker finds a place beside all that runs now and those who stay, by idle room alone."""
    encoder = Encoder("quorate")
    for (kind, name), one in cluster.objects.items():
        if kind != POD:
            encoder.update(kind, None, one)
        elif name in stays or name.startswith("taker."):
            encoder.update(kind, None, was[name])
        elif name not in gone and (cluster.pods[name].spec.node_name or is_held(cluster.pods[name])):
            encoder.update(kind, None, one)
    plan = decide(encoder.snapshot(cluster.now), Policy(actions=(Action.ALLOCATE,)))
    return any(name.startswith("taker.") for name in seated(plan))


def is_held(pod: Pod) -> bool:
    return bool(pod.status.nominated_node_name)


@settings(max_examples=EXAMPLES, deadline=None)
@given(contests())
def test_no_part_of_a_gang_is_taken_without_which_the_taker_starts_too(
    contest: tuple[list[Event], Event],
) -> None:
    events, comes = contest
    cluster = of(events)
    cluster.settle()
    comes(cluster)
    before, was = judge.seats(cluster), dict(cluster.pods)
    plan = cluster.cycle()
    victims = {change.pod.name for change in plan.changes if isinstance(change, Evict)}
    if not any(name.startswith("taker.") for name in seated(plan)):
        return
    after = {name: node for name, node in before.items() if name not in victims}
    for part in judge.units(cluster, sorted(victims), after):
        assert not still_starts(cluster, was, victims - part, part), f"{sorted(part)} could have stayed"
