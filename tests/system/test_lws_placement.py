"""Where the pods of LeaderWorkerSets run, checked against the labels of the nodes they are on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.lws import PREFIX, available, patched, template, web

Json = dict[str, Any]


@contextmanager
def labelled(shell: Kubectl, **columns: list[str]) -> Iterator[dict[str, str]]:
    """Nodes with labels of the test's own, `""` for none; the keys of the labels by column."""
    keys = {name: f"{shell.namespace}/{name}" for name in columns}
    nodes = [node["metadata"]["name"] for node in shell.get("nodes")["items"]]
    for name, values in columns.items():
        for node, value in zip(nodes, values, strict=False):
            if value:
                shell("label", "node", node, f"{keys[name]}={value}")
    try:
        yield keys
    finally:
        shell("label", "nodes", "--all", *(f"{key}-" for key in keys.values()))


def places(shell: Kubectl, key: str) -> dict[str, str]:
    """The value of a label on the node of each pod that has one."""
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"] for node in shell.get("nodes")["items"]}
    return {
        pod["metadata"]["name"]: nodes[pod["spec"]["nodeName"]].get(key, "")
        for pod in shell.get("pods")["items"]
        if pod["spec"].get("nodeName")
    }


def sub_groups(shell: Kubectl) -> dict[str, set[str]]:
    """Pods by the sub-group they are labelled with; `""` for none."""
    found: dict[str, set[str]] = {}
    for pod in shell.get("pods")["items"]:
        index = pod["metadata"]["labels"].get(f"{PREFIX}subgroup-index", "")
        found.setdefault(index, set()).add(pod["metadata"]["name"])
    return found


def named(manifest: str, name: str) -> str:
    return manifest.replace('"name":"web"', f'"name":"{name}"')


def test_a_leader_and_two_sub_groups_have_a_rack_each_inside_one_block(shell: Kubectl) -> None:
    blocks = ["one", "one", "two", "two", "two", "two", "", ""]
    racks = ["a", "b", "c", "c", "d", "d", "", ""]
    with labelled(shell, block=blocks, rack=racks) as keys:
        annotations = {
            f"{PREFIX}exclusive-topology": keys["block"],
            f"{PREFIX}subgroup-exclusive-topology": keys["rack"],
        }
        policy = {"subGroupPolicyType": "LeaderExcluded", "subGroupSize": 2}
        cpu = template(gpus=0)
        manifest = web(
            replicas=1,
            size=5,
            worker=template(gpus=6),  # one to a node, so that a sub-group needs a rack of two
            annotations=annotations,
            leaderTemplate=cpu,
            subGroupPolicy=policy,
        )
        shell.apply(manifest)
        available(shell)
        assert sub_groups(shell) == {
            "": {"web-0"},
            "0": {"web-0-1", "web-0-2"},
            "1": {"web-0-3", "web-0-4"},
        }
        rack_of, block_of = places(shell, keys["rack"]), places(shell, keys["block"])
        assert set(block_of.values()) == {"two"}
        assert rack_of["web-0-1"] == rack_of["web-0-2"]
        assert rack_of["web-0-3"] == rack_of["web-0-4"]
        assert {rack_of["web-0-1"], rack_of["web-0-3"]} == {"c", "d"}


def test_two_sets_compete_for_exclusive_racks_and_never_share_one(shell: Kubectl) -> None:
    with labelled(shell, rack=["a", "a", "b", "b"]) as keys:
        exclusive = {f"{PREFIX}exclusive-topology": keys["rack"]}
        shell.apply(web(replicas=2, size=3, annotations=exclusive))
        available(shell)
        shell.apply(named(web(replicas=1, size=3, annotations=exclusive), "other"))
        said = eventually(lambda: refusal(shell, "other"))
        assert "pods" in said
        seen = places(shell, keys["rack"])
        assert {seen["web-0"], seen["web-1"]} == {"a", "b"}
        assert all(
            seen[f"web-{group}-{index}"] == seen[f"web-{group}"] for group in (0, 1) for index in (1, 2)
        )
        assert not any(name.startswith("other") for name in seen)
        patched(shell, {"spec": {"replicas": 1}})
        eventually(
            lambda: len([name for name in places(shell, keys["rack"]) if name.startswith("other")]) == 3
        )
        seen = places(shell, keys["rack"])
        assert {seen["web-0"], seen["other-0"]} == {"a", "b"}


def test_seats_of_workers_are_held_while_their_leader_gets_ready(shell: Kubectl) -> None:
    with labelled(shell, pool=["yes"]) as keys:
        pool = {keys["pool"]: "yes"}
        slow = template(gpus=2, nodeSelector=pool)
        slow["metadata"]["annotations"]["quorate.dev/fake-start-seconds"] = "2"
        ready = {"startupPolicy": "LeaderReady"}
        manifest = web(
            replicas=1, size=4, worker=template(gpus=2, nodeSelector=pool), leaderTemplate=slow, spec=ready
        )
        shell.apply(manifest)
        shell.apply(named(manifest, "other"))
        bound = eventually(lambda: places(shell, keys["pool"]))
        assert len(bound) == 1  # one leader; the node has no room for both groups
        (first,) = (name.removesuffix("-0") for name in bound)
        second = "other" if first == "web" else "web"
        shell("wait", f"lws/{first}", "--for=condition=Available", "--timeout=30s")
        assert sorted(places(shell, keys["pool"])) == [first + end for end in ("-0", "-0-1", "-0-2", "-0-3")]
        assert refusal(shell, second)
        shell("delete", "lws", first)
        shell("wait", f"lws/{second}", "--for=condition=Available", "--timeout=30s")


def refusal(shell: Kubectl, name: str) -> str:
    """What the gang of the set's first group says about why it waits."""
    found = [
        condition["message"]
        for item in shell.get("podgroups.scheduling.run.ai")["items"]
        if item["metadata"]["name"].startswith(f"pg-{name}-")
        for condition in item.get("status", {}).get("conditions", ())
        if condition["type"] == "Unschedulable" and condition["status"] == "True"
    ]
    return str(found[0]) if found else ""
