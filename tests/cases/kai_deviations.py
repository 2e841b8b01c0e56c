"""Where Quorate schedules a case of KAI otherwise on purpose: rules on what a case contains and what came of it.

`expected` is what a case says of jobs and of tasks, `got` what became of every task.
"""

from typing import Any

from quorate.scheduling.fairness import shares
from quorate.scheduling.snapshot import GPU, NONE, SHARED
from tests.cases.deviations import Mismatch, Rule
from tests.cases.kai_world import NOW, World

Json = dict[str, Any]
HOLDS = {"Running", "Binding", "Pipelined"}
DEVICE = 1000  # milli-units of one GPU


def _moves_less(m: Mismatch) -> bool:
    """Everybody who waited fares as expected, and nobody loses a seat, for less that is moved."""
    if m.case["run"]["actions"] != ["consolidation"]:
        return False
    wanted, waiting = _wanted(m), {task for _, task, state, _ in _tasks(m.case) if state == "Pending"}
    found = {task: one["status"] for task, one in m.got.items()}
    if any(found[task] != wanted[task] for task in waiting):
        return False
    is_whole = all(found[task] in HOLDS for task in found if task not in waiting)
    moved = [
        sum(gpus for _, task, state, gpus in _tasks(m.case) if state == "Running" != after[task])
        for after in (found, wanted)
    ]
    return is_whole and moved[0] < moved[1]


def _ends_fair(m: Mismatch) -> bool:
    """Every queue holds its fair share to the device, and one was expected to hold more."""
    snapshot = World(m.case).encoder.snapshot(NOW)
    column = SHARED.tolist().index(GPU)
    leaves = set(range(len(snapshot.queues.names))) - {
        at for at in snapshot.queues.parent.tolist() if at != NONE
    }
    fair = {
        snapshot.queues.names[at]: float(share) / DEVICE
        for at, share in enumerate(shares(snapshot).fair[:, column])
        if at in leaves
    }
    found = {task: one["status"] for task, one in m.got.items()}
    wanted = _held(m.case, _wanted(m), fair)
    return _held(m.case, found, fair) == fair and any(wanted[queue] > fair[queue] for queue in fair)


def _uses_what_mig_left(m: Mismatch) -> bool:
    """All that differs is that pods wait for whole devices which a node of MIG devices has, and they got them."""
    cut = {node["name"] for node in m.case["cluster"]["nodes"] if node.get("mig_strategy") == "mixed"}
    wanted = _wanted(m)
    differing = [
        (wanted[task], m.got[task]["status"], gpus >= 1 and m.got[task]["node"] in cut)
        for _, task, _, gpus in _tasks(m.case)
        if wanted[task] != m.got[task]["status"]
    ]
    return bool(differing) and all(
        expected == "Pending" and got in HOLDS and is_cut for expected, got, is_cut in differing
    )


def _held(case: Json, status: dict[str, str], queues: Any) -> dict[str, float]:
    held = dict.fromkeys(queues, 0.0)
    for queue, task, _, gpus in _tasks(case):
        held[queue] += gpus if status[task] in HOLDS else 0.0
    return held


def _wanted(m: Mismatch) -> dict[str, str]:
    """The expected status of every task; one that is not told of is expected as it was."""
    wanted = {}
    for job in m.case["jobs"]:
        told = m.expected.get("jobs", {}).get(job["name"], {})
        for task in job["tasks"]:
            one = m.expected.get("tasks", {}).get(task["name"], told)
            wanted[task["name"]] = one.get("status", task["state"])
    return wanted


def _tasks(case: Json) -> list[tuple[str, str, str, float]]:
    """Queue, name, state at first, and devices of every task."""
    return [
        (job["queue"], task["name"], task["state"], task.get("gpus", job["requests_per_task"].get("gpus", 0)))
        for job in case["jobs"]
        for task in job["tasks"]
    ]


RULES: dict[str, tuple[Rule, ...]] = {
    "scheduling": (
        Rule("cheaper move", "the same gang starts and less of others is moved for it", _moves_less),
        Rule(
            "fair in the end", "who holds less than the fair share takes it from who holds more", _ends_fair
        ),
        Rule(
            "left by MIG", "whole devices a node of MIG devices still reports are used", _uses_what_mig_left
        ),
    ),
}
