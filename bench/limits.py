"""What the quick scenarios may cost, in units that no busy machine changes: what `make test` guards.

Counters are exact and get a tenth of room. Ratios to the floor are those of CPU times; they get a factor of four, and
are left out where the floor is too short to be measured.
"""

from typing import NamedTuple

from bench.measure import Measured


class Limits(NamedTuple):
    nodes: int
    forks: int
    states: int
    ratio: float | None = None


LIMITS = {
    "D1 one gang of 1 000 on 5 000 nodes": Limits(5000, 0, 3),
    "D1 1 000 single pods on 1 000 nodes": Limits(1999, 0, 3000, 3.6),
    "D1 1 250 gangs of 8 on 1 000 nodes": Limits(2999, 0, 3750, 4.0),
    "D2 190 services of 42 pods, 7 replicas, on 1 000 nodes": Limits(12_584, 0, 8170, 96.0),
    "D3 one gang of 1 000, 50 racks of 100, zone required": Limits(5000, 0, 3),
    "D3 100 gangs of 4, 50 racks of 100, rack required": Limits(5099, 0, 300, 3.5),
    "D5 4 000 single GPUs reclaim from 4 000 on 500 nodes": Limits(7498, 2000, 6002, 13.5),
    "D5 one gang of half of 100 nodes reclaims": Limits(1216, 9, 39),
    "D5 one gang of half of 1 000 nodes reclaims": Limits(14_566, 12, 51),
    "D5 extra members give 500 nodes' half back": Limits(4746, 500, 2002, 56.5),
    "D6 impossible on 100 nodes": Limits(200, 0, 2),
    "D6 impossible on 1 000 nodes": Limits(2000, 0, 2),
    "D6 impossible in any rack, 1 000 nodes": Limits(3000, 0, 1),
    "D6 4 000 gangs of 2 to 40 pods on 1 000 nodes, most of them wait": Limits(2_150_465, 933, 3470, 6.8),
    "D7 one gang of 10 whole nodes, a GPU free on each of 500": Limits(6354, 79, 665),
    "D9 1 000 queues in 3 levels, 5 000 pods on 500 nodes": Limits(5000, 0, 12_002, 5.0),
}


def exceeded(one: Measured) -> list[str]:
    limits = LIMITS[one.name]
    found = [
        f"{name} {getattr(one, name)}, at most {most}"
        for name, most in (("nodes", limits.nodes), ("forks", limits.forks), ("states", limits.states))
        if getattr(one, name) > 1.1 * most
    ]
    if limits.ratio is not None and one.ratio > 4 * limits.ratio:
        found.append(f"{one.ratio:.1f} times the floor, at most {4 * limits.ratio:.1f}")
    return found
