"""Clusters, gangs and what happens to them, drawn at random for properties: as events, so that failures read well."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

from hypothesis import strategies as st

from tests.fakes.clusters import Cluster, Group

# of each property; `make nightly` asks for many
EXAMPLES = int(os.environ.get("QUORATE_EXAMPLES", "100"))

Event = Callable[[Cluster], None]


class Making(Protocol):
    def __call__(self, cluster: Cluster, /, *, name: str, composite: str = "") -> None: ...


LEVEL = st.sampled_from(["", "", "zone", "rack"])
KINDS = st.sampled_from(["", "preemptible", "non-preemptible", "semi-preemptible"])
QUEUES = {"none": [""], "flat": ["left", "right"], "deep": ["left", "right", "other"]}


def of(events: list[Event]) -> Cluster:
    """A new cluster to which all this has happened."""
    cluster = Cluster()
    for event in events:
        event(cluster)
    return cluster


@st.composite
def beginnings(draw: st.DrawFn) -> list[Event]:
    """Nodes, queues and pending gangs."""
    events: list[Event] = [partial(setting, linger=draw(st.integers(0, 2)))]
    events += [draw(nodes(f"n{number}")) for number in range(draw(st.integers(1, 5)))]
    shape = draw(st.sampled_from(sorted(QUEUES)))
    events += draw(queues(shape))
    events += [draw(gangs(f"g{number}", QUEUES[shape])) for number in range(draw(st.integers(1, 4)))]
    return events


@st.composite
def histories(draw: st.DrawFn) -> list[list[Event]]:
    """Events that come one after the other, the cluster at rest between them."""
    shape = draw(st.sampled_from(sorted(QUEUES)))
    first: list[Event] = [partial(setting, linger=draw(st.integers(0, 2)))]
    first += draw(queues(shape))
    first += [draw(nodes(f"n{number}")) for number in range(draw(st.integers(1, 4)))]
    later = st.one_of(
        *(gangs(name, QUEUES[shape]) for name in "abc"),
        composites("s", QUEUES[shape]),
        *(nodes(name) for name in ("n0", "n1", "n9")),
        st.sampled_from(["n0", "n1", "n2"]).map(lambda name: partial(losing, name=name)),
        st.builds(partial, st.just(guarding), which=st.integers(0, 3), least=st.integers(0, 4)),
        st.sampled_from([10.0, 100.0]).map(lambda seconds: partial(waiting, seconds=seconds)),
    )
    return [first, *([one] for one in draw(st.lists(later, min_size=1, max_size=6)))]


def setting(cluster: Cluster, *, linger: int) -> None:
    cluster.linger = linger


def losing(cluster: Cluster, *, name: str) -> None:
    if name in cluster.nodes:
        cluster.lose(name)


def guarding(cluster: Cluster, *, which: int, least: int) -> None:
    """A disruption budget comes over the members of one of the gangs."""
    if cluster.groups:
        cluster.guard(sorted(cluster.groups)[which % len(cluster.groups)], least)


def waiting(cluster: Cluster, *, seconds: float) -> None:
    cluster.now += seconds


def coming(cluster: Cluster, *, name: str, make: Making) -> None:
    """A gang comes, under a name of its own."""
    make(cluster, name=f"{name}{len(cluster.groups)}")


def placed(cluster: Cluster, *, name: str, gpus: int, cpus: int, zone: str, rack: str) -> None:
    """A node comes, unless one of the name is there."""
    if name not in cluster.nodes:
        cluster.node(name, gpus, cpus=cpus, zone=zone, rack=rack)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Event:
    return partial(
        placed,
        name=name,
        gpus=draw(st.integers(0, 8)),
        cpus=draw(st.sampled_from([64, 64, 6])),
        zone=draw(st.sampled_from("ab")),
        rack=draw(st.sampled_from("xy")),
    )


@st.composite
def queues(draw: st.DrawFn, shape: str) -> list[Event]:
    """None, two side by side, or two under one beside a third."""
    if shape == "none":
        return []
    runtime = draw(st.sampled_from([0, 0, 0, 50]))
    parents = {"team": "", "other": ""} if shape == "deep" else {}
    parent = "team" if shape == "deep" else ""
    return [
        partial(
            Cluster.queue,
            name=name,
            parent=above,
            quota=draw(st.sampled_from([0, 1, 2, 4, 8, -1])),
            limit=draw(st.sampled_from([-1, -1, 3, 6, 12])),
            weight=draw(st.sampled_from([0, 1, 1, 2])),
            priority=draw(st.sampled_from([100, 100, 200])),
            min_runtime=runtime,
        )
        for name, above in {**parents, "left": parent, "right": parent}.items()
    ]


def together(cluster: Cluster, *, name: str, needed: int, required: str, makes: list[Making]) -> None:
    """A composite comes with its gangs."""
    of = f"{name}{len(cluster.groups)}"
    cluster.composite(of, needed=needed, required=required)
    for make in makes:
        coming(cluster, name=f"{of}-", make=partial(make, composite=of))


@st.composite
def composites(draw: st.DrawFn, name: str, leaves: list[str]) -> Event:
    makes = draw(st.lists(makings(leaves), min_size=1, max_size=3))
    needed = draw(st.integers(1, len(makes)))
    return partial(together, name=name, needed=needed, required=draw(LEVEL), makes=makes)


@st.composite
def gangs(draw: st.DrawFn, name: str, leaves: list[str]) -> Event:
    return partial(coming, name=name, make=draw(makings(leaves)))


@st.composite
def makings(draw: st.DrawFn, leaves: list[str]) -> Making:
    return partial(
        Cluster.gang,
        groups=draw(trees()),
        queue=draw(st.sampled_from(leaves)),
        priority=draw(st.sampled_from([50, 75, 125])),
        preemptibility=draw(KINDS),
        delay=draw(st.sampled_from([0, 0, 0, 5])),
    )


@st.composite
def trees(draw: st.DrawFn) -> list[Group]:
    count = draw(st.integers(0, 3))
    if not count:
        return [draw(flat())]
    root = Group("", min_sub_group=draw(st.sampled_from([None, 1, 2])), required=draw(LEVEL))
    found = [root]
    for at in range(count):
        if draw(st.integers(0, 3)):
            found.append(draw(flat(f"c{at}", "")))
            continue
        least = draw(st.sampled_from([None, 1]))
        minimum, level = draw(st.sampled_from([None, 2])), draw(LEVEL)
        found.append(Group(f"c{at}", min_sub_group=least, min_member=minimum, required=level))
        found += [draw(flat(f"c{at}-{below}", f"c{at}")) for below in range(2)]
    return found


@st.composite
def flat(draw: st.DrawFn, name: str = "", parent: str = "") -> Group:
    """A leaf."""
    return Group(
        name,
        parent=parent,
        min_member=draw(st.integers(0, 3)),
        members=draw(st.integers(0, 4)),
        gpus=draw(st.integers(0, 4)),
        cpus=draw(st.sampled_from([1, 1, 1, 3])),
        required=draw(LEVEL),
        preferred=draw(st.sampled_from(["", "", "", "rack"])),
    )


@st.composite
def contests(draw: st.DrawFn) -> tuple[list[Event], Event]:
    """Gangs of low priority that may hold everything, and one that comes after them and starts whole."""
    shape = draw(st.sampled_from(sorted(QUEUES)))
    events = [*draw(queues(shape))]
    events += [draw(nodes(f"n{number}")) for number in range(draw(st.integers(1, 4)))]
    for number in range(draw(st.integers(1, 4))):
        make = partial(
            Cluster.gang,
            groups=draw(trees()) if draw(st.booleans()) else [draw(elastic())],
            queue=draw(st.sampled_from(QUEUES[shape])),
            preemptibility=draw(st.sampled_from(["", "semi-preemptible"])),
        )
        events.append(partial(coming, name=f"v{number}", make=make))
    whole = [replace(one, min_member=one.members or None, min_sub_group=None) for one in draw(trees())]
    queue, priority = draw(st.sampled_from(QUEUES[shape])), draw(st.sampled_from([75, 125]))
    return events, partial(Cluster.gang, name="taker", groups=whole, queue=queue, priority=priority)


@st.composite
def elastic(draw: st.DrawFn) -> Group:
    least, gpus = draw(st.integers(0, 3)), draw(st.integers(1, 2))
    return Group("", min_member=least, members=draw(st.integers(1, 8)), gpus=gpus)
