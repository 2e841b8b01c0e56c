"""`python -m bench`: run the scenarios, print a table, write JSON; `--full` adds those that take long."""

import argparse
import gc
import os
import platform
import resource
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
import numpy as np

from bench import checker, floor
from bench.scenarios import SCENARIOS, Scenario
from quorate.plan import Plan
from quorate.scheduling.decide import solve
from quorate.scheduling.render import plan_of


@dataclass(frozen=True)
class Measured:
    """Seconds; `ratio` is the median over the floor of the same run."""

    name: str
    encode: float
    snapshot: float
    median: float
    worst: float
    floor: float
    ratio: float
    states: int
    peak_mib: int
    target: float | None
    faults: list[str]

    @property
    def verdict(self) -> str:
        if self.faults:
            return "WRONG"
        return "ok" if self.target is None or self.median <= self.target else "slow"


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    chosen = [one for one in SCENARIOS if (options.full or one.is_quick) and options.only in one.name]
    print(
        f"{'scenario':<58}{'encode':>9}{'snapshot':>10}{'median':>10}{'worst':>10}{'floor':>9}{'ratio':>7}  verdict"
    )
    found = []
    for scenario in chosen:
        one = _measure(scenario, options.repeat)
        found.append(one)
        times = "".join(
            f"{1e3 * value:>{width}.1f}"
            for value, width in (
                (one.encode, 9),
                (one.snapshot, 10),
                (one.median, 10),
                (one.worst, 10),
                (one.floor, 9),
            )
        )
        print(f"{one.name:<58}{times}{one.ratio:>7.1f}  {one.verdict} {'; '.join(one.faults[:2])}")
    if options.json:
        machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        results = {"machine": machine, "load": os.getloadavg()[0], "results": [asdict(one) for one in found]}
        Path(options.json).write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    return 1 if any(one.faults for one in found) else 0


def _measure(scenario: Scenario, repeat: int) -> Measured:
    gc.collect()
    begin = time.perf_counter()
    encoder = scenario.build()
    encoder.snapshot(0.0)
    encode = time.perf_counter() - begin
    begin = time.perf_counter()
    snapshot = encoder.snapshot(0.0)
    joined = time.perf_counter() - begin
    gc.freeze()
    times: list[float] = []
    plan, states = Plan(), 0
    for _ in range(repeat):
        begin = time.perf_counter()
        cycle = solve(snapshot, scenario.policy)
        plan = plan_of(cycle)
        times.append(time.perf_counter() - begin)
        states = cycle.states
    lowest = min(floor.seconds(snapshot) for _ in range(repeat))
    median = float(np.median(times))
    return Measured(
        name=scenario.name,
        encode=encode,
        snapshot=joined,
        median=median,
        worst=max(times),
        floor=lowest,
        ratio=median / lowest if lowest else 0.0,
        states=states,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        target=scenario.target,
        faults=checker.faults(scenario, snapshot, plan),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also run the scenarios that take long")
    parser.add_argument("--only", default="", metavar="TEXT", help="run scenarios whose name contains it")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="how often each is decided")
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
