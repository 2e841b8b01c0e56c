"""LeaderWorkerSets as a user drives them with kubectl; the state of the world is what counts."""

import json
from pathlib import Path

import pytest

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.lws import (
    PREFIX,
    available,
    condition,
    images,
    names,
    patched,
    pods,
    status,
    template,
    uids,
    web,
    with_image,
)

EXAMPLES = Path(__file__).parents[2] / "examples/lws"
CRASHING = {"quorate.dev/fake-run-seconds": "0.3", "quorate.dev/fake-exit-code": "1"}


def test_groups_start_as_gangs_and_become_available(shell: Kubectl) -> None:
    shell.apply(web(replicas=2, size=3))
    available(shell)
    assert names(shell) == ["web-0", "web-0-1", "web-0-2", "web-1", "web-1-1", "web-1-2"]
    assert len({pod["metadata"]["annotations"]["pod-group-name"] for pod in pods(shell)}) == 2
    seen = status(shell)
    assert (seen["replicas"], seen["readyReplicas"], seen["updatedReplicas"]) == (2, 2, 2)
    assert shell.get("service", "web")["spec"]["clusterIP"] == "None"
    head, row = shell("get", "lws", "web").splitlines()
    assert head.split() == ["NAME", "READY", "DESIRED", "UP-TO-DATE", "AGE"]
    assert row.split()[:4] == ["web", "2", "2", "2"]


def test_the_scale_subresource_adds_and_removes_the_highest_groups(shell: Kubectl) -> None:
    shell.apply(web(replicas=1))
    available(shell)
    path = f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{shell.namespace}/leaderworkersets/web/scale"
    scale = shell.run("get", "--raw", path).checked().json
    assert scale["status"] == {
        "replicas": 1,
        "selector": f"{PREFIX}name=web,{PREFIX}worker-index=0",
    }
    before = uids(shell)
    scale["spec"]["replicas"] = 2  # what an autoscaler writes
    shell("replace", "--raw", path, "-f", "-", stdin=json.dumps(scale))
    available(shell)
    assert len(names(shell)) == 4
    shell("scale", "lws/web", "--replicas=3")
    available(shell)
    assert len(names(shell)) == 6
    shell("scale", "lws/web", "--replicas=1")
    eventually(lambda: uids(shell), until=lambda seen: seen == before)


def test_the_sickest_group_goes_first_where_that_is_asked_for(shell: Kubectl) -> None:
    node = shell.get("nodes")["items"][0]["metadata"]["name"]
    shell("label", "node", node, f"pool={shell.namespace}")
    try:
        worker = template(nodeSelector={"pool": shell.namespace})
        notes = {"quorate.dev/scale-down": "unready-first"}
        shell.apply(web(replicas=3, worker=worker, annotations=notes, restartPolicy="None"))
        available(shell)
    finally:
        shell("label", "node", node, "pool-")
    shell("delete", "pod", "web-1-1", "--wait=false")  # its successor finds no node
    eventually(lambda: status(shell).get("readyReplicas"), until=lambda seen: seen == 2)
    shell("scale", "lws/web", "--replicas=2")
    eventually(lambda: names(shell), until=lambda seen: seen == ["web-0", "web-0-1", "web-2", "web-2-1"])
    shell("scale", "lws/web", "--replicas=3")
    eventually(lambda: "web-1-1" in names(shell))
    assert len(names(shell)) == 6


def test_a_changed_template_rolls_and_an_earlier_one_comes_back(shell: Kubectl) -> None:
    shell.apply(web(replicas=3, rolling={"maxUnavailable": 0, "maxSurge": 1}))
    available(shell)
    with_image(shell, "example/app:2")
    available(shell)
    assert images(shell) == {"example/app:2"}
    with_image(shell, "example/app:1")
    available(shell)
    assert images(shell) == {"example/app:1"}
    eventually(lambda: len(names(shell)), until=lambda seen: seen == 6)
    revisions = shell.get("controllerrevisions", "-l", f"{PREFIX}name=web")["items"]
    assert sorted(found["revision"] for found in revisions) == [2, 3]


def test_a_partition_holds_the_lower_groups_back(shell: Kubectl) -> None:
    shell.apply(web(replicas=3, rolling={"partition": 2}))
    available(shell)
    with_image(shell, "example/app:2")
    eventually(lambda: status(shell).get("updatedReplicas"), until=lambda seen: seen == 1)
    eventually(lambda: status(shell).get("readyReplicas"), until=lambda seen: seen == 3)
    held = {pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"] for pod in pods(shell)}
    assert [held[name][-1] for name in ("web-0", "web-1", "web-2")] == ["1", "1", "2"]
    shell("delete", "pod", "web-0")
    eventually(lambda: images(shell) and len(names(shell)), until=lambda seen: seen == 6)
    assert shell.get("pod", "web-0")["spec"]["containers"][0]["image"] == "example/app:1"
    assert condition(shell, "Available")["status"] == "False"
    rolling = {"rollingUpdateConfiguration": {"partition": 0}}
    patched(shell, {"spec": {"rolloutStrategy": rolling}})
    available(shell)
    assert images(shell) == {"example/app:2"}


def test_a_size_that_changes_twice_while_it_rolls_ends_at_the_last(shell: Kubectl) -> None:
    shell.apply(web(replicas=2, size=3))
    available(shell)
    patched(shell, {"spec": {"leaderWorkerTemplate": {"size": 2}}})
    eventually(lambda: status(shell).get("updatedReplicas"), until=bool)
    patched(shell, {"spec": {"leaderWorkerTemplate": {"size": 4}, "replicas": 1}})
    available(shell)
    eventually(lambda: names(shell), until=lambda seen: seen == ["web-0", "web-0-1", "web-0-2", "web-0-3"])


def test_a_leader_that_is_killed_takes_its_group_with_it(shell: Kubectl) -> None:
    shell.apply(web(replicas=2, size=2))
    available(shell)
    before = uids(shell)
    shell("delete", "pod", "web-0", "--wait=false")
    eventually(lambda: before["web-0-1"] not in uids(shell).values())
    available(shell)
    after = uids(shell)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] == before[name]} == {"web-1", "web-1-1"}


def test_pods_deleted_by_hand_come_back_as_whole_groups(shell: Kubectl) -> None:
    shell.apply(web(replicas=2, size=2))
    available(shell)
    before = uids(shell)
    shell("delete", "pod", "web-0-1", "web-1", "--wait=false")
    eventually(lambda: not set(before.values()) & set(uids(shell).values()))
    available(shell)
    assert names(shell) == sorted(before)


def test_a_worker_that_crashes_again_and_again_waits_and_is_shown(shell: Kubectl) -> None:
    worker = template(notes=CRASHING)
    manifest = web(
        replicas=1,
        worker=worker,
        leaderTemplate=template(),
        annotations={"quorate.dev/max-group-restarts": "1"},
    )
    shell.apply(manifest)
    trouble = eventually(
        lambda: condition(shell, "Degraded"), until=lambda seen: seen.get("status") == "True"
    )
    assert "group 0 used up its budget of 1: a container of pod web-0-1 restarted" in trouble["message"]
    restarts = status(shell)["restarts"]
    assert [(one["group"], one["count"]) for one in restarts] == [(0, 1)]


def test_a_name_that_is_taken_is_shown_until_it_is_free(shell: Kubectl) -> None:
    taken = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0-1"}, "spec": template()["spec"]}
    shell.apply(json.dumps(taken))
    shell.apply(web(replicas=1))
    trouble = eventually(
        lambda: condition(shell, "Degraded"), until=lambda seen: seen.get("status") == "True"
    )
    assert trouble["message"].startswith(f"Pod {shell.namespace}/web-0-1 cannot be made: ")
    assert "already exists" in trouble["message"]
    shell("delete", "pod", "web-0-1", "--wait=false")
    available(shell)
    assert condition(shell, "Degraded")["status"] == "False"


def test_a_worker_that_restarts_is_left_alone_without_a_policy(shell: Kubectl) -> None:
    shell.apply(
        web(replicas=1, worker=template(notes=CRASHING), leaderTemplate=template(), restartPolicy="None")
    )

    def restarts() -> int:
        found = [pod for pod in pods(shell) if pod["metadata"]["name"] == "web-0-1"]
        statuses = [one for pod in found for one in pod["status"].get("containerStatuses", ())]
        return sum(one["restartCount"] for one in statuses)

    eventually(lambda: bool(pods(shell)))
    eventually(lambda: len(pods(shell)), until=lambda seen: seen == 2)
    before = uids(shell)
    eventually(restarts)
    assert uids(shell) == before


def test_a_group_whose_node_is_taken_away_comes_back_elsewhere(shell: Kubectl) -> None:
    shell.apply(web(replicas=1))
    available(shell)
    node = shell.get("pod", "web-0-1")["spec"]["nodeName"]
    before = uids(shell)
    shell("taint", "node", node, f"gone={shell.namespace}:NoExecute")
    try:
        eventually(lambda: not set(before.values()) & set(uids(shell).values()))
        available(shell)
        assert node not in {pod["spec"]["nodeName"] for pod in pods(shell)}
    finally:
        shell("taint", "node", node, "gone-")


def test_a_group_on_a_lost_node_comes_back_whole_once_its_pods_are_given_up(shell: Kubectl) -> None:
    shell.apply(web(replicas=2, worker=template(gpus=5)))  # a node of its own for each pod
    available(shell)
    node = shell.get("pod", "web-0-1")["spec"]["nodeName"]
    before = uids(shell)
    shell("annotate", "node", node, "quorate.dev/fake-down=true")
    shell("taint", "node", node, f"lost={shell.namespace}:NoExecute")  # as for one that is unreachable
    try:
        eventually(lambda: names(shell), until=lambda seen: seen == ["web-0-1", "web-1", "web-1-1"])
        assert uids(shell)["web-0-1"] == before["web-0-1"]  # nobody knows whether it still runs
        shell("delete", "pod", "web-0-1", "--force", "--grace-period=0")
        available(shell)
        after = uids(shell)
        assert after.keys() == before.keys()
        assert {name for name in after if after[name] == before[name]} == {"web-1", "web-1-1"}
        assert node not in {pod["spec"]["nodeName"] for pod in pods(shell)}
    finally:
        shell("taint", "node", node, "lost-")
        shell("annotate", "node", node, "quorate.dev/fake-down-")


def test_workers_wait_for_a_leader_that_is_slow_where_that_is_asked_for(shell: Kubectl) -> None:
    leader = template(notes={"quorate.dev/fake-ready-seconds": "4"})
    shell.apply(web(replicas=1, size=3, leaderTemplate=leader, spec={"startupPolicy": "LeaderReady"}))
    shell("wait", "pod/web-0", "--for=create", "--timeout=30s")
    shell("wait", "pod/web-0", "--for=jsonpath={.status.phase}=Running", "--timeout=30s")
    assert names(shell) == ["web-0"]
    available(shell)
    assert names(shell) == ["web-0", "web-0-1", "web-0-2"]
    ready = next(
        found for found in shell.get("pod", "web-0")["status"]["conditions"] if found["type"] == "Ready"
    )
    made = shell.get("pod", "web-0-1")["metadata"]["creationTimestamp"]
    assert made >= ready["lastTransitionTime"]


@pytest.mark.parametrize("propagation", ["background", "foreground"])
def test_everything_goes_with_the_set(shell: Kubectl, propagation: str) -> None:
    shell.apply(web(replicas=2))
    available(shell)
    shell("scale", "lws/web", "--replicas=1")
    shell("delete", "lws", "web", f"--cascade={propagation}")
    for kind in ("pods", "services", "controllerrevisions"):
        selector = ("-l", f"{PREFIX}name=web")
        eventually(lambda: shell.get(kind, *selector)["items"], until=lambda seen: not seen)  # noqa: B023


def test_pods_outlive_a_set_that_leaves_them_and_are_taken_up_again(shell: Kubectl) -> None:
    shell.apply(web(replicas=1))
    available(shell)
    before = uids(shell)
    shell("delete", "lws", "web", "--cascade=orphan")
    eventually(
        lambda: [pod["metadata"].get("ownerReferences") for pod in pods(shell)],
        until=lambda seen: seen == [None, None],
    )
    shell.apply(web(replicas=1))
    available(shell)
    assert uids(shell) == before


def test_a_leader_with_other_needs_than_its_workers_is_left_out_of_their_sub_groups(shell: Kubectl) -> None:
    """The story of seed 002: leader, (worker 1, worker 2), (worker 3, worker 4), each pair in one rack."""
    policy = {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}
    shell.apply(
        web(
            replicas=1,
            size=5,
            leaderTemplate=template(gpus=0),
            worker=template(gpus=8),
            subGroupPolicy=policy,
            annotations={f"{PREFIX}subgroup-exclusive-topology": "quorate.dev/rack"},
        )
    )
    available(shell)
    by_name = {pod["metadata"]["name"]: pod for pod in pods(shell)}
    marks = {name: pod["metadata"]["labels"].get(f"{PREFIX}subgroup-index") for name, pod in by_name.items()}
    assert marks == {"web-0": None, "web-0-1": "0", "web-0-2": "0", "web-0-3": "1", "web-0-4": "1"}
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in shell.get("nodes")["items"]}
    racks = {name: nodes[pod["spec"]["nodeName"]]["quorate.dev/rack"] for name, pod in by_name.items()}
    assert racks["web-0-1"] == racks["web-0-2"]
    assert racks["web-0-3"] == racks["web-0-4"]
    assert racks["web-0-1"] != racks["web-0-3"]
    assert by_name["web-0"]["metadata"]["annotations"][f"{PREFIX}subgroup-policy-type"] == "LeaderExcluded"


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.yaml")), ids=lambda example: example.stem)
def test_every_example_becomes_available_as_it_is(shell: Kubectl, example: Path) -> None:
    shell("apply", "-f", str(example))
    shell("wait", f"lws/{example.stem}", "--for=condition=Available", "--timeout=30s", timeout=40)
