"""Gangs whose pods mount volumes: made by hand on a node, or the pod's own."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl
from tests.system.test_gangs import phases

CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: {0}}}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
"""
DISK = """---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {0}-{1}}}
spec:
  storageClassName: {0}
  accessModes: [ReadWriteOnce]
  capacity: {{storage: 10Gi}}
  persistentVolumeReclaimPolicy: Retain
  local: {{path: /disks/{1}}}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [{2}]}}]
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {0}
  annotations: {{kai.scheduler/batch-min-member: "2"}}
spec:
  parallelism: 2
  completions: 2
  template:
    metadata:
      annotations: {{quorate.dev/fake-run-seconds: "60"}}
      labels: {{job: {0}}}
    spec:
      schedulerName: quorate
      restartPolicy: Never
      containers:
        - {{name: main, image: "example/main:1", volumeMounts: [{{name: scratch, mountPath: /scratch}}]}}
      volumes:
        - name: scratch
          ephemeral:
            volumeClaimTemplate:
              spec:
                storageClassName: {1}
                accessModes: [ReadWriteOnce]
                resources: {{requests: {{storage: 5Gi}}}}
"""


@pytest.fixture
def disks(shell: Kubectl) -> Iterator[str]:
    """A class of the test's own; what is made of it goes with the test."""
    name = f"disks-{shell.namespace}"
    shell.apply(CLASS.format(name))
    yield name
    shell("delete", "storageclass", name)
    made = [one["metadata"]["name"] for one in shell.get("persistentvolumes")["items"] if of_class(one, name)]
    if made:
        shell("delete", "persistentvolume", *made, "--wait=false")


def of_class(volume: Any, name: str) -> bool:
    return bool(volume["spec"].get("storageClassName") == name)


def claims(shell: Kubectl) -> dict[str, str]:
    """Phase of each claim by the volume that it has."""
    found = shell.get("persistentvolumeclaims")["items"]
    return {one["spec"].get("volumeName", ""): one["status"].get("phase", "") for one in found}


def test_a_gang_waits_for_the_last_local_disk_that_it_needs_and_takes_each_once(
    shell: Kubectl, disks: str
) -> None:
    nodes = [one["metadata"]["labels"]["kubernetes.io/hostname"] for one in shell.get("nodes")["items"]]
    shell.apply(DISK.format(disks, "a", nodes[0]))
    shell.apply(JOB.format("job", disks))

    def told() -> str:
        return str(shell.get("podgroups.scheduling.run.ai")["items"])

    eventually(told, until=lambda text: f"volumes of class {disks} (5Gi, ReadWriteOnce)" in text)
    assert phases(shell, "job=job") == ["Pending"] * 2
    shell.apply(DISK.format(disks, "b", nodes[-1]))
    eventually(lambda: phases(shell, "job=job"), until=lambda seen: seen == ["Running"] * 2)
    bound = {f"{disks}-{name}": "Bound" for name in "ab"}
    eventually(lambda: claims(shell), until=lambda seen: seen == bound)
    pods = shell.get("pods", "-l", "job=job")["items"]
    assert {pod["spec"]["nodeName"] for pod in pods} == {nodes[0], nodes[-1]}
