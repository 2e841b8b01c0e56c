"""D4 without fractions: the whole-GPU rows of the openb trace, drawn in random order until 130 % is asked for.

What counts is how many GPUs are allocated at the end, in % of all; best-fit and random choose among the same nodes.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import checker
from quorate.api import labels
from quorate.api.core import NODE, POD, Node, NodeStatus, Pod, PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec
from quorate.api.podspec import Container, PodSpec, ResourceList, ResourceRequirements
from quorate.plan import Bind
from quorate.scheduling.decide import decide
from quorate.scheduling.encode import Encoder
from quorate.scheduling.policy import Action, Policy
from quorate.scheduling.snapshot import Floats, Ints

DEMAND = 1.3
Choose = Callable[[Floats, Floats, Floats], int]  # what is free, what a pod asks for, what nodes have: a node


def read_nodes(folder: Path) -> Ints:
    """[nodes, 3]: CPU (milli), memory (MiB) and GPUs."""
    rows = _rows(folder / "openb_node_list_all_node.csv")
    return np.array([(int(one["cpu_milli"]), int(one["memory_mib"]), int(one["gpu"])) for one in rows])


def arrivals(folder: Path, trace: str, capacity: int, seed: int) -> Ints:
    """[pods, 3]; rows that ask for a part of a GPU are left out."""
    rows = [
        (int(one["cpu_milli"]), int(one["memory_mib"]), int(one["num_gpu"]))
        for one in _rows(folder / f"openb_pod_list_{trace}.csv")
        if one["gpu_milli"] == "1000" or one["num_gpu"] == "0"
    ]
    table = np.array(rows, dtype=np.int64)
    rng = np.random.default_rng(seed)
    drawn = table[rng.integers(len(table), size=20 * len(table))]
    return drawn[: int(np.searchsorted(np.cumsum(drawn[:, 2]), DEMAND * capacity)) + 1]


def ours(nodes: Ints, pods: Ints) -> tuple[float, list[str]]:
    """GPUs allocated in %, and what the checker says."""
    encoder = Encoder("quorate")
    for number, (cpu, memory, gpus) in enumerate(nodes.tolist()):
        room: ResourceList = {"cpu": f"{cpu}m", "memory": f"{memory}Mi", labels.GPU_RESOURCE: gpus}
        meta = ObjectMeta(name=f"node-{number:04d}")
        encoder.update(NODE, None, Node(metadata=meta, status=NodeStatus(allocatable={**room, "pods": 999})))
    for number, (cpu, memory, gpus) in enumerate(pods.tolist()):
        _add_pod(encoder, number, {"cpu": f"{cpu}m", "memory": f"{memory}Mi", labels.GPU_RESOURCE: gpus})
    snapshot = encoder.snapshot(0.0)
    plan = decide(snapshot, Policy(actions=(Action.ALLOCATE,)))
    bound = {change.pod.name for change in plan.changes if isinstance(change, Bind)}
    used = sum(gpus for number, gpus in enumerate(pods[:, 2].tolist()) if f"p{number:06d}" in bound)
    wrong = checker.faults(snapshot, plan, checker.Expected(None, None, None))
    return 100 * used / int(nodes[:, 2].sum()), wrong


def _add_pod(encoder: Encoder, number: int, requests: ResourceList) -> None:
    """Gangs of one are served in the order of their names."""
    name = f"p{number:06d}"
    meta = ObjectMeta(name=name, namespace="bench", annotations={labels.POD_GROUP_NAME: name})
    containers = [Container(name="main", resources=ResourceRequirements(requests=requests))]
    group = PodGroup(metadata=ObjectMeta(name=name, namespace="bench"), spec=PodGroupSpec(min_member=1))
    encoder.update(POD_GROUP, None, group)
    spec = PodSpec(containers=containers, scheduler_name="quorate")
    encoder.update(POD, None, Pod(metadata=meta, spec=spec, status=PodStatus(phase="Pending")))


def baseline(nodes: Ints, pods: Ints, choose: Choose) -> float:
    """GPUs allocated in % where each pod goes to the node that is chosen among those with room."""
    free, size = nodes.astype(np.float64), nodes.astype(np.float64)
    used = 0
    for asked in pods.astype(np.float64):
        able = np.flatnonzero((free >= asked).all(axis=1))
        if len(able):
            free[able[choose(free[able], asked, size[able])]] -= asked
            used += int(asked[2])
    return 100 * used / int(nodes[:, 2].sum())


def best_fit(free: Floats, asked: Floats, _size: Floats) -> int:
    """The node with the least left over, each resource against the most that one node has."""
    left = (free - asked) / np.array([128_000.0, 786_432.0, 8.0])
    return int(left.sum(axis=1).argmin())


def at_random(seed: int) -> Choose:
    rng = np.random.default_rng(seed)
    return lambda free, _asked, _size: int(rng.integers(len(free)))


@dataclass(frozen=True)
class Placed:
    """GPUs allocated in %, on average over the seeds, and what the checker says of our plans."""

    trace: str
    seeds: int
    ours: float
    best_fit: float
    random: float
    faults: list[str]

    def __str__(self) -> str:
        shown = f"ours {self.ours:.2f}, best-fit {self.best_fit:.2f}, random {self.random:.2f}"
        said = f"openb {self.trace}, whole GPUs, {self.seeds} seeds: {shown} % of the GPUs allocated"
        return f"{said} WRONG {'; '.join(self.faults[:2])}" if self.faults else said


def placed(folder: Path, nodes: Ints, trace: str, *, seeds: int) -> Placed:
    """The same pods placed by each, seed by seed."""
    rows, faults = [], []
    for seed in range(seeds):
        pods = arrivals(folder, trace, int(nodes[:, 2].sum()), seed)
        allocated, wrong = ours(nodes, pods)
        faults += wrong
        rows.append((allocated, baseline(nodes, pods, best_fit), baseline(nodes, pods, at_random(seed))))
    own, fitted, drawn = np.mean(rows, axis=0).round(2).tolist()
    return Placed(trace, seeds, own, fitted, drawn, faults)


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open() as lines:
        return list(csv.DictReader(lines))
