"""KAI's table of whether a job is worth a try after another one failed, run on production `decide`.

A job is easier where it may fit and the other does not. The cluster of a case has one node for each pod of the
job, with just what that pod asks for, and the other one comes first: an easier job starts although the other
one is refused in the same cycle; one that is not easier leaves no such cluster, so there the other starts. A
job that is called easier and yet fits nowhere alone must have been tried after the other one all the same.

Rows that are one pod of such a job have no result of their own: the pod by itself, on a node that has twice what it
asks for, starts exactly if its status is pending.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from quorate.api import labels
from quorate.api.core import NODE, POD, PRIORITY_CLASS, Node, NodeStatus, Pod, PodStatus, PriorityClass
from quorate.api.meta import ObjectMeta
from quorate.api.podgroup import POD_GROUP, PodGroup, PodGroupSpec
from quorate.api.podspec import Container, PodSpec, ResourceRequirements
from quorate.api.quantity import milli
from quorate.plan import Bind
from quorate.scheduling.decide import decide
from quorate.scheduling.encode import Encoder
from tests.cases.deviations import Mismatch, explain
from tests.cases.kai_world import NOW
from tests.cases.outcome import Outcome, deviating, failed, passed, unsupported

Json = dict[str, Any]
Requests = dict[str, str]
FIRST, SECOND = "representative", "job"


def run(case: Json, file: Json) -> Outcome:
    del file
    if "result" not in case:
        return _alone(case)
    asked = {name: list(_pending(case[f"{name}_resources"])) for name in (FIRST, SECOND)}
    every = [requests for pods in asked.values() for requests in pods]
    if any(milli(requests.get(labels.GPU_RESOURCE, "0")) % 1000 for requests in every):
        return unsupported("gpu_fraction")
    started, refused = _decided(asked)
    got = started == {SECOND}
    if got == case["result"] or (case["result"] and started | refused >= {FIRST, SECOND}):
        return passed()
    reason = explain(Mismatch("minimal_job", case, case["result"], got))
    return deviating(reason) if reason else failed(f"{sorted(started)} start on nodes of the job's size")


def _alone(case: Json) -> Outcome:
    encoder, phase = Encoder("quorate"), case["status"].removeprefix("Pod")
    room = {name: milli(amount) * 2 / 1000 for name, amount in case["resources"].items()}
    status = NodeStatus(allocatable={"pods": 110, **room})
    encoder.update(NODE, None, Node(metadata=ObjectMeta(name="node"), status=status))
    group = PodGroup(metadata=ObjectMeta(name=SECOND, namespace="default"), spec=PodGroupSpec(min_member=1))
    encoder.update(POD_GROUP, None, group)
    pod = _pod(SECOND, 0, case["resources"])
    seat = "" if phase == "Pending" else "node"
    spec = structs.replace(pod.spec, node_name=seat)
    encoder.update(POD, None, structs.replace(pod, spec=spec, status=PodStatus(phase=phase)))
    plan = decide(encoder.snapshot(NOW))
    starts = any(isinstance(change, Bind) for change in plan.changes)
    return passed() if starts == (phase == "Pending") else failed(f"a pod that is {phase} starts: {starts}")


def _pending(stated: Any) -> Iterator[Requests]:
    """What each pod that waits asks for."""
    for one in stated if isinstance(stated, list) else [stated]:
        if "status" not in one:
            yield one
        elif one["status"] == "PodPending":
            yield one["resources"]


def _decided(asked: dict[str, list[Requests]]) -> tuple[set[str], set[str]]:
    """Who starts, and who is refused."""
    encoder = Encoder("quorate")
    for at, requests in enumerate(asked[SECOND]):
        status = NodeStatus(allocatable={"pods": 110, **requests})
        encoder.update(NODE, None, Node(metadata=ObjectMeta(name=f"node-{at}"), status=status))
    for name, priority in ((FIRST, 2), (SECOND, 1)):
        metadata = ObjectMeta(name=name, namespace="default")
        encoder.update(PRIORITY_CLASS, None, PriorityClass(metadata=ObjectMeta(name=name), value=priority))
        spec = PodGroupSpec(min_member=len(asked[name]), priority_class_name=name)
        encoder.update(POD_GROUP, None, PodGroup(metadata=metadata, spec=spec))
        for at, requests in enumerate(asked[name]):
            encoder.update(POD, None, _pod(name, at, requests))
    plan = decide(encoder.snapshot(NOW))
    started = {change.pod.name.rpartition("-")[0] for change in plan.changes if isinstance(change, Bind)}
    return started, {refusal.gang.name for refusal in plan.refusals}


def _pod(gang: str, at: int, requests: Requests) -> Pod:
    metadata = ObjectMeta(name=f"{gang}-{at}", namespace="default", annotations={labels.POD_GROUP_NAME: gang})
    container = Container(name="main", resources=ResourceRequirements(requests=dict(requests)))
    return Pod(metadata=metadata, spec=PodSpec(scheduler_name="quorate", containers=[container]))
