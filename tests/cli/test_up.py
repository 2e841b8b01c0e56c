"""`quorate up` as a process: what was acknowledged is there after kill -9, and SIGTERM ends it in order."""

import asyncio
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from quorate.api.core import CONFIG_MAP
from quorate.kube.client import Client
from quorate.kube.errors import KubeError
from quorate.kube.kubeconfig import connect
from quorate.kube.resources import create_request, delete_request
from quorate.plan import Create, Delete, Ref
from tests.kubectl import Kubectl
from tests.system.cluster import embedded

if TYPE_CHECKING:
    import subprocess


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


def test_no_acknowledged_write_is_lost_by_a_kill_amid_many(tmp_path: Path) -> None:
    kubeconfig, data = tmp_path / "kubeconfig", ("--data-dir", str(tmp_path / "data"))
    with embedded(kubeconfig, "--nodes", "1x8gpu", "--no-controllers", *data) as process:
        kept, gone = asyncio.run(write_until_killed(kubeconfig, process))
    with embedded(kubeconfig, "--nodes", "1x8gpu", "--no-controllers", *data):
        maps = Kubectl(kubeconfig, tmp_path).get("configmaps")["items"]
    found = {one["metadata"]["name"] for one in maps}
    assert len(kept) > 100
    assert kept <= found
    assert not gone & found


async def write_until_killed(kubeconfig: Path, process: "subprocess.Popen[str]") -> tuple[set[str], set[str]]:
    """What the server acknowledged to have made, and what to have deleted, when it was killed in its work."""
    kept: set[str] = set()
    gone: set[str] = set()

    async def write(client: Client, numbers: Iterator[int]) -> None:
        for number in numbers:
            target = Ref(kind=CONFIG_MAP, name=f"map-{number}", namespace="default")
            body = {"metadata": {"name": target.name}}
            await client.send(create_request(Create(target=target, body=body)))
            if number % 3 == 0:
                await client.send(delete_request(Delete(target=target)))
                gone.add(target.name)
            else:
                kept.add(target.name)
            if len(kept) == 150:
                process.kill()

    numbers = count()
    async with Client(connect([kubeconfig])) as client:
        writers = (write(client, numbers) for _ in range(8))
        for ended in await asyncio.gather(*writers, return_exceptions=True):
            assert ended is None or isinstance(ended, KubeError), ended
    return kept, gone


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
