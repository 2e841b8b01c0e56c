"""Every manifest of the seeds, applied with kubectl as `examples/seeds` has it, does what the seed says.

Queues of the examples hold just what a gang needs, so that optional groups have no room until the test gives
them some. Each file has queues and a namespace of its own.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from typer.testing import CliRunner

from quorate.api import labels
from quorate.cli.main import app
from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.cluster import Cluster, embedded
from tests.system.conftest import in_own_namespace

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = EXAMPLES / "seeds"
GROUPS = "podgroups.scheduling.run.ai"
ALIAS = "podgroups.scheduling.kai.nvidia.com"


class Gang(NamedTuple):
    """Members by leaf that start when the queue holds just what is needed, and all there are."""

    file: str
    starts: dict[str, int]
    optional: dict[str, int]


PREFILL = {f"prefill-{index}": 8 for index in range(3)}
REPLICAS: tuple[dict[str, int], dict[str, int]] = (PREFILL, {"prefill-3": 8})
GROVE = ({**PREFILL, "decode-0": 4}, {"prefill-3": 8, "decode-1": 4})
LWS = tuple(
    {f"group-{index}-{role}": count for index in found for role, count in (("leader", 1), ("workers", 5))}
    for found in (range(3), range(3, 4))
)
DISAGGREGATED: tuple[dict[str, int], dict[str, int]] = ({"prefill-0": 3, "prefill-1": 3, "decode-0": 4}, {})
LEADER = ({"leader": 1, "workers-0": 4, "workers-1": 4}, {"workers-2": 4})
GANGS = (
    Gang("000-01-option-1-replicas", *REPLICAS),
    Gang("000-02-option-2-replicas", *REPLICAS),
    Gang("000-03-option-1-leader-workers", *LWS),
    Gang("000-04-option-2-leader-workers", *LWS),
    Gang("000-05-option-1-grove", *GROVE),
    Gang("000-06-option-2-grove", *GROVE),
    Gang("000-07-option-1-disaggregated", *DISAGGREGATED),
    Gang("000-08-option-2-disaggregated", *DISAGGREGATED),
    Gang("000-09-option-1-leader-and-workers", *LEADER),
    Gang("000-10-option-2-leader-and-workers", *LEADER),
    Gang("000-13-valid", {f"replica-{index}": 8 for index in range(3)}, {}),
)
OTHERS = {
    *(f"000-{number}-option-{option}-status" for number, option in (("11", 1), ("12", 2))),
    *("000-14-impossible", "000-15-dynamo"),
    *("003-1-spec-field", "003-2-pod-label", "003-3-high-priority-preemptible"),
    *("003-4-low-priority-non-preemptible", "003-5-external-workload", "003-6-default-behavior"),
    *("004-1-job", "004-2-deployment", "004-3-pod", "004-4-priority-class"),
    *("004-5-mpi-job", "004-6-custom-job"),
}


@pytest.fixture(scope="module")
def seeds(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with racks and zones that knows the example's custom kinds."""
    if not cluster.is_embedded:
        pytest.skip("the examples need nodes with racks and zones, and a grouping file")
    kubeconfig = tmp_path_factory.mktemp("seeds") / "kubeconfig"
    file = str(EXAMPLES / "custom-job" / "grouping.yaml")
    with embedded(kubeconfig, "--nodes", "32x8gpu,rack=4,zone=16", "--grouping-file", file):
        yield Cluster(kubeconfig, is_embedded=True)


@pytest.fixture
def user(seeds: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    yield from in_own_namespace(seeds, tmp_path_factory, "1.37")


def manifest(name: str) -> str:
    """The text to apply: manifests of option 1 are converted, as they say themselves."""
    file = SEEDS / f"{name}.yaml"
    if "option-1" not in name:
        return file.read_text()
    done = CliRunner().invoke(app, ["convert", "--from", "semantic-min-member", "-f", str(file)])
    assert done.exit_code == 0, done.output
    return done.stdout


def documents(text: str, *kinds: str) -> list[Any]:
    return [found for found in yaml.safe_load_all(text) if found["kind"] in kinds]


def limit_gpus(user: Kubectl, text: str, gpus: int) -> None:
    for queue in documents(text, "Queue"):
        queue["spec"]["resources"]["gpu"]["limit"] = gpus
        user.apply(yaml.safe_dump(queue))


def pods(user: Kubectl, *arguments: str) -> list[Any]:
    return [
        pod for pod in user.get("pods", *arguments)["items"] if "deletionTimestamp" not in pod["metadata"]
    ]


def running(user: Kubectl) -> dict[str, int]:
    found = (pod for pod in pods(user) if pod["status"]["phase"] == "Running")
    return Counter(pod["metadata"].get("labels", {}).get(labels.SUB_GROUP_NAME, "") for pod in found)


def status(user: Kubectl, kind: str = GROUPS) -> Any:
    (found,) = user.get(kind)["items"]
    return found.get("status", {})


def test_every_example_is_in_a_test() -> None:
    assert {file.stem for file in SEEDS.glob("*.yaml")} == {gang.file for gang in GANGS} | OTHERS


@pytest.mark.parametrize("gang", GANGS, ids=lambda gang: gang.file)
def test_a_gang_starts_with_what_it_needs_and_grows_by_what_is_optional(user: Kubectl, gang: Gang) -> None:
    text = manifest(gang.file)
    needed = sum(gang.starts.values())
    if "option-1" in gang.file:
        user.apply(text)
    else:
        limit_gpus(user, text, needed - 1)
        user.apply("---\n".join(yaml.safe_dump(one) for one in documents(text, "PodGroup", "Job")))
        eventually(lambda: status(user).get("schedulingConditions"))
        assert running(user) == {}
        limit_gpus(user, text, needed)
    eventually(lambda: running(user), until=lambda seen: seen == gang.starts)
    shown = eventually(lambda: status(user), until=lambda seen: seen.get("phase") == "Running")
    total = needed + sum(gang.optional.values())
    leaves = len(gang.starts) + len(gang.optional)
    assert shown["satisfiedGroups"] == f"{len(gang.starts)}/{leaves}"
    assert shown["activeMembers"] == f"{needed}/{total}"
    if gang.optional and "option-2" in gang.file:
        limit_gpus(user, text, -1)
        eventually(lambda: running(user), until=lambda seen: seen == gang.starts | gang.optional)


@pytest.mark.parametrize("name", ["000-11-option-1-status", "000-12-option-2-status"])
def test_status_shows_what_the_core_holds(user: Kubectl, name: str) -> None:
    user.apply(manifest(name))
    eventually(lambda: running(user), until=lambda seen: sum(seen.values()) == 32)
    shown = eventually(
        lambda: status(user).get("resourcesStatus", {}),
        until=lambda seen: seen.get("allocated", {}).get("cpu") == "32",
    )
    assert shown["allocatedNonPreemptible"]["cpu"] == "24"


def test_a_minimum_that_cannot_hold_is_told_at_once_and_never_starts(user: Kubectl) -> None:
    applied = user.run("apply", "-f", "-", stdin=manifest("000-14-impossible")).checked()
    assert "minMember (30) exceeds the 24 pods that the 3 required child SubGroups hold" in applied.err

    def condition() -> Any:
        found = status(user).get("conditions", ())
        return next((one for one in found if one["type"] == "MinimumImpossible"), None)

    assert "minMember (30) exceeds" in eventually(condition)["message"]
    eventually(lambda: len(pods(user)), until=lambda count: count == 24)
    assert running(user) == {}


def test_dynamo_starts_with_its_core_and_loses_only_what_is_optional(user: Kubectl) -> None:
    text = manifest("000-15-dynamo")
    starts, optional = GROVE
    limit_gpus(user, text, 27)
    user.apply("---\n".join(yaml.safe_dump(one) for one in documents(text, "Topology", "PriorityClass")))
    user.apply("---\n".join(yaml.safe_dump(one) for one in documents(text, "PodGroup", "Job")))
    eventually(lambda: status(user).get("schedulingConditions"))
    assert running(user) == {}
    limit_gpus(user, text, 28)
    eventually(lambda: running(user), until=lambda seen: seen == starts)
    core = {pod["metadata"]["uid"] for pod in pods(user) if pod["spec"].get("nodeName")}
    limit_gpus(user, text, 40)
    eventually(lambda: running(user), until=lambda seen: seen == starts | optional)
    resources = eventually(
        lambda: status(user)["resourcesStatus"],
        until=lambda seen: seen.get("allocated", {}).get("nvidia.com/gpu") == "40",
    )
    assert resources["allocatedNonPreemptible"]["nvidia.com/gpu"] == "28"
    one_rack_each(user)
    user.apply(URGENT)
    eventually(lambda: running(user).get("urgent"), until=lambda count: count == 12)
    left = {pod["metadata"]["uid"] for pod in pods(user) if pod["spec"].get("nodeName")}
    told = eventually(lambda: victims(user), until=lambda seen: len(seen) >= 12)
    assert all("urgent" in message for message in told)
    assert core <= left
    assert len(left) == len(core) + 12


def victims(user: Kubectl) -> list[str]:
    """What the pods that went are told."""
    found = user.get("events")["items"]
    return [
        one["message"]
        for one in found
        if one["reason"] == "Preempted" and one["involvedObject"]["kind"] == "Pod"
    ]


URGENT = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: more-urgent}
value: 200
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: urgent}
spec:
  queue: inference
  priorityClassName: more-urgent
  preemptibility: preemptible
  subGroups: [{name: urgent, minMember: 12}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: urgent}
spec:
  parallelism: 12
  completions: 12
  template:
    metadata:
      labels: {kai.scheduler/subgroup-name: urgent}
      annotations: {pod-group-name: urgent, kai.scheduler/skip-podgrouper: "true", quorate.dev/fake-run-seconds: "3600"}
    spec:
      schedulerName: quorate
      restartPolicy: Never
      containers:
        - {name: main, image: "example/main:1", resources: {limits: {nvidia.com/gpu: 1}}}
"""


def one_rack_each(user: Kubectl) -> None:
    racks = {
        node["metadata"]["name"]: node["metadata"]["labels"]["quorate.dev/rack"]
        for node in user.get("nodes")["items"]
    }
    found: dict[str, set[str]] = {}
    for pod in pods(user):
        leaf = pod["metadata"]["labels"][labels.SUB_GROUP_NAME]
        found.setdefault(leaf, set()).add(racks[pod["spec"]["nodeName"]])
    assert {leaf: len(racks) for leaf, racks in found.items()} == dict.fromkeys(found, 1)


@pytest.mark.parametrize(
    ("name", "kind", "value", "source"),
    [
        ("003-1-spec-field", GROUPS, "preemptible", "spec.preemptibility"),
        ("003-3-high-priority-preemptible", ALIAS, "preemptible", "spec.preemptibility"),
        ("003-4-low-priority-non-preemptible", ALIAS, "non-preemptible", "spec.preemptibility"),
        ("003-6-default-behavior", ALIAS, "non-preemptible", "priority 100"),
    ],
)
def test_priority_and_preemptibility_are_two_things(
    user: Kubectl, name: str, kind: str, value: str, source: str
) -> None:
    user.apply(manifest(name))
    shown = eventually(lambda: status(user, kind), until=lambda seen: seen.get("phase") == "Running")
    assert shown["preemptibility"] == {"value": value, "source": source}
    resources = shown["resourcesStatus"]
    assert ("allocatedNonPreemptible" in resources) == (value == "non-preemptible")
    assert running(user) == {"": 2}


def specs(user: Kubectl) -> list[tuple[str, str, int]]:
    """Class, preemptibility and minimum of each PodGroup that the grouper made."""
    found = (group["spec"] for group in user.get(GROUPS)["items"])
    return [
        (spec["priorityClassName"], spec.get("preemptibility", ""), spec.get("minMember", 0))
        for spec in found
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("003-2-pod-label", [("train", "non-preemptible", 1)]),
        ("003-5-external-workload", [("train", "non-preemptible", 1)] * 2),
        ("004-1-job", [("train", "", 1)]),
        ("004-2-deployment", [("inference", "", 1)] * 2),
        ("004-3-pod", [("train", "", 1)]),
        ("004-4-priority-class", [("build", "", 1)]),
    ],
)
def test_a_workload_gets_the_podgroups_of_its_kind(
    user: Kubectl, name: str, expected: list[tuple[str, str, int]]
) -> None:
    user.apply(manifest(name))
    eventually(lambda: specs(user), until=lambda seen: seen == expected)
    eventually(lambda: {pod["status"]["phase"] for pod in pods(user)}, until=lambda seen: seen == {"Running"})


@pytest.mark.parametrize(
    ("name", "resource", "count"), [("004-5-mpi-job", "mpijobs", 4), ("004-6-custom-job", "customjobs", 3)]
)
def test_a_kind_of_another_operator_is_grouped_by_its_own_minimum(
    user: Kubectl, name: str, resource: str, count: int
) -> None:
    user.apply((EXAMPLES / "custom-job" / "rbac.yaml").read_text())
    definition, workload = yaml.safe_load_all(manifest(name))
    user.apply(yaml.safe_dump(definition))
    user("wait", "crd", definition["metadata"]["name"], "--for=condition=Established", "--timeout=30s")
    eventually(
        lambda: user.run("apply", "-f", "-", stdin=yaml.safe_dump(workload)),
        until=lambda done: done.code == 0,
    )
    owner = user.get(f"{resource}.{definition['spec']['group']}", workload["metadata"]["name"])
    user.apply("---\n".join(yaml.safe_dump(member(owner, index)) for index in range(count)))
    eventually(lambda: specs(user), until=lambda seen: seen == [("train", "", 2)])
    eventually(lambda: running(user), until=lambda seen: seen == {"": count})


def member(owner: Any, index: int) -> Any:
    """A pod as the kind's own operator would make it."""
    found = {key: owner[key] for key in ("apiVersion", "kind")} | {"controller": True}
    found |= {key: owner["metadata"][key] for key in ("name", "uid")}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{owner['metadata']['name']}-{index}", "ownerReferences": [found]},
        "spec": {"schedulerName": "quorate", "containers": [{"name": "main", "image": "example/main:1"}]},
    }
