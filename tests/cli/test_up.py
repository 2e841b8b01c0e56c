"""`quorate up` as a process: what was acknowledged is there after kill -9, and a signal ends it in order."""

import signal
from pathlib import Path

import pytest

from tests.kubectl import Kubectl
from tests.system.cluster import embedded


def test_a_killed_cluster_serves_what_it_acknowledged_when_it_starts_again(tmp_path: Path) -> None:
    given = ("--data-dir", str(tmp_path / "data"), "--no-controllers")
    kubeconfig = tmp_path / "kubeconfig"
    kubectl = Kubectl(kubeconfig, tmp_path)
    with embedded(kubeconfig, "--nodes", "2x8gpu", *given) as process:
        kubectl("create", "configmap", "kept", "--from-literal=a=b")
        process.kill()
        process.wait()
    with embedded(kubeconfig, "--nodes", "1x4gpu,name=new", *given) as process:
        assert kubectl.get("configmap", "kept")["data"] == {"a": "b"}
        nodes = [node["metadata"]["name"] for node in kubectl.get("nodes")["items"]]
        assert nodes == ["new-0", "node-0", "node-1"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_cluster_with_its_controllers_in_order(
    number: signal.Signals, tmp_path: Path
) -> None:
    with embedded(tmp_path / "kubeconfig", "--nodes", "1x8gpu") as process:
        process.send_signal(number)
        assert process.wait(20) == 0
        assert (tmp_path / "kubeconfig.log").read_text() == ""
