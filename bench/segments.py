"""`python -m bench.segments`: what segment placement adds to one pass over a RoleBasedGroup.

The same group with and without segments, settled, in the same run and in turns, so that a busy machine slows both.
A pass is everything but the network: from the objects in the caches to the plan.
"""

import argparse
import copy
import json
import sys
import time
from pathlib import Path
from statistics import median

from quorate.workloads.rbg.reconcile import reconcile
from quorate.workloads.rbg.seen import Seen
from tests.fakes.rbg_world import World, placed, role

LIMIT = 0.05  # of the time without segments


def settled(segments: int, *, with_placement: bool) -> Seen:
    """Ten prefill and five decode instances of a segment, all ready."""
    roles = [role("prefill", 10 * segments), role("decode", 5 * segments)]
    world = World(roles, placed({"prefill": 10, "decode": 5}) if with_placement else [])
    world.settle(rounds=10 * segments + 20)
    # copied, for objects that came over hundreds of rounds lie apart in memory, and reading them takes longer
    return copy.deepcopy(world.seen())


def seconds(seen: Seen) -> float:
    began = time.process_time()
    plan = reconcile(seen)
    ended = time.process_time()
    assert not plan.changes, "a settled group needs nothing"
    return ended - began


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=300)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    rows = []
    print(f"{'segments':>9}{'pods':>7}{'without ms':>12}{'with ms':>10}{'overhead':>10}  verdict")
    for segments in (10, 30, 100):
        plain, with_segments = (settled(segments, with_placement=flag) for flag in (False, True))
        pairs = [(seconds(plain), seconds(with_segments)) for _ in range(options.repeat)]
        without, having = median(one for one, _ in pairs), median(one for _, one in pairs)
        overhead = having / without - 1
        verdict = "ok" if overhead < LIMIT else "slow"
        print(
            f"{segments:>9}{15 * segments:>7}{1e3 * without:>12.2f}{1e3 * having:>10.2f}{overhead:>10.1%}  {verdict}"
        )
        rows.append(
            {
                "segments": segments,
                "pods": 15 * segments,
                "without_seconds": without,
                "with_seconds": having,
                "overhead": overhead,
                "limit": LIMIT,
            }
        )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["overhead"] < LIMIT for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
