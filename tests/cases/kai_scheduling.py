"""Scheduling cases of KAI, run on production `decide` by way of the encoder: single actions and whole cycles.

`Outcome.emitted` is what became of every task: its state and its node.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from quorate.plan import Patch
from quorate.scheduling.decide import solve
from quorate.scheduling.policy import Action, Policy
from quorate.scheduling.render import plan_of
from quorate.scheduling.snapshot import Bools, Snapshot, State
from tests.cases import kai_deviations
from tests.cases.deviations import Mismatch, explain
from tests.cases.kai_world import NOW, World
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]
Placed = dict[str, tuple[str, str]]  # state and node by task

UNSUPPORTED = ("gpu_fraction", "gpu_memory", "mig", "dra")
AFTER_ROUND = {"Binding": "Running", "Pipelined": "Pending", "Releasing": "Pending"}


def run(case: Json, file: Json) -> Outcome:
    del file
    missing = next((feature for feature in UNSUPPORTED if feature in case["features"]), None)
    if missing is None and any(task.get("legacy_mig") for job in case["jobs"] for task in job["tasks"]):
        missing = "mig"
    if missing is not None:
        return unsupported(missing)
    world = World(case)
    policy = _policy(case)
    if case["run"]["mode"] == "single_action":
        placed = _session(world, policy)
        faults = [*_faults(case, placed), *_over_limits(case, world, placed)]
        return _judged(case, placed, faults)
    rounds, faults = case["run"]["rounds_until_match"], []
    for number in range(rounds + case["run"]["rounds_after_match"]):
        placed = _session(world, policy, NOW + number)
        _settle(world, placed)
        if number >= rounds - 1 and not faults:
            faults = [f"round {number + 1}: {fault}" for fault in _faults(case, _now(world))]
    return _judged(case, _now(world), faults)


def _has_hidden_filter(case: Json) -> bool:
    """Whether the upstream test injects a filter that the case does not tell.

    Without the plugin that holds the filters, nothing but the absence of all writes is expected.
    """
    expect = case["expect"]
    return (
        not case["run"]["predicates_plugin_loaded"]
        and set(expect) == {"limits"}
        and not any(expect["limits"].values())
    )


def _judged(case: Json, placed: Placed, faults: list[str]) -> Outcome:
    emitted = {task: {"status": state, "node": node} for task, (state, node) in placed.items()}
    if not faults:
        return passed(emitted)
    rule = explain(Mismatch("scheduling", case, case["expect"], emitted), rules=kai_deviations.RULES)
    return deviating(rule, emitted) if rule else failed("; ".join(faults), emitted)


def _policy(case: Json) -> Policy:
    grace = case["run"].get("staleness_grace_seconds", 0)
    actions = tuple(Action(one) for one in case["run"]["actions"])
    policy = Policy(actions=actions, staleness_grace=grace)
    return replace(policy, filters=(*policy.filters, _nowhere)) if _has_hidden_filter(case) else policy


def _nowhere(snapshot: Snapshot, _shape: int) -> Bools:
    """A third party's filter that refuses every node."""
    return np.zeros(len(snapshot.nodes.names), dtype=np.bool_)


def _session(world: World, policy: Policy, now: float = NOW) -> Placed:
    """One cycle: what every task is at its end."""
    snapshot = world.encoder.snapshot(now)
    cycle = solve(snapshot, policy)
    trial = cycle.trial
    for change in plan_of(cycle).changes:
        if isinstance(change, Patch):
            world.annotate(change.target.name, change.body["metadata"]["annotations"])
    placed = _now(world)
    for pods in trial.evictions:
        for pod in pods.tolist():
            name = snapshot.pods.refs[pod].name
            placed[name] = ("Releasing", placed[name][1])
    for placement in trial.placements:
        for pod, node in zip(placement.pods.tolist(), placement.nodes.tolist(), strict=True):
            if trial.state[pod] == State.ACTIVE:
                state = "Binding" if placement.now else "Pipelined"
                placed[snapshot.pods.refs[pod].name] = (state, snapshot.nodes.names[node])
    return placed


def _now(world: World) -> Placed:
    return {task: (state, world.nodes[task]) for task, state in world.states.items()}


def _settle(world: World, placed: Placed) -> None:
    """What the cluster makes of a session before the next one."""
    gone = {job["name"] for job in world.case["jobs"] if job.get("deleted_when_evicted")}
    owner = {task["name"]: job["name"] for job in world.case["jobs"] for task in job["tasks"]}
    world.nominated = {}
    for task, (state, node) in placed.items():
        if state == "Pipelined" and world.states[task] == "Pending":
            world.nominated[task] = node
        if state == "Releasing" and owner[task] in gone:
            world.states[task] = "Gone"
        else:
            world.states[task] = AFTER_ROUND.get(state, state)
        world.nodes[task] = node if world.states[task] not in {"Pending", "Gone"} else ""
    world.refresh()


def _faults(case: Json, placed: Placed) -> Iterator[str]:
    expect = case["expect"]
    for job in case["jobs"]:
        wanted = expect.get("jobs", {}).get(job["name"])
        for task in job["tasks"] if wanted else ():
            yield from _differs(task["name"], wanted, placed)
    for name, wanted in expect.get("tasks", {}).items():
        if name in placed:
            yield from _differs(name, wanted, placed)
    yield from _node_faults(case, placed)


def _differs(task: str, wanted: Json, placed: Placed) -> Iterator[str]:
    state, node = placed[task]
    if state != wanted["status"]:
        yield f"{task}: expected {wanted['status']}, got {state}"
    elif wanted.get("node") and state not in {"Pending", "Gone"} and node != wanted["node"]:
        yield f"{task}: expected on {wanted['node']}, got {node}"


def _node_faults(case: Json, placed: Placed) -> Iterator[str]:
    gpus = {
        task["name"]: task.get("gpus", job["requests_per_task"].get("gpus", 0))
        for job in case["jobs"]
        for task in job["tasks"]
    }
    used: Counter[str] = Counter()
    for task, (state, node) in placed.items():
        if state in {"Running", "Binding", "Releasing"}:
            used[node] += gpus[task]
    capacity = {node["name"]: node["gpus"] for node in case["cluster"]["nodes"]}
    for name, wanted in case["expect"].get("nodes", {}).items():
        idle = capacity[name] - used[name]
        if "idle_gpus" in wanted and idle != wanted["idle_gpus"]:
            yield f"node {name}: expected {wanted['idle_gpus']} idle GPUs, got {idle}"


def _over_limits(case: Json, world: World, placed: Placed) -> Iterator[str]:
    counts = Counter(state for task, (state, _) in placed.items() if state != world.states[task])
    for limit, state in (
        ("max_binds", "Binding"),
        ("max_evictions", "Releasing"),
        ("max_pipelines", "Pipelined"),
    ):
        most = case["expect"].get("limits", {}).get(limit)
        if most is not None and counts[state] > most:
            yield f"expected at most {most} {state}, got {counts[state]}"
