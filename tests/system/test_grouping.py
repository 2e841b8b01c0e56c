"""The grouper as a user meets it: what is read may change at any time, and no pod has to change with it."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl

GANGS = "podgroups.scheduling.run.ai"
ANYTHING = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
DEFAULTS = ("configmap", "quorate-kind-defaults", "--namespace", "quorate-system")
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 2
  completions: 2
  template:
    metadata: {annotations: {quorate.dev/fake-run-seconds: "3600"}}
    spec:
      schedulerName: quorate
      restartPolicy: Never
      containers: [{name: main, image: "example/main:1"}]
"""


def definition(group: str, kind: str) -> Any:
    plural = f"{kind.lower()}s"
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": ANYTHING}
    names = {"kind": kind, "plural": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def gangs(shell: Kubectl) -> list[Any]:
    return [one["spec"] for one in shell.get(GANGS)["items"]]


def place(shell: Kubectl, pod: str) -> str:
    labels = shell.get("pod", pod)["metadata"].get("labels", {})
    return str(labels.get("kai.scheduler/subgroup-name", ""))


@pytest.fixture
def grove(shell: Kubectl) -> Iterator[Kubectl]:
    """A cluster that serves Grove's kinds."""
    made = [definition("grove.io", "PodCliqueSet"), definition("scheduler.grove.io", "PodGang")]
    shell.apply(yaml.safe_dump_all(made))
    names = [one["metadata"]["name"] for one in made]
    shell("wait", "crd", *names, "--for=condition=Established", "--timeout=30s")
    eventually(lambda: shell.run("get", "podgangs.scheduler.grove.io").code == 0)
    yield shell
    shell("delete", "crd", *names, "--wait=false")


def pod_gang(group: str) -> str:
    reference = {"namespace": "NAMESPACE", "name": "pcs-a"}
    parts = [{"name": group, "minReplicas": 1, "podReferences": [reference]}]
    api = "scheduler.grove.io/v1alpha1"
    return yaml.safe_dump(
        {"apiVersion": api, "kind": "PodGang", "metadata": {"name": "pg"}, "spec": {"podgroups": parts}}
    )


def test_a_pod_gang_may_come_late_and_change(grove: Kubectl) -> None:
    owner = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "pcs"},
        "spec": {},
    }
    grove.apply(yaml.safe_dump(owner))
    uid = grove.get("podcliquesets.grove.io", "pcs")["metadata"]["uid"]
    reference = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "pcs", "uid": uid}
    labels = {"grove.io/podgang": "pg"}
    spec = {"schedulerName": "quorate", "containers": [{"name": "main", "image": "example/main:1"}]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pcs-a", "labels": labels, "ownerReferences": [reference]},
        "spec": spec,
    }
    grove.apply(yaml.safe_dump(pod))

    def refusals() -> list[str]:
        found = grove.get("events", "--field-selector", "involvedObject.name=pcs-a")["items"]
        return [one["message"] for one in found if one["reason"] == "GroupingRefused"]

    eventually(
        refusals, until=lambda seen: any("PodGang" in text and "does not exist" in text for text in seen)
    )
    grove.apply(pod_gang("decode").replace("NAMESPACE", grove.namespace))
    eventually(lambda: place(grove, "pcs-a"), until=lambda seen: seen == "decode")
    grove.apply(pod_gang("prefill").replace("NAMESPACE", grove.namespace))
    eventually(lambda: place(grove, "pcs-a"), until=lambda seen: seen == "prefill")
    assert [[group["name"] for group in spec["subGroups"]] for spec in gangs(grove)] == [["prefill"]]


def test_an_owner_may_change_its_mind_and_an_edit_is_put_back(shell: Kubectl) -> None:
    shell.apply(JOB)
    eventually(lambda: gangs(shell), until=lambda seen: [one["minMember"] for one in seen] == [1])
    shell("annotate", "job", "train", "quorate.dev/min-member=2")
    shell("label", "job", "train", "priorityClassName=build")
    eventually(
        lambda: gangs(shell),
        until=lambda seen: (seen[0]["minMember"], seen[0]["priorityClassName"]) == (2, "build"),
    )
    (name,) = shell("get", GANGS, "--output", "name").split()
    shell(
        "patch", name, "--type=merge", "--patch", '{"spec": {"minMember": 7, "stalenessGracePeriod": "5s"}}'
    )
    eventually(
        lambda: gangs(shell)[0],
        until=lambda seen: seen["minMember"] == 2 and "stalenessGracePeriod" not in seen,
    )


def test_defaults_of_a_kind_take_effect_and_go(shell: Kubectl) -> None:
    shell.apply(JOB)
    eventually(
        lambda: gangs(shell), until=lambda seen: [one["priorityClassName"] for one in seen] == ["train"]
    )
    types = '[{"typeName": "Job", "group": "batch", "priorityName": "inference"}]'
    shell("create", *DEFAULTS, f"--from-literal=types={types}")
    try:
        eventually(lambda: gangs(shell)[0]["priorityClassName"], until=lambda seen: seen == "inference")
    finally:
        shell("delete", *DEFAULTS)
    eventually(lambda: gangs(shell)[0]["priorityClassName"], until=lambda seen: seen == "train")
