"""One scenario, measured in a process of its own, so that its memory is its own."""

import gc
import multiprocessing
import resource
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from bench import checker, floor
from bench.churn import SIZE, World
from bench.machine import pace
from bench.scenarios import SCENARIOS, Scenario
from quorate.embedded.collector import relax
from quorate.plan import Plan
from quorate.scheduling.cycle import Cycle
from quorate.scheduling.decide import solve
from quorate.scheduling.render import plan_of
from quorate.scheduling.snapshot import Snapshot

# nanoseconds: the pace of the machine that the committed results are from, when nothing else runs
QUIET = 18.0


@dataclass(frozen=True)
class Measured:
    """Seconds of wall time, `cpu` of this process; `ratio` is the least CPU time over that of the floor."""

    name: str
    encode: float
    snapshot: float
    median: float
    p99: float
    best: float
    cpu: float
    floor: float
    ratio: float
    nodes: int  # how often the room on a node was counted
    forks: int  # what-if trials
    states: int  # of all searches
    peak_mib: int
    pace: float  # nanoseconds of a bare loop just before
    target: float | None
    most_mib: int | None
    faults: list[str]

    @property
    def verdict(self) -> str:
        """`busy`: late by the clock, but the CPU time says that a quiet machine would not have been."""
        if self.faults:
            return "WRONG"
        if self.most_mib is not None and self.peak_mib > self.most_mib:
            return "large"
        if self.target is None or self.judged <= self.target:
            return "ok"
        return "busy" if self.at_rest <= self.target else "slow"

    @property
    def judged(self) -> float:
        """What the target is about: of churn the 99th percentile, else the median."""
        return self.p99 if self.name.startswith("D8") else self.median

    @property
    def at_rest(self) -> float:
        """CPU seconds as they would be at the pace of a quiet machine."""
        return self.cpu * min(1.0, QUIET / self.pace)


@dataclass(frozen=True)
class Churn:
    """Cycles in which 1 % of the pods leave and as many come; a target for the 99th percentile."""

    name: str
    nodes: int
    cycles: int
    target: float | None
    is_quick: bool


CHURN = (
    Churn("D8 1 % churn, 1 000 nodes, 10 000 pods", 1000, 50, None, is_quick=True),
    Churn("D8 1 % churn, 10 000 nodes, 100 000 pods", 10_000, 200, 0.1, is_quick=False),
)


def alone(name: str, repeat: int) -> Measured | None:
    """Measure in a fresh process; None if it died."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_send, args=(theirs, name, repeat))
    process.start()
    theirs.close()  # so that the end of the process is the end of what comes
    try:
        found: Measured = ours.recv()
    except EOFError:
        return None
    finally:
        process.join()
    return found


def _send(pipe: Connection, name: str, repeat: int) -> None:
    churn = next((one for one in CHURN if one.name == name), None)
    if churn is not None:
        pipe.send(churned(churn))
    else:
        pipe.send(measured(next(one for one in SCENARIOS if one.name == name), repeat))


def measured(scenario: Scenario, repeat: int) -> Measured:
    begin = time.perf_counter()
    encoder = scenario.build()
    encode = time.perf_counter() - begin
    begin = time.perf_counter()
    snapshot = encoder.snapshot(0.0)
    joined = time.perf_counter() - begin
    relax()
    beat = pace()
    walls: list[float] = []
    cpus: list[float] = []
    cycle, plan = _decided(snapshot, scenario)
    for _ in range(repeat):
        gc.collect(0)
        cpu, begin = time.process_time(), time.perf_counter()
        cycle, plan = _decided(snapshot, scenario)
        walls.append(time.perf_counter() - begin)
        cpus.append(time.process_time() - cpu)
    lowest = min(floor.seconds(snapshot) for _ in range(min(repeat, 3)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Measured(
        name=scenario.name,
        encode=encode,
        snapshot=joined,
        median=float(np.median(walls)),
        p99=float(np.percentile(walls, 99)),
        best=min(walls),
        cpu=min(cpus),
        floor=lowest,
        ratio=min(cpus) / lowest if lowest else 0.0,
        nodes=cycle.trial.tally.nodes,
        forks=cycle.trial.tally.forks,
        states=cycle.trial.tally.states,
        peak_mib=peak,
        pace=beat,
        target=scenario.target,
        most_mib=scenario.most_mib,
        faults=checker.faults(snapshot, plan, scenario.expected),
    )


def _decided(snapshot: Snapshot, scenario: Scenario) -> tuple[Cycle, Plan]:
    cycle = solve(snapshot, scenario.policy)
    return cycle, plan_of(cycle)


def churned(churn: Churn) -> Measured:
    """D8: whole cycles under 1 % churn; the floor is a copy of the pods' columns."""
    world = World(churn.nodes, 0.01)
    relax()
    for _ in range(3):
        world.cycle()
    beat = pace()
    cpu = time.process_time()
    found = [world.cycle() for _ in range(churn.cycles)]
    cpu = (time.process_time() - cpu) / churn.cycles
    totals = [one.total for one in found]
    table = np.empty((6, churn.nodes * SIZE), dtype=np.int64)
    begin = time.process_time()
    table.copy()
    lowest = time.process_time() - begin
    return Measured(
        name=churn.name,
        encode=float(np.median([one.update for one in found])),
        snapshot=float(np.median([one.snapshot for one in found])),
        median=float(np.median(totals)),
        p99=float(np.percentile(totals, 99)),
        best=min(totals),
        cpu=cpu,
        floor=lowest,
        ratio=cpu / lowest,
        nodes=0,
        forks=0,
        states=0,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        pace=beat,
        target=churn.target,
        most_mib=None,
        faults=checker.faults(world.snapshot, world.plan, checker.Expected(pods=world.leaving * SIZE)),
    )
