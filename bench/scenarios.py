"""The scenarios of the benchmark: each builds an encoder, and says what a right answer looks like.

`quick` ones finish in a minute together and run in CI; the others are run by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bench.clusters import RACK, ZONE, Job, add_job, add_queue, cluster
from quorate.scheduling.encode import Encoder
from quorate.scheduling.policy import Action, Policy

ALLOCATE = Policy(actions=(Action.ALLOCATE,))
EVERYTHING = Policy()


@dataclass(frozen=True)
class Scenario:
    """`target` is in seconds; `pods` and `refused` are what must come out, None = not fixed."""

    name: str
    build: Callable[[], Encoder]
    target: float | None = None
    policy: Policy = ALLOCATE
    pods: int | None = None
    refused: int | None = 0
    evicted: int | None = 0
    is_quick: bool = True


def flat(
    nodes: int, gangs: int, size: int, *, gpus: int = 8, required: str = "", preferred: str = ""
) -> Encoder:
    encoder = cluster(nodes, gpus=gpus)
    for number in range(gangs):
        add_job(encoder, Job(f"g{number:06d}", size, required=required, preferred=preferred))
    return encoder


def full(nodes: int, *, queue: str = "") -> Encoder:
    """Every node full of single-GPU jobs."""
    encoder = cluster(nodes)
    for number in range(nodes * 8):
        node = f"node-{number // 8:06d}"
        add_job(encoder, Job(f"r{number:06d}", 1, queue=queue, nodes=(node,)))
    return encoder


def impossible(nodes: int, *, required: str = "") -> Encoder:
    """A gang of twice the cluster on a full cluster."""
    encoder = full(nodes)
    add_job(encoder, Job("impossible", 2 * nodes, 8, required=required))
    return encoder


def many_reclaim(nodes: int) -> Encoder:
    """A queue takes its half back with single-GPU jobs, one for each that runs."""
    encoder = _reclaim(nodes)
    for number in range(nodes * 8):
        add_job(encoder, Job(f"p{number:06d}", 1, queue="poor"))
    return encoder


def large_reclaim(nodes: int) -> Encoder:
    """A queue takes its half back with one gang of whole nodes."""
    encoder = _reclaim(nodes)
    add_job(encoder, Job("large", nodes // 2, 8, queue="poor"))
    return encoder


def _reclaim(nodes: int) -> Encoder:
    encoder = full(nodes, queue="rich")
    for name in ("rich", "poor"):
        add_queue(encoder, name, quota=nodes * 4)
    return encoder


def many_queues(queues: int, nodes: int, pods: int) -> Encoder:
    """A tree of three levels with weights; every leaf queue has the same number of single pods."""
    encoder = cluster(nodes)
    for top in range(10):
        add_queue(encoder, f"t{top}", weight=top + 1)
        for middle in range(10):
            add_queue(encoder, f"t{top}-{middle}", parent=f"t{top}", weight=middle + 1)
    leaves = [f"t{at % 10}-{at // 10 % 10}-{at}" for at in range(queues)]
    for at, name in enumerate(leaves):
        add_queue(encoder, name, parent=f"t{at % 10}-{at // 10 % 10}", quota=1)
    for number in range(pods):
        add_job(encoder, Job(f"j{number:06d}", 1, queue=leaves[number % queues]))
    return encoder


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("D1 one gang of 1 000 on 5 000 nodes", lambda: flat(5000, 1, 1000), 0.010, pods=1000),
    Scenario("D1 1 000 gangs of 8 on 1 000 nodes", lambda: flat(1000, 1000, 8), None, pods=8000),
    Scenario(
        "D1 12 500 gangs of 8 on 10 000 nodes",
        lambda: flat(10_000, 12_500, 8, gpus=10),
        2.0,
        pods=100_000,
    ),
    Scenario(
        "D1 1 000 000 pods in gangs of 64 on 100 000 nodes",
        lambda: flat(100_000, 15_625, 64, gpus=10),
        30.0,
        pods=1_000_000,
        is_quick=False,
    ),
    Scenario(
        "D3 one gang of 1 000, 50 racks of 100, zone required",
        lambda: flat(5000, 1, 1000, required=ZONE, preferred=RACK),
        0.020,
        pods=1000,
    ),
    Scenario("D3 100 gangs of 4, rack required", lambda: flat(5000, 100, 4, required=RACK), 0.1, pods=400),
    Scenario(
        "D5 4 000 single GPUs reclaim from 4 000 on 500 nodes",
        lambda: many_reclaim(500),
        2.0,
        EVERYTHING,
        pods=2000,
        refused=None,
        evicted=2000,
    ),
    Scenario(
        "D5 one gang of half of 1 000 nodes reclaims",
        lambda: large_reclaim(1000),
        0.2,
        EVERYTHING,
        pods=500,
        evicted=4000,
    ),
    Scenario("D6 impossible on 100 nodes", lambda: impossible(100), 0.1, EVERYTHING, pods=0, refused=1),
    Scenario("D6 impossible on 1 000 nodes", lambda: impossible(1000), 1.0, EVERYTHING, pods=0, refused=1),
    Scenario(
        "D6 impossible in any rack, 1 000 nodes",
        lambda: impossible(1000, required=RACK),
        1.0,
        EVERYTHING,
        pods=0,
        refused=1,
    ),
    Scenario(
        "D9 1 000 queues in 3 levels, 5 000 pods on 500 nodes",
        lambda: many_queues(1000, 500, 5000),
        None,
        pods=4000,
        refused=None,
    ),
)
