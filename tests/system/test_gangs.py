"""The thin path as a user sees it: pods are grouped, start whole or not at all, run, and show in status."""

from tests.fakes.waiting import eventually
from tests.kubectl import Kubectl


def job(name: str, *, pods: int, gpus: int, minimum: int | None = None, seconds: int = 60) -> str:
    annotation = f'  annotations: {{kai.scheduler/batch-min-member: "{minimum}"}}\n' if minimum else ""
    return f"""
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
{annotation}spec:
  parallelism: {pods}
  completions: {pods}
  template:
    metadata:
      annotations: {{quorate.dev/fake-run-seconds: "{seconds}"}}
      labels: {{job: {name}}}
    spec:
      schedulerName: quorate
      restartPolicy: Never
      containers:
        - name: trainer
          image: example/trainer:1
          resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}
"""


def phases(shell: Kubectl, selector: str) -> list[str]:
    return [pod["status"]["phase"] for pod in shell.get("pods", "-l", selector)["items"]]


def podgroup(shell: Kubectl, prefix: str) -> dict[str, object]:
    found = [
        item
        for item in shell.get("podgroups.scheduling.run.ai")["items"]
        if item["metadata"]["name"].startswith(prefix)
    ]
    return found[0] if found else {}


def test_bare_pod_is_grouped_bound_and_runs(shell: Kubectl) -> None:
    shell.apply("""
apiVersion: v1
kind: Pod
metadata: {name: alone}
spec:
  schedulerName: quorate
  containers: [{name: app, image: "example/app:1"}]
""")
    shell("wait", "pod/alone", "--for=condition=Ready", "--timeout=30s")
    pod = shell.get("pod", "alone")
    group = podgroup(shell, "pg-alone-")
    assert pod["metadata"]["annotations"]["pod-group-name"] == group["metadata"]["name"]  # type: ignore[index]


def test_gang_starts_whole(shell: Kubectl) -> None:
    shell.apply(job("train", pods=4, gpus=4, minimum=4))
    assert eventually(lambda: phases(shell, "job=train"), until=lambda seen: seen == ["Running"] * 4)
    status = eventually(
        lambda: podgroup(shell, "pg-train-").get("status", {}),
        until=lambda seen: isinstance(seen, dict) and seen.get("phase") == "Running",
    )
    assert status


def test_gang_that_does_not_fit_binds_nothing_and_says_why(shell: Kubectl) -> None:
    shell.apply(job("huge", pods=64, gpus=8, minimum=64))

    def reasons() -> str:
        return str(podgroup(shell, "pg-huge-").get("status", {}))

    seen = eventually(reasons, until=lambda text: "while 64 are required for gang scheduling" in text)
    assert "GPUs" in seen
    assert set(phases(shell, "job=huge")) == {"Pending"}
    assert all(not pod["spec"].get("nodeName") for pod in shell.get("pods", "-l", "job=huge")["items"])


def test_gang_that_waits_starts_when_room_appears(shell: Kubectl) -> None:
    nodes = len(shell.get("nodes")["items"])
    shell.apply(job("first", pods=nodes, gpus=6, minimum=nodes))
    eventually(lambda: phases(shell, "job=first"), until=lambda seen: seen == ["Running"] * nodes)
    shell.apply(job("second", pods=nodes, gpus=4, minimum=nodes))
    eventually(lambda: podgroup(shell, "pg-second-"))
    assert set(phases(shell, "job=second")) <= {"Pending"}
    shell("delete", "job", "first")
    eventually(lambda: phases(shell, "job=second"), until=lambda seen: seen == ["Running"] * nodes)


def test_selector_and_taints_keep_pods_off_nodes(shell: Kubectl) -> None:
    first, second = (node["metadata"]["name"] for node in shell.get("nodes")["items"][:2])
    shell("label", "node", first, second, f"pool={shell.namespace}")
    shell("taint", "node", first, f"kept={shell.namespace}:NoSchedule")
    try:
        manifest = job("picky", pods=2, gpus=1).replace(
            "      restartPolicy", f"      nodeSelector: {{pool: {shell.namespace}}}\n      restartPolicy"
        )
        shell.apply(manifest)
        eventually(lambda: phases(shell, "job=picky"), until=lambda seen: seen == ["Running"] * 2)
        placed = {pod["spec"]["nodeName"] for pod in shell.get("pods", "-l", "job=picky")["items"]}
        assert placed == {second}
    finally:
        shell("taint", "node", first, "kept-")
        shell("label", "node", first, second, "pool-")


def test_a_claim_that_waits_for_its_first_consumer_learns_where_it_runs(shell: Kubectl) -> None:
    storage_class = f"disks-{shell.namespace}"
    shell.apply(f"""
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: {storage_class}}}
provisioner: example.com/disks
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data}}
spec:
  storageClassName: {storage_class}
  accessModes: [ReadWriteOnce]
  resources: {{requests: {{storage: 1Gi}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: consumer}}
spec:
  schedulerName: quorate
  containers: [{{name: app, image: "example/app:1"}}]
  volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}]
""")
    try:
        node = eventually(lambda: shell.get("pod", "consumer")["spec"].get("nodeName"))
        eventually(
            lambda: shell.get("pvc", "data")["metadata"].get("annotations", {}),
            until=lambda notes: notes.get("volume.kubernetes.io/selected-node") == node,
        )
    finally:
        shell("delete", "storageclass", storage_class)
