"""Admission as a user meets it with kubectl; on a cluster whose API server asks our webhook."""

import json
from typing import Any

import pytest

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.lws import web

Json = dict[str, Any]

GANG = "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {{name: gang}}\nspec: {spec}\n"
QUEUE = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {spec}\n"
OPEN = (
    "{resources: {gpu: {quota: 4, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}}"
)


@pytest.fixture(autouse=True)
def _judged(shell: Kubectl) -> None:
    if shell.run("get", "validatingwebhookconfiguration", "quorate").code:
        pytest.skip("nobody installed our webhook on this cluster")


def test_a_tree_that_is_none_is_refused_at_its_field(shell: Kubectl) -> None:
    groups = "{subGroups: [{name: a, parent: b, minMember: 1}, {name: b, parent: a}]}"
    refused = shell.run("apply", "-f", "-", stdin=GANG.format(spec=groups))
    assert refused.code == 1
    assert "spec.subGroups[0].parent: cycle detected in subgroups" in refused.err


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            "{minMember: 2, minSubGroup: 1}",
            "spec.minSubGroup: minMember and minSubGroup are mutually exclusive: set",
        ),
        ("{subGroups: [{name: a}]}", "spec.subGroups[0].minMember: subgroup a: minMember is required"),
        (
            "{subGroups: [{name: a, parent: x, minMember: 1}]}",
            "spec.subGroups[0].parent: parent x of a was not found",
        ),
        (
            "{subGroups: [{name: a, minMember: 1, minSubGroup: 1}]}",
            'subgroup "a": minMember and minSubGroup are mutually exclusive',
        ),
        (
            "{subGroups: [{name: a, minSubGroup: 1}]}",
            'subgroup "a": minSubGroup cannot be set on a leaf SubGroup (no child SubGroups)',
        ),
        ("{subGroups: [{name: a, minMember: 1}, {name: a, minMember: 1}]}", "duplicate subgroup name a"),
        ('{minMember: "3"}', "spec.minMember: must be integer, not string"),
    ],
)
def test_a_group_that_is_at_fault_is_named(shell: Kubectl, spec: str, text: str) -> None:
    refused = shell.run("create", "--validate=false", "-f", "-", stdin=GANG.format(spec=spec))
    assert refused.code == 1
    assert text in refused.err


def test_an_impossible_minimum_is_admitted_with_a_warning_and_shown_as_a_condition(shell: Kubectl) -> None:
    spec = "{minSubGroup: 3, subGroups: [{name: a, minMember: 1}, {name: b, minMember: 1}]}"
    applied = shell.run("apply", "-f", "-", stdin=GANG.format(spec=spec)).checked()
    text = "minSubGroup (3) exceeds the number of direct child SubGroups (2)"
    assert f"Warning: spec.minSubGroup: {text}" in applied.err

    def conditions() -> dict[str, str]:
        found = shell.get("podgroups.scheduling.run.ai", "gang").get("status", {}).get("conditions", [])
        return {one["type"]: one["message"] for one in found}

    assert eventually(conditions, until=lambda seen: "MinimumImpossible" in seen)["MinimumImpossible"] == text
    shell.apply(GANG.format(spec=spec.replace("minSubGroup: 3", "minSubGroup: 1")))
    eventually(conditions, until=lambda seen: "MinimumImpossible" not in seen)


def test_a_gang_without_a_queue_gets_the_default_one(shell: Kubectl) -> None:
    shell.apply(GANG.format(spec="{minMember: 1}"))
    assert shell.get("podgroups.scheduling.run.ai", "gang")["spec"]["queue"] == "default-queue"


def test_a_queue_that_is_used_cannot_be_deleted(shell: Kubectl) -> None:
    parent, child = f"{shell.namespace}-parent", f"{shell.namespace}-child"
    shell.apply(QUEUE.format(name=parent, spec=OPEN))
    spec = OPEN.replace("{resources", f"{{parentQueue: {parent}, resources").replace("quota: 4", "quota: 5")
    warned = shell.run("apply", "-f", "-", stdin=QUEUE.format(name=child, spec=spec)).checked()
    assert f"child queue GPU quota (5) exceeds parent queue {parent} GPU quota (4)" in warned.err
    refused = eventually(
        lambda: shell.run("delete", "queue", parent, "--dry-run=server"), until=lambda done: done.code == 1
    )
    assert f"cannot delete queue {parent}: it has child queues [{child}]" in refused.err
    shell.apply(GANG.format(spec=f"{{minMember: 1, queue: {child}}}"))
    refused = eventually(
        lambda: shell.run("delete", "queue", child, "--dry-run=server"), until=lambda done: done.code == 1
    )
    assert f"it has 1 workloads [{shell.namespace}/gang]" in refused.err
    shell("delete", "podgroups.scheduling.run.ai", "gang")
    eventually(lambda: shell.run("delete", "queue", child), until=lambda done: done.code == 0)
    eventually(lambda: shell.run("delete", "queue", parent), until=lambda done: done.code == 0)


def test_a_pod_of_ours_is_warned_and_a_foreign_one_is_left_alone(shell: Kubectl) -> None:
    pod = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}, annotations: {{pod-group-name: missing}}}}
spec: {{schedulerName: {scheduler}, containers: [{{name: app, image: "example/app:1"}}]}}
"""
    ours = shell.run("apply", "-f", "-", stdin=pod.format(name="ours", scheduler="quorate")).checked()
    assert f'PodGroup "missing" does not exist in namespace {shell.namespace}' in ours.err
    foreign = shell.run("apply", "-f", "-", stdin=pod.format(name="foreign", scheduler="other")).checked()
    assert foreign.err == ""


def test_a_set_is_completed_as_upstream_completes_it(shell: Kubectl) -> None:
    shell.apply(web(replicas=0, restartPolicy="Default"))
    spec = shell.get("lws", "web")["spec"]
    assert spec["leaderWorkerTemplate"]["restartPolicy"] == "None"
    assert spec["networkConfig"] == {"subdomainPolicy": "Shared"}
    assert spec["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, "partition": 0},
    }


SIZE = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"
TPU: Json = {"spec": {"containers": [{"name": "a", "resources": {"limits": {"google.com/tpu": 4}}}]}}


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (
            {"size": 0},
            "spec.leaderWorkerTemplate.size: Invalid value: 0: size must be equal or greater than 1",
        ),
        (
            {"subGroupPolicy": {"subGroupSize": 0}},
            f"{SIZE}: Invalid value: 0: subGroupSize must be equal or greater than 1",
        ),
        (
            {"subGroupPolicy": {}},
            f"{SIZE}: Invalid value: null: subGroupSize must be equal or greater than 1",
        ),
        (
            {"size": 5, "subGroupPolicy": {"subGroupSize": 3}},
            f"{SIZE}: Invalid value: 3: size or size - 1 must be divisible by subGroupSize",
        ),
        (
            {
                "size": 5,
                "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"},
                "worker": TPU,
            },
            "google.com/tpu: a leader outside all sub-groups cannot have TPUs",
        ),
        ({"worker": {"spec": {}}}, "workerTemplate.spec.containers: Required value"),
        (
            {"worker": {"spec": {"contaners": []}}},
            'unknown field "spec.leaderWorkerTemplate.workerTemplate.spec.contaners"',
        ),
        (
            {"volumeClaimTemplates": [{}]},
            "spec.leaderWorkerTemplate.volumeClaimTemplates[0].metadata.name: Required value",
        ),
    ],
)
def test_what_crashes_upstream_or_goes_wrong_unseen_is_refused_at_its_field(
    shell: Kubectl, group: Json, text: str
) -> None:
    refused = shell.run("apply", "-f", "-", stdin=web(**group))
    assert refused.code == 1
    assert text in refused.err


GANG_OF = "pod-group-name"
SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: {name}}}
spec:
  serviceName: {name}
  replicas: {replicas}
  podManagementPolicy: Parallel
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      schedulerName: {scheduler}
      containers: [{{name: main, image: "example/main:1"}}]
"""
GROWING_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 1
  completions: 6
  template:
    metadata: {annotations: {quorate.dev/fake-run-seconds: "3600"}}
    spec:
      schedulerName: quorate
      restartPolicy: Never
      containers: [{name: main, image: "example/main:1"}]
"""


def grouped(shell: Kubectl, count: int) -> dict[str, bool]:
    """Whether the grouper had to write the pods, by name, once all of them have their gang."""

    def pods() -> list[Json]:
        return list(shell.get("pods", "--show-managed-fields")["items"])

    found = eventually(pods, until=lambda seen: [is_member(one) for one in seen] == [True] * count)
    return {one["metadata"]["name"]: "quorate" in managers(one) for one in found}


def is_member(pod: Json) -> bool:
    return GANG_OF in pod["metadata"].get("annotations", {})


def managers(pod: Json) -> set[str]:
    """Who wrote the pod, but for its status."""
    return {one["manager"] for one in pod["metadata"]["managedFields"] if "subresource" not in one}


def test_pods_of_an_owner_that_is_known_are_created_as_members(shell: Kubectl) -> None:
    shell.apply(SET.format(name="db", replicas=1, scheduler="quorate"))
    first = grouped(shell, 1)
    shell("scale", "statefulset", "db", "--replicas=4")
    assert grouped(shell, 4) == {**first, "db-1": False, "db-2": False, "db-3": False}
    shell("delete", "statefulset", "db", "--cascade=foreground")
    shell.apply(GROWING_JOB)
    first = grouped(shell, 1)
    shell("patch", "job", "train", "--patch", '{"spec": {"parallelism": 6}}')
    assert sum(grouped(shell, 6).values()) == sum(first.values())
    (gang,) = shell.get("podgroups.scheduling.run.ai")["items"]
    assert {one["metadata"]["annotations"][GANG_OF] for one in shell.get("pods")["items"]} == {
        gang["metadata"]["name"]
    }


def test_a_dry_run_shows_the_gang_and_other_schedulers_never_meet_us(shell: Kubectl) -> None:
    shell.apply(SET.format(name="db", replicas=1, scheduler="quorate"))
    grouped(shell, 1)
    shell.apply(SET.format(name="foreign", replicas=1, scheduler="default-scheduler"))
    (pod,) = eventually(
        lambda: shell.get("pods", "--show-managed-fields", "-l", "app=foreign")["items"], until=bool
    )
    assert not is_member(pod)
    assert "quorate" not in managers(pod)
    sample = shell.get("pod", "db-0")
    kept = {"name": "db-9", "ownerReferences": sample["metadata"]["ownerReferences"]}
    spec = {"schedulerName": "quorate", "containers": [{"name": "main", "image": "example/main:1"}]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": kept, "spec": spec}
    shown = shell.run("create", "--dry-run=server", "-f", "-", "-o", "json", stdin=json.dumps(body)).checked()
    assert (
        json.loads(shown.out)["metadata"]["annotations"][GANG_OF]
        == (sample["metadata"]["annotations"][GANG_OF])
    )
    assert shown.err == ""


def test_pods_are_created_and_grouped_while_the_webhook_does_not_answer(shell: Kubectl) -> None:
    hooks = shell.get("mutatingwebhookconfiguration", "quorate")["webhooks"]
    (place,) = [n for n, one in enumerate(hooks) if one["name"] == "pods.mutate.quorate.dev"]
    path, client = f"/webhooks/{place}/clientConfig", hooks[place]["clientConfig"]
    shell.apply(SET.format(name="db", replicas=1, scheduler="quorate"))
    grouped(shell, 1)
    lead(shell, path, {"url": "https://localhost:1/mutate", "caBundle": client["caBundle"]})
    try:
        replicas = 1

        def is_unlabelled() -> bool:
            """The API server hears of the change when it likes."""
            nonlocal replicas
            replicas += 1
            shell("scale", "statefulset", "db", f"--replicas={replicas}")
            return grouped(shell, replicas)[f"db-{replicas - 1}"]

        eventually(is_unlabelled)
    finally:
        lead(shell, path, client)


def lead(shell: Kubectl, path: str, client: Json) -> None:
    change = [{"op": "replace", "path": path, "value": client}]
    shell("patch", "mutatingwebhookconfiguration", "quorate", "--type=json", "--patch", json.dumps(change))
