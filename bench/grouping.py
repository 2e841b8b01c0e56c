"""`python -m bench.grouping`: 100,000 pods of 5,000 workloads grouped from cold, as written, and unchanged.

"written" is the pass after all pods and PodGroups came back with what the first pass wrote, "steady" the one after
that: nothing changed, as where one pod of a large workload did.
"""

import argparse
import gc
import os
import platform
import resource
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec

from quorate.api.core import Pod
from quorate.api.meta import Json
from quorate.api.podgroup import PodGroup
from quorate.grouping.grouper import Grouping, group
from quorate.grouping.newcomers import membership
from quorate.grouping.samples import pods_of
from quorate.grouping.subject import Context
from quorate.grouping.writes import plan
from quorate.plan import Apply, Patch, Plan

WORKLOADS, PODS = 5_000, 100_000
TARGET_SECONDS = 10.0
OURS = {"spec": {"schedulerName": "quorate"}}
CLASSES = frozenset({"train", "build", "inference"})


def workload(number: int, size: int) -> Json:
    """One of four common kinds in turn."""
    templates: list[tuple[str, str, Json]] = [
        ("batch/v1", "Job", {"parallelism": size, "template": OURS}),
        (
            "kubeflow.org/v1",
            "PyTorchJob",
            {"pytorchReplicaSpecs": {"Master": _role(1), "Worker": _role(size - 1)}},
        ),
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"replicas": size // 4, "leaderWorkerTemplate": {"size": 4, "workerTemplate": OURS}},
        ),
        (
            "ray.io/v1",
            "RayCluster",
            {
                "headGroupSpec": {"template": OURS},
                "workerGroupSpecs": [{"groupName": "w", **_role(size - 1)}],
            },
        ),
    ]
    version, kind, spec = templates[number % len(templates)]
    name = f"w{number:05d}"
    metadata = {"name": name, "namespace": "team", "uid": f"uid-{name}", "labels": {"team": "a"}}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _role(replicas: int) -> Json:
    return {"replicas": replicas, "template": OURS}


def world(workloads: int, pods: int) -> list[tuple[Context, list[Pod]]]:
    """Each workload with its pods, as the controller would be handed them."""
    found = []
    for number in range(workloads):
        owner = workload(number, pods // workloads)
        key = (owner["apiVersion"].rpartition("/")[0], owner["kind"], "team", owner["metadata"]["name"])
        made = [msgspec.convert(pod, Pod) for pod in pods_of(owner)]
        found.append((Context(objects={key: owner}, priority_classes=CLASSES), made))
    return found


def written(pods: list[Pod], grouping: Grouping, changes: Plan) -> tuple[list[Pod], dict[str, PodGroup]]:
    """Pods and PodGroups as the API server shows them after the plan."""
    patches = {
        change.target.name: change.body["metadata"] for change in changes.changes if isinstance(change, Patch)
    }
    shown = [msgspec.convert(_patched(pod, patches.get(pod.metadata.name, {})), Pod) for pod in pods]
    groups = [change.body for change in changes.changes if isinstance(change, Apply)]
    assert len(groups) == len(grouping.gangs)
    return shown, {f"team/{body['metadata']['name']}": msgspec.convert(body, PodGroup) for body in groups}


def _patched(pod: Pod, metadata: Json) -> Json:
    body: Json = msgspec.to_builtins(pod)
    for field, values in metadata.items():
        body["metadata"][field] = {**body["metadata"].get(field, {}), **values}
    return body


def measure(workloads: int, pods: int) -> Json:
    """Seconds of decisions, and writes by kind, from cold and once more."""
    stage = world(workloads, pods)
    gc.collect()
    gc.freeze()
    begin, used = time.perf_counter(), time.process_time()
    groupings = [group(members, context) for context, members in stage]
    plans = [
        plan(grouping, {}, context.settings) for grouping, (context, _) in zip(groupings, stage, strict=True)
    ]
    cold, cold_cpu = time.perf_counter() - begin, time.process_time() - used
    shown = [
        written(members, grouping, changes)
        for (_, members), grouping, changes in zip(stage, groupings, plans, strict=True)
    ]
    came = [(context, members, groups) for (context, _), (members, groups) in zip(stage, shown, strict=True)]
    begin, used = time.perf_counter(), time.process_time()
    groupings = [
        group(members, context, before=before)
        for (context, members, _), before in zip(came, groupings, strict=True)
    ]
    again = [
        plan(grouping, groups, context.settings)
        for (context, _, groups), grouping in zip(came, groupings, strict=True)
    ]
    as_written, as_written_cpu = time.perf_counter() - begin, time.process_time() - used
    begin, used = time.perf_counter(), time.process_time()
    again += [
        plan(group(members, context, before=before), groups, context.settings)
        for (context, members, groups), before in zip(came, groupings, strict=True)
    ]
    steady, steady_cpu = time.perf_counter() - begin, time.process_time() - used
    sample = stage[: max(workloads // 20, 4)]
    used = time.process_time()
    labelled = sum(
        bool(membership(pod, context, lambda *_: None)) for context, members in sample for pod in members
    )
    admission_cpu = time.process_time() - used
    writes = Counter(type(change).__name__ for each in plans for change in each.changes)
    return {
        "pods": sum(len(members) for _, members in stage),
        "workloads": workloads,
        "gangs": sum(len(grouping.gangs) for grouping in groupings),
        "cold_seconds": cold,
        "cold_cpu_seconds": cold_cpu,
        "written_seconds": as_written,
        "written_cpu_seconds": as_written_cpu,
        "steady_seconds": steady,
        "steady_cpu_seconds": steady_cpu,
        "admission_cpu_ms_per_pod": 1e3 * admission_cpu / labelled,
        "writes": dict(writes),
        "writes_again": sum(len(each.changes) for each in again),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "load": os.getloadavg()[0],
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "target_seconds": TARGET_SECONDS,
    }


def faults(found: Json) -> list[str]:
    """What the grouper promises and did not keep; time is the process's own, whatever else the machine does."""
    writes = found["writes"]
    checks = {
        f"took more than {TARGET_SECONDS} s": found["cold_cpu_seconds"] <= TARGET_SECONDS,
        "more than one write a gang": writes.get("Apply", 0) <= found["gangs"],
        "more than one write a pod": writes.get("Patch", 0) <= found["pods"],
        "writes after the first pass": not found["writes_again"],
    }
    return [fault for fault, holds in checks.items() if not holds]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.grouping", description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    options = parser.parse_args()
    measured = measure(WORKLOADS, PODS)
    found = msgspec.json.format(msgspec.json.encode(measured)).decode()
    print(found)
    if options.json:
        Path(options.json).write_text(found + "\n")
    for fault in faults(measured):
        print(fault, file=sys.stderr)
    return 1 if faults(measured) else 0


if __name__ == "__main__":
    sys.exit(main())
