"""KAI's unit tables that need a cluster: standing of elastic jobs, shares down a tree of queues, what others hold."""

from typing import Any

import numpy as np

from quorate.api.core import POD, Pod, PodStatus
from quorate.api.meta import ObjectMeta
from quorate.api.podspec import Container, PodSpec, ResourceRequirements
from quorate.scheduling.allocate import standing
from quorate.scheduling.fairness import cluster_total, shares
from quorate.scheduling.policy import Policy, new_trial
from quorate.scheduling.snapshot import GPU, SHARED
from tests.cases.kai_units_topology import node_of
from tests.cases.kai_world import NOW, World
from tests.cases.outcome import Outcome, failed, passed, unsupported

Json = dict[str, Any]
UNLIMITED = {"quota": -1, "limit": -1, "over_quota_weight": 1}
ALLOCATED = {"Allocated", "Pipelined", "Binding", "Bound", "Running"}
DEVICE = 1000  # milli-units of one GPU
UNSTATED = {"name": "", "podsets": [{"name": "default", "min": 1}]}  # the tree of a job that states none


def run(case: Json, file: Json) -> Outcome:
    tables = {"allocatable": _totals, "expected_fair_share": _shares, "l": _standing}
    table = next((table for field, table in tables.items() if field in case), None)
    return table(case) if table else unsupported(f"KAI unit table {file.get('about', '')!r}")


def _standing(case: Json) -> Outcome:
    """What starts goes before what is whole, and that before what has grown."""
    jobs = [_elastic(case[side], side) for side in "lr"]
    snapshot = World(
        {"cluster": {"nodes": [node_of("n", labels={})]}, "queues": [], "jobs": jobs}
    ).encoder.snapshot(NOW)
    trial = new_trial(snapshot, Policy())
    rank = {ref.name: standing(trial, at) for at, ref in enumerate(snapshot.gangs.refs)}
    left, right = rank["l"], rank["r"]
    got = (left > right) - (left < right)
    return passed() if got == case["want"] else failed(f"{left} against {right}, expected {case['want']}")


def _elastic(job: Json, name: str) -> Json:
    tasks = [
        {
            **task,
            "name": f"{name}-{at}",
            "node": "n",
            "state": "Running" if task["state"] in ALLOCATED else task["state"],
        }
        for at, task in enumerate(job.get("tasks") or ())
    ]
    return _job(name, tasks, _tree(job.get("root_sub_group_set") or UNSTATED))


def _tree(group: Json) -> Json:
    """A group of a unit table in the words of the scheduling cases."""
    leaves = [{"name": one["name"], "min_available": one["min"]} for one in group.get("podsets") or ()]
    found: Json = {"name": group["name"], "pod_sets": leaves}
    if group.get("groups"):
        found["groups"] = [_tree(one) for one in group["groups"]]
    return found


def _job(name: str, tasks: list[Json], tree: Json, *, queue: str = "") -> Json:
    return {
        "name": name,
        "queue": queue,
        "priority": 50,
        "preemptible": True,
        "age_minutes": 0,
        "requests_per_task": {"gpus": 1},
        "subgroup_tree": tree,
        "tasks": tasks,
    }


def _shares(case: Json) -> Outcome:
    """Leaf queues ask by pending pods of one GPU each."""
    total = case["total_resources"]["gpu"]
    queues, jobs = [], []
    for rank, (name, one) in enumerate(case["queues"].items()):
        queues.append(_queue(name, one, rank))
        if not one.get("child_queues"):
            count = int(one["queue_resource_share"]["gpu"].get("request", 0))
            tasks = [{"name": f"{name}-{at}", "state": "Pending"} for at in range(count)]
            tree = {"name": "", "pod_sets": [{"name": "default", "min_available": max(count, 1)}]}
            jobs.append(_job(f"job-{name}", tasks, tree, queue=name))
    nodes = [node_of("n", labels={}, gpus=total)]
    snapshot = World({"cluster": {"nodes": nodes}, "queues": queues, "jobs": jobs}).encoder.snapshot(NOW)
    column = SHARED.tolist().index(GPU)
    fair = dict(zip(snapshot.queues.names, shares(snapshot).fair[:, column].tolist(), strict=True))
    got = {name: fair[name] / DEVICE for name in case["expected_fair_share"]}
    return (
        passed()
        if got == case["expected_fair_share"]
        else failed(f"{got}, expected {case['expected_fair_share']}")
    )


def _queue(name: str, stated: Json, rank: int) -> Json:
    gpu = stated["queue_resource_share"]["gpu"]
    amounts = {
        "quota": gpu.get("deserved", 0),
        "limit": gpu.get("max_allowed", -1),
        "over_quota_weight": gpu.get("over_quota_weight", 0),
    }
    return {
        "name": name,
        "parent": stated["parent_queue"],
        "priority": stated.get("priority", 100),
        "created_rank": rank,
        "gpu": amounts,
        "cpu_milli": UNLIMITED,
        "memory_mb": UNLIMITED,
    }


def _totals(case: Json) -> Outcome:
    """What a node has for our gangs beside the pods of others."""
    offer = case["allocatable"]
    if any("mig" in name for name in offer):
        return unsupported("mig")
    stated = {
        "cpu_cores": offer.get("cpu", 0),
        "memory_bytes": offer.get("memory", 0),
        "gpus": offer.get("nvidia.com/gpu", 0),
    }
    world = World({"cluster": {"nodes": [node_of("n1", labels={}, **stated)]}, "queues": [], "jobs": []})
    for name, one in case["node"].get("pod_infos", {}).items():
        if one["status"] != "Deleted":
            world.encoder.update(POD, None, _foreign(name, one))
    total = cluster_total(world.encoder.snapshot(NOW))
    want = case["want"]
    wanted = np.array([want["cpu_milli"], want["memory_bytes"], want["gpu"] * DEVICE])
    return passed() if np.array_equal(total, wanted) else failed(f"{total}, expected {wanted}")


def _foreign(name: str, one: Json) -> Pod:
    spec = one["pod"]["spec"]
    stated = one.get("res_req_vector") or one.get("res_req") or one.get("resources") or {}
    if "milli_cpu" in stated:
        stated = {"cpu": f"{stated['milli_cpu']}m", "memory": stated.get("memory", 0)}
    is_placed = one["status"] != "Pending"
    container = Container(name="main", resources=ResourceRequirements(requests=stated))
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodSpec(
            containers=[container],
            scheduler_name=spec["scheduler_name"],
            node_name="n1" if is_placed else "",
        ),
        status=PodStatus(
            phase=one["status"] if one["status"] in {"Pending", "Succeeded", "Failed"} else "Running"
        ),
    )
