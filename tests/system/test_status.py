"""What `kubectl get` shows of gangs and queues as they live: phases, reasons, conditions that come and go."""

from typing import Any

import pytest

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl

GANGS = "podgroups.scheduling.run.ai"
QUEUE = """
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {{name: {name}}}
spec:
  parentQueue: {parent}
  resources:
    gpu: {{quota: {quota}, limit: {limit}}}
    cpu: {{quota: -1, limit: -1}}
    memory: {{quota: -1, limit: -1}}
"""


def gang(name: str, spec: str) -> str:
    return (
        f"apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {{name: {name}}}\nspec: {spec}\n"
    )


def member(name: str, of: str = "g", group: str = "", **behaviour: int) -> str:
    said = "".join(f', quorate.dev/fake-{key}: "{value}"' for key, value in behaviour.items())
    label = f"kai.scheduler/subgroup-name: {group}" if group else ""
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, annotations: {{pod-group-name: {of}{said.replace("_", "-")}}}, labels: {{{label}}}}}
spec:
  schedulerName: quorate
  restartPolicy: Never
  containers: [{{name: main, image: "example/main:1", resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]
"""


def row(shell: Kubectl, name: str = "g") -> dict[str, str]:
    """The wide line of a gang by its headings."""
    heads, line = shell("get", GANGS, name, "--output", "wide").splitlines()
    starts = [heads.index(head) for head in heads.split()]
    cells = [line[begin:end].strip() for begin, end in zip(starts, [*starts[1:], None], strict=True)]
    return dict(zip(heads.split(), cells, strict=True))


def phase(shell: Kubectl, wanted: str) -> dict[str, str]:
    return eventually(lambda: row(shell), until=lambda seen: seen["PHASE"] == wanted)


def conditions(shell: Kubectl, kind: str, name: str) -> dict[str, Any]:
    found = shell.get(kind, name).get("status", {}).get("conditions", [])
    return {one["type"]: one for one in found}


def test_a_gang_waits_runs_breaks_and_is_given_up(shell: Kubectl) -> None:
    shell.apply(gang("g", "{minMember: 3, stalenessGracePeriod: 4s}"))
    assert phase(shell, "Pending")["REASON"] == "no pods exist"
    shell.apply(member("a", run_seconds=3600) + member("b", run_seconds=3600))
    seen = eventually(lambda: row(shell), until=lambda seen: "2 of 3 pods exist" in seen["REASON"])
    assert (seen["GROUPS"], seen["PODS"], seen["PHASE"]) == ("0/1", "0/2", "Pending")
    assert conditions(shell, GANGS, "g")["Unschedulable"]["status"] == "True"
    told = eventually(lambda: conditions(shell, "pod", "a").get("PodScheduled", {}))
    assert (told["status"], told["reason"]) == ("False", "Unschedulable")
    assert "of 3 pods exist" in told["message"]
    shell.apply(member("c", run_seconds=3600, start_seconds=2))
    assert phase(shell, "Starting")["PODS"] == "3/3"
    seen = phase(shell, "Running")
    assert (seen["GROUPS"], seen["PODS"], seen["REASON"]) == ("1/1", "3/3", "")
    assert conditions(shell, "pod", "a")["PodScheduled"]["status"] == "True"
    shown = conditions(shell, GANGS, "g")
    assert "Unschedulable" not in shown
    assert (shown["Satisfied"]["status"], shown["Scheduled"]["status"]) == ("True", "True")
    shell("delete", "pod", "c", "--now")
    assert phase(shell, "Degraded")["REASON"] == "below its minimum: 2 of 3 pods"
    shown = conditions(shell, GANGS, "g")
    assert (shown["Satisfied"]["status"], shown["Scheduled"]["status"]) == ("False", "True")
    eventually(lambda: shell.get("pods")["items"], until=lambda pods: not pods)


@pytest.mark.parametrize(
    ("codes", "ends", "reason"),
    [
        ((0, 0), "Succeeded", ""),
        ((0, 1), "Failed", "1 pods succeeded, 1 failed: below its minimum: 1 of 2 pods"),
    ],
)
def test_a_gang_ends_as_its_pods_do(shell: Kubectl, codes: tuple[int, ...], ends: str, reason: str) -> None:
    pods = (member(f"p{code}-{n}", run_seconds=1, exit_code=code) for n, code in enumerate(codes))
    shell.apply(gang("g", "{minMember: 2}") + "".join(pods))
    assert phase(shell, ends)["REASON"] == reason


def test_a_gang_of_groups_shows_how_many_hold_and_why_the_rest_waits(shell: Kubectl) -> None:
    queue = f"{shell.namespace}-four"
    shell.apply(QUEUE.format(name=queue, parent='""', quota=4, limit=4))
    groups = "[{name: a, minMember: 2}, {name: b, minMember: 2}, {name: c, minMember: 2}]"
    spec = f"{{queue: {queue}, preemptibility: semi-preemptible, minSubGroup: 1, subGroups: {groups}}}"
    pods = (member(f"{leaf}{n}", group=leaf, run_seconds=3600) for leaf in "abc" for n in range(2))
    shell.apply(gang("g", spec) + "".join(pods))
    seen = eventually(lambda: row(shell), until=lambda seen: seen["PODS"] == "4/6")
    assert (seen["GROUPS"], seen["PREEMPTIBILITY"]) == ("2/3", "semi-preemptible")
    seen = eventually(lambda: row(shell), until=lambda seen: seen["PHASE"] == "Running" and seen["REASON"])
    assert f"{queue} quota has reached the allowable limit of GPUs. Limit is 4 GPUs" in seen["REASON"]
    status = shell.get(GANGS, "g")["status"]
    assert status["resourcesStatus"]["allocatedNonPreemptible"] == {"nvidia.com/gpu": "2"}
    (reason,) = status["schedulingConditions"][0]["reasons"]
    assert reason["details"] == {"queue": queue, "limit": 4, "allocated": 4, "requested": 2}
    rows = {one.get("name", ""): one for one in status["groups"]}
    assert [rows[name]["satisfied"] for name in ("", "a", "b", "c")].count(True) == 3


def test_a_queue_shows_its_sums_its_orphans_and_who_is_over_quota(shell: Kubectl) -> None:
    above, below = (f"{shell.namespace}-{name}" for name in ("above", "below"))
    shell.apply(QUEUE.format(name=below, parent=above, quota=1, limit=-1))
    missing = eventually(lambda: conditions(shell, "queue", below).get("Orphan", {}))
    assert (missing["status"], missing["reason"]) == ("True", "ParentMissing")
    shell.apply(QUEUE.format(name=above, parent='""', quota=4, limit=-1))
    eventually(
        lambda: conditions(shell, "queue", below)["Orphan"]["status"], until=lambda seen: seen == "False"
    )
    pods = (member(f"p{n}", run_seconds=3600) for n in range(2))
    shell.apply(gang("g", f"{{queue: {below}, minMember: 2, preemptibility: preemptible}}") + "".join(pods))
    over = eventually(
        lambda: conditions(shell, "queue", below)["OverQuota"], until=lambda seen: seen["status"] == "True"
    )
    assert over["message"] == "2 nvidia.com/gpu allocated, the quota is 1"
    shown = eventually(lambda: shell.get("queue", above)["status"], until=lambda seen: seen.get("allocated"))
    assert (shown["allocated"], shown["childQueues"]) == ({"nvidia.com/gpu": "2"}, [below])
    assert conditions(shell, "queue", above)["OverQuota"]["status"] == "False"
    shell("delete", "pods", "--all", "--now")
    eventually(
        lambda: conditions(shell, "queue", below)["OverQuota"]["status"], until=lambda seen: seen == "False"
    )
    assert "allocated" not in shell.get("queue", below)["status"]
