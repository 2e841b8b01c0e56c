"""`quorate up` as a process: what was acknowledged is there after kill -9, and SIGTERM ends it in order."""

import signal
from pathlib import Path

from tests.kubectl import Kubectl
from tests.system.cluster import embedded


def test_a_killed_cluster_serves_what_it_acknowledged_when_it_starts_again(tmp_path: Path) -> None:
    kubeconfig, data = tmp_path / "kubeconfig", ("--data-dir", str(tmp_path / "data"))
    kubectl = Kubectl(kubeconfig, tmp_path)
    with embedded(kubeconfig, "--nodes", "2x8gpu", "--no-controllers", *data) as process:
        kubectl("create", "configmap", "kept", "--from-literal=a=b")
        process.kill()
        process.wait()
    with embedded(kubeconfig, "--nodes", "1x4gpu,name=new", *data) as process:
        assert kubectl.get("configmap", "kept")["data"] == {"a": "b"}
        nodes = [node["metadata"]["name"] for node in kubectl.get("nodes")["items"]]
        assert nodes == ["new-0", "node-0", "node-1"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert (tmp_path / "kubeconfig.log").read_text() == ""


FOREIGN_WEBHOOK = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ended-with-its-machine}
webhooks:
  - name: all.example.com
    clientConfig: {url: "https://localhost:1/"}
    rules: [{apiGroups: ["*"], apiVersions: ["*"], resources: [nodes], operations: [CREATE, UPDATE]}]
    failurePolicy: Fail
    sideEffects: None
    admissionReviewVersions: [v1]
"""


def test_webhooks_that_ended_with_a_killed_cluster_do_not_keep_it_from_starting(tmp_path: Path) -> None:
    kubeconfig, data = tmp_path / "kubeconfig", ("--data-dir", str(tmp_path / "data"))
    kubectl = Kubectl(kubeconfig, tmp_path)
    with embedded(kubeconfig, "--nodes", "2x8gpu", *data) as process:
        kubectl("delete", "queue", "default-queue")
        kubectl.apply(FOREIGN_WEBHOOK)
        process.kill()
        process.wait()
    with embedded(kubeconfig, "--nodes", "2x8gpu", *data) as process:
        assert kubectl.get("queue", "default-queue")["spec"]["resources"]["gpu"]["quota"] == -1
        assert len(kubectl.get("nodes")["items"]) == 2
