"""The scenarios of the benchmark: each builds an encoder, and says what a right answer looks like.

`is_quick` ones finish in a minute together; the others are run by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from bench.checker import Expected
from bench.clusters import RACK, ZONE, Job, add_job, add_queue, cluster
from bench.trees import PODS, add_service
from quorate.scheduling.encode import Encoder
from quorate.scheduling.policy import Action, Policy

ALLOCATE = Policy(actions=(Action.ALLOCATE,))
EVERYTHING = Policy()


@dataclass(frozen=True)
class Scenario:
    """`target` is in seconds for the whole decision, `most_mib` for the process that encodes and decides."""

    name: str
    build: Callable[[], Encoder]
    target: float | None
    expected: Expected
    policy: Policy = ALLOCATE
    is_quick: bool = True
    most_mib: int | None = None


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


def services(nodes: int, number: int) -> Encoder:
    """Trees of three levels; every replica keeps to one rack."""
    encoder = cluster(nodes, per_rack=20)
    for at in range(number):
        add_service(encoder, f"s{at:05d}", rack=RACK)
    return encoder


def crowded(nodes: int, gangs: int) -> Encoder:
    """Far more gangs of all sizes than there is room for."""
    encoder, chance = cluster(nodes), Random(1)  # noqa: S311 - the same each time
    for number in range(gangs):
        add_job(encoder, Job(f"g{number:06d}", chance.randint(2, 40), chance.choice((1, 2, 4, 8))))
    return encoder


def nested(nodes: int, gangs: int) -> Encoder:
    """Gangs of one pod a node that require a zone and prefer a rack."""
    return flat(nodes, gangs, 16, required=ZONE, preferred=RACK)


def fragmented(nodes: int, gangs: int) -> Encoder:
    """One GPU is free on every node; gangs of ten whole nodes wait."""
    encoder = cluster(nodes)
    for number in range(nodes * 7):
        add_job(encoder, Job(f"r{number:06d}", 1, nodes=(f"node-{number // 7:06d}",)))
    for number in range(gangs):
        add_job(encoder, Job(f"w{number:06d}", 10, 8))
    return encoder


def surplus(nodes: int) -> Encoder:
    """Elastic gangs of another queue hold everything; a queue takes its half back from their extra members."""
    encoder = cluster(nodes)
    for number in range(nodes // 2):
        seats = (f"node-{2 * number:06d}",) * 8 + (f"node-{2 * number + 1:06d}",) * 8
        add_job(encoder, Job(f"r{number:06d}", 16, queue="rich", nodes=seats, minimum=8))
    for name in ("rich", "poor"):
        add_queue(encoder, name, quota=nodes * 4)
    for number in range(nodes // 2):
        add_job(encoder, Job(f"p{number:06d}", 8, queue="poor"))
    return encoder


def only(pods: int | None = None, *, refused: int | None = 0, evicted: int | None = 0) -> Expected:
    return Expected(pods, refused, evicted)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("D1 one gang of 1 000 on 5 000 nodes", lambda: flat(5000, 1, 1000), 0.010, only(1000)),
    Scenario("D1 1 000 single pods on 1 000 nodes", lambda: flat(1000, 1000, 1), None, only(1000)),
    Scenario("D1 1 250 gangs of 8 on 1 000 nodes", lambda: flat(1000, 1250, 8, gpus=10), None, only(10_000)),
    Scenario(
        "D1 12 500 gangs of 8 on 10 000 nodes",
        lambda: flat(10_000, 12_500, 8, gpus=10),
        2.0,
        only(100_000),
        is_quick=False,
        most_mib=1024,
    ),
    Scenario(
        "D1 98 gangs of 512 on 5 000 nodes",
        lambda: flat(5000, 98, 512, gpus=11),
        None,
        only(98 * 512),
        is_quick=False,
    ),
    Scenario(
        "D1 1 000 000 pods in gangs of 64 on 100 000 nodes",
        lambda: flat(100_000, 15_625, 64, gpus=10),
        30.0,
        only(1_000_000),
        is_quick=False,
        most_mib=4096,
    ),
    Scenario(
        "D2 190 services of 42 pods, 7 replicas, on 1 000 nodes",
        lambda: services(1000, 190),
        None,
        only(190 * PODS),
    ),
    Scenario(
        "D2 1 900 services of 42 pods, 7 replicas, on 10 000 nodes",
        lambda: services(10_000, 1900),
        None,
        only(1900 * PODS),
        is_quick=False,
    ),
    Scenario(
        "D3 one gang of 1 000, 50 racks of 100, zone required",
        lambda: flat(5000, 1, 1000, required=ZONE, preferred=RACK),
        0.020,
        only(1000),
    ),
    Scenario(
        "D3 100 gangs of 4, 50 racks of 100, rack required",
        lambda: flat(5000, 100, 4, required=RACK),
        0.1,
        only(400),
    ),
    Scenario(
        "D3 1 000 gangs of 16, 500 racks, zone required, rack preferred",
        lambda: nested(50_000, 1000),
        None,
        only(16_000),
        is_quick=False,
    ),
    Scenario(
        "D5 4 000 single GPUs reclaim from 4 000 on 500 nodes",
        lambda: many_reclaim(500),
        2.0,
        only(2000, refused=None, evicted=2000),
        EVERYTHING,
    ),
    Scenario(
        "D5 one gang of half of 100 nodes reclaims",
        lambda: large_reclaim(100),
        0.2,
        only(50, evicted=400),
        EVERYTHING,
    ),
    Scenario(
        "D5 one gang of half of 1 000 nodes reclaims",
        lambda: large_reclaim(1000),
        0.2,
        only(500, evicted=4000),
        EVERYTHING,
    ),
    Scenario(
        "D5 extra members give 500 nodes' half back",
        lambda: surplus(500),
        None,
        only(2000, evicted=2000),
        EVERYTHING,
    ),
    Scenario("D6 impossible on 100 nodes", lambda: impossible(100), 0.1, only(0, refused=1), EVERYTHING),
    Scenario("D6 impossible on 1 000 nodes", lambda: impossible(1000), 1.0, only(0, refused=1), EVERYTHING),
    Scenario(
        "D6 impossible in any rack, 1 000 nodes",
        lambda: impossible(1000, required=RACK),
        1.0,
        only(0, refused=1),
        EVERYTHING,
    ),
    Scenario(
        "D6 impossible on 10 000 nodes",
        lambda: impossible(10_000),
        None,
        only(0, refused=1),
        EVERYTHING,
        is_quick=False,
    ),
    Scenario(
        "D6 4 000 gangs of 2 to 40 pods on 1 000 nodes, most of them wait",
        lambda: crowded(1000, 4000),
        None,
        only(None, refused=None, evicted=None),
        EVERYTHING,
    ),
    Scenario(
        "D7 one gang of 10 whole nodes, a GPU free on each of 500",
        lambda: fragmented(500, 1),
        None,
        only(None, refused=0, evicted=70),
        EVERYTHING,
    ),
    Scenario(
        "D9 1 000 queues in 3 levels, 5 000 pods on 500 nodes",
        lambda: many_queues(1000, 500, 5000),
        None,
        only(4000, refused=None),
    ),
    Scenario(
        "D9 1 000 queues in 3 levels, 50 000 pods on 1 000 nodes",
        lambda: many_queues(1000, 1000, 50_000),
        None,
        only(8000, refused=None),
        is_quick=False,
    ),
)

# Of two sizes of one scenario: how many times the input of the second is that of the first, in pods.
GROWTH = (
    ("D1 1 250 gangs of 8 on 1 000 nodes", 10_000, "D1 12 500 gangs of 8 on 10 000 nodes", 100_000),
    (
        "D2 190 services of 42 pods, 7 replicas, on 1 000 nodes",
        8000,
        "D2 1 900 services of 42 pods, 7 replicas, on 10 000 nodes",
        80_000,
    ),
    ("D5 one gang of half of 100 nodes reclaims", 850, "D5 one gang of half of 1 000 nodes reclaims", 8500),
    ("D6 impossible on 1 000 nodes", 10_000, "D6 impossible on 10 000 nodes", 100_000),
    ("D8 1 % churn, 1 000 nodes, 10 000 pods", 10_000, "D8 1 % churn, 10 000 nodes, 100 000 pods", 100_000),
)
