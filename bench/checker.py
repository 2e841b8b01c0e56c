"""Judges a decision with code of its own: capacity, all-or-nothing, one domain, expected counts."""

from collections import Counter

import numpy as np

from bench.scenarios import Scenario
from quorate.plan import Bind, Evict, Plan, SetStatus
from quorate.scheduling.snapshot import Snapshot


def faults(scenario: Scenario, snapshot: Snapshot, plan: Plan) -> list[str]:
    """What is wrong with a plan; nothing if it is right."""
    seats = _seats(plan)
    evicted = {change.pod.name for change in plan.changes if isinstance(change, Evict)}
    found = [*_over_committed(snapshot, seats, evicted), *_broken(snapshot, seats, evicted)]
    for word, wanted, got in (
        ("placed", scenario.pods, len(seats)),
        ("refused", scenario.refused, len(plan.refusals)),
        ("evicted", scenario.evicted, len(evicted)),
    ):
        if wanted is not None and wanted != got:
            found.append(f"expected {wanted} {word}, got {got}")
    return found


def _seats(plan: Plan) -> dict[str, str]:
    """The node of each pod that was bound or given a seat."""
    seats = {}
    for change in plan.changes:
        if isinstance(change, Bind):
            seats[change.pod.name] = change.node
        elif isinstance(change, SetStatus):
            seats[change.target.name] = change.status["nominatedNodeName"]
    return seats


def _over_committed(snapshot: Snapshot, seats: dict[str, str], evicted: set[str]) -> list[str]:
    free = (snapshot.nodes.allocatable - snapshot.nodes.used).astype(object)
    at = {name: number for number, name in enumerate(snapshot.nodes.names)}
    taken: Counter[tuple[int, int]] = Counter()
    for row, ref in enumerate(snapshot.pods.refs):
        shape = int(snapshot.pods.shape[row])
        if ref.name in seats:
            taken[shape, at[seats[ref.name]]] += 1
        if ref.name in evicted:
            taken[shape, int(snapshot.pods.node[row])] -= 1
    for (shape, node), count in taken.items():
        free[:, node] -= snapshot.requests[shape] * count
    return [f"{snapshot.nodes.names[node]} is over-committed" for node in np.unique(np.nonzero(free < 0)[1])]


def _broken(snapshot: Snapshot, seats: dict[str, str], evicted: set[str]) -> list[str]:
    found = []
    at = {name: number for number, name in enumerate(snapshot.nodes.names)}
    for number, ref in enumerate(snapshot.gangs.refs):
        rows = snapshot.gang_pods(number)
        nodes = [
            at[seats[pod.name]] if pod.name in seats else int(node)
            for pod, node in zip(snapshot.pods.refs[rows], snapshot.pods.node[rows], strict=True)
            if pod.name in seats or (node >= 0 and pod.name not in evicted)
        ]
        root = int(snapshot.gangs.root[number])
        if nodes and len(nodes) < snapshot.groups.min_member[root]:
            found.append(f"{ref} runs {len(nodes)} members, below its minimum")
        level = int(snapshot.groups.required[root])
        if level >= 0 and len(np.unique(snapshot.levels[level].of_node[nodes])) > 1:
            found.append(f"{ref} spans more than one domain")
    return found
